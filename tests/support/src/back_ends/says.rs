//! What a peer answers.

use serde_json::Value;

/// One answer, or none.
#[derive(Debug, Clone)]
pub enum Says {
    /// A sound answer.
    Answer {
        /// Its status.
        status: u16,
        /// Headers beside the length of its body.
        headers: Vec<(String, String)>,
        /// Its body.
        body: Vec<u8>,
    },
    /// Nothing, for as long as the asker waits.
    Hang,
    /// Something that is no HTTP.
    Garbage,
    /// The head of an answer and then the end of the connection.
    Half,
    /// The end of the connection at once.
    HangUp,
}

impl Says {
    /// JSON with this status.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status, body.to_string()).with("content-type", "application/json")
    }

    /// Any body with this status.
    #[must_use]
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Answer {
            status,
            headers: vec![],
            body: body.into(),
        }
    }

    /// A body of so many bytes.
    #[must_use]
    pub fn of_size(status: u16, bytes: usize) -> Self {
        Self::status(status, vec![b'x'; bytes])
    }

    /// With this header; says nothing more where there is no answer.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// What goes over the wire; `None` where nothing ever does. The flag says that the connection ends behind it.
    pub(super) fn wire(self) -> Option<(Vec<u8>, bool)> {
        match self {
            Self::Hang => None,
            Self::HangUp => Some((vec![], true)),
            Self::Garbage => Some((b"\x00\x16not HTTP at all\r\n\r\n".to_vec(), true)),
            Self::Half => Some((
                b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
                true,
            )),
            Self::Answer {
                status,
                headers,
                body,
            } => {
                let mut wire = format!("HTTP/1.1 {status} Scripted\r\n").into_bytes();
                for (name, value) in headers {
                    wire.extend(format!("{name}: {value}\r\n").bytes());
                }
                // These have no body, and a length would be wrong of 204.
                if status != 204 {
                    wire.extend(format!("content-length: {}\r\n", body.len()).bytes());
                }
                wire.extend(b"\r\n");
                if status != 204 {
                    wire.extend(body);
                }
                Some((wire, false))
            }
        }
    }
}
