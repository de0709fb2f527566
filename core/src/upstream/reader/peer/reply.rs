//! How a peer answers.

use serde_json::Value;

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    reason: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    end: End,
}

#[derive(Debug, Clone)]
enum End {
    Kept,
    Closed,
    ClosedUnsaid,
    Never,
    Raw(Vec<u8>, bool),
}

pub(super) enum Part {
    Bytes(Vec<u8>),
    /// Nothing more comes, and the connection stays open.
    Silence,
    /// The connection ends.
    End,
}

#[allow(dead_code, reason = "for the tests of other rooms too")]
impl Reply {
    /// 200 with this JSON.
    pub(crate) fn json(value: &Value) -> Self {
        let body = serde_json::to_vec(value).unwrap();
        Self::status(200)
            .header("content-type", "application/json")
            .with_body(body)
    }

    /// This status, without a body.
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            reason: None,
            headers: vec![],
            body: vec![],
            end: End::Kept,
        }
    }

    /// Nothing, for as long as the connection lasts.
    pub(crate) fn never() -> Self {
        Self {
            end: End::Never,
            ..Self::status(200)
        }
    }

    /// These bytes and nothing of HTTP around them; then the connection ends, or stays open in silence.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>, ends: bool) -> Self {
        Self {
            end: End::Raw(bytes.into(), ends),
            ..Self::status(200)
        }
    }

    /// With this status instead.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// With this body.
    pub(crate) fn with_body(self, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..self
        }
    }

    /// With this header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this text behind the status.
    pub(crate) fn reason(self, text: &str) -> Self {
        Self {
            reason: Some(text.to_owned()),
            ..self
        }
    }

    /// The connection ends behind the answer, and the answer says so.
    pub(crate) fn closing(self) -> Self {
        Self {
            end: End::Closed,
            ..self.header("connection", "close")
        }
    }

    /// The connection ends behind the answer, which does not say so.
    pub(crate) fn closing_unsaid(self) -> Self {
        Self {
            end: End::ClosedUnsaid,
            ..self
        }
    }

    pub(super) fn parts(self) -> Vec<Part> {
        match self.end {
            End::Kept => vec![Part::Bytes(self.bytes())],
            End::Closed | End::ClosedUnsaid => vec![Part::Bytes(self.bytes()), Part::End],
            End::Never => vec![Part::Silence],
            End::Raw(bytes, true) => vec![Part::Bytes(bytes), Part::End],
            End::Raw(bytes, false) => vec![Part::Bytes(bytes), Part::Silence],
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let usual = http::StatusCode::from_u16(self.status)
            .ok()
            .and_then(|status| status.canonical_reason());
        let reason = self.reason.as_deref().or(usual).unwrap_or_default();
        let mut head = format!("HTTP/1.1 {} {reason}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.headers.iter().any(|(name, _)| name == "content-length") {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}
