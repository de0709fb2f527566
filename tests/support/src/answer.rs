//! What came back.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

/// An HTTP answer, read whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub text: String,
    /// How long it took to the last byte.
    pub took: Duration,
}

/// What a call brought.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The call.
    pub correlation_id: String,
    /// `{content, structuredContent, isError, _meta}`.
    pub result: Value,
}

/// Why a request was not carried out: a problem of RFC 9457.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The reason in UPPER_SNAKE.
    pub reason: String,
    /// Whole seconds of `Retry-After`.
    pub retry_after: Option<u64>,
    /// The whole problem.
    pub problem: Box<Value>,
    /// How long it took.
    pub took: Duration,
}

impl Answer {
    pub(crate) async fn read(response: reqwest::Response, began: std::time::Instant) -> Self {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.unwrap_or_default();
        Self {
            status,
            headers,
            text,
            took: began.elapsed(),
        }
    }

    /// The body as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body of a success, or the refusal.
    pub fn ok(self) -> Result<Value, Refusal> {
        if StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success()) {
            return Ok(self.json());
        }
        let problem = self.json();
        Err(Refusal {
            status: self.status,
            reason: problem["reason"].as_str().unwrap_or_default().to_owned(),
            retry_after: self
                .header("retry-after")
                .and_then(|seconds| seconds.parse().ok()),
            problem: Box::new(problem),
            took: self.took,
        })
    }
}

impl Outcome {
    pub(crate) fn of(body: &Value) -> Self {
        Self {
            correlation_id: body["correlationId"].as_str().unwrap_or_default().to_owned(),
            result: body.clone(),
        }
    }

    /// The text of the first content block.
    #[must_use]
    pub fn text(&self) -> &str {
        self.result["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// The structured result.
    #[must_use]
    pub fn structured(&self) -> &Value {
        &self.result["structuredContent"]
    }
}
