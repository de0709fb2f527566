//! What a simulator is asked and what it answers.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

/// One request, read whole.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its path, not decoded.
    pub path: String,
    /// Its query, not decoded; empty without one.
    pub query: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Request {
    /// The segments of its path.
    #[must_use]
    pub fn segments(&self) -> Vec<&str> {
        self.path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .collect()
    }

    /// The first value of this name in the query, not decoded.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .into_iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The number of this name in the query, from 1 to `most`.
    #[must_use]
    pub fn number(&self, name: &str, default: usize, most: usize) -> usize {
        let asked = self.query(name).and_then(|text| text.parse().ok());
        asked.unwrap_or(default).clamp(1, most)
    }

    /// A header as text; empty without one.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    }
}

/// One answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// The text behind the status, where it is not the usual one.
    pub reason: Option<String>,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Reply {
    /// JSON with this status.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::bytes(status, body.to_string()).with("content-type", "application/json; charset=utf-8")
    }

    /// Any body with this status.
    #[must_use]
    pub fn bytes(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            reason: None,
            headers: HeaderMap::new(),
            body: body.into(),
        }
    }

    /// With this header, unless it cannot be one.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            self.headers.insert(name, value);
        }
        self
    }
}
