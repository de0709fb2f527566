//! What a project does when it is asked.

use std::time::Duration;

use toolgate_contract::frame::RefusalCode;

/// What comes of a request.
#[derive(Debug, Clone)]
pub enum Does {
    /// It answers with its name, the tool and the arguments as they came.
    Echoes,
    /// It answers with this result, as it is written.
    Answers(String),
    /// Its server answers with this error object of JSON-RPC, as it is written.
    Errs(String),
    /// Nothing, for ever; cancelled, it says so.
    Hangs,
    /// First this long nothing, then that.
    After(Duration, Box<Self>),
    /// Nothing until the test says so, then that.
    WhenTold(Box<Self>),
    /// First these notifications on account of the request, then that. `TOKEN` in their params is the request's own.
    Notifies(Vec<(&'static str, String)>, Box<Self>),
    /// A text of so many bytes.
    Huge(usize),
    /// These bytes as they are, whether or not they are JSON.
    Garbage(Vec<u8>),
    /// Its relay refuses.
    Refuses(RefusalCode),
    /// The socket is cut.
    Drops,
}

impl Does {
    /// A result with one text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let text = serde_json::Value::from(text);
        Self::Answers(format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#))
    }

    /// A result with something structured, and its text.
    #[must_use]
    pub fn structured(json: &str) -> Self {
        let text = serde_json::Value::from(json);
        Self::Answers(format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{json}}}"#
        ))
    }
}
