//! One request, as it came over the wire.

use std::collections::BTreeMap;

use serde_json::Value;

/// One request, read whole.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its method.
    pub method: String,
    /// Its path, not decoded.
    pub path: String,
    /// Its query, not decoded; empty without one.
    pub query: String,
    /// Its headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Asked {
    /// Method and target as they stood in the first line: `GET /code-graph/communities?repo=r`.
    #[must_use]
    pub fn line(&self) -> String {
        match self.query.is_empty() {
            true => format!("{} {}", self.method, self.path),
            false => format!("{} {}?{}", self.method, self.path, self.query),
        }
    }

    /// The pairs of its query, decoded, in their order.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decoded(name), decoded(value))
            })
            .collect()
    }

    /// Its body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Its body as JSON; `null` without one, and where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The token it came with.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        self.headers.get("authorization")?.strip_prefix("Bearer ")
    }
}

/// What a percent-encoded text means; `+` is a space, as forms write it.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let escape = bytes
            .get(at + 1..at + 3)
            .and_then(|two| std::str::from_utf8(two).ok())
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        match (byte, escape) {
            (b'%', Some(escaped)) => {
                out.push(escaped);
                at += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                at += 1;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
