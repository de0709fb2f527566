//! What a relay tells of the server of its project: bounded, and without what could steer a terminal.

use std::sync::Arc;

use serde::Deserialize;

/// The longest name, version and revision, in bytes.
const MAX_NAME: usize = 128;
/// The longest reason, in bytes.
const MAX_WHY: usize = 1024;
/// The longest body that is looked at.
const MAX_BODY: usize = 16 * 1024;

/// Whether a project's server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerPhase {
    /// Its relay starts it, or makes itself known to it.
    Starting,
    /// It answers.
    Up,
    /// It does not run; its relay tries again.
    Down,
}

/// How the server of a project does, in the words of its relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerState {
    /// Whether it runs.
    pub state: ServerPhase,
    /// What it calls itself.
    pub name: Option<Arc<str>>,
    /// Its version.
    pub version: Option<Arc<str>>,
    /// The revision of MCP it speaks.
    pub revision: Option<Arc<str>>,
    /// Why it does not run.
    pub why: Option<Arc<str>>,
}

#[derive(Deserialize)]
struct Told {
    state: ServerPhase,
    name: Option<String>,
    version: Option<String>,
    revision: Option<String>,
    why: Option<String>,
}

impl ServerState {
    /// Reads the body of `toolgate/server`; `None` for what is none.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        if body.len() > MAX_BODY {
            return None;
        }
        let told: Told = serde_json::from_slice(body).ok()?;
        Some(Self {
            state: told.state,
            name: clean(told.name, MAX_NAME),
            version: clean(told.version, MAX_NAME),
            revision: clean(told.revision, MAX_NAME),
            why: clean(told.why, MAX_WHY),
        })
    }
}

fn clean(text: Option<String>, limit: usize) -> Option<Arc<str>> {
    let mut text = text?;
    text.retain(|c| !c.is_control());
    text.truncate(text.floor_char_boundary(limit));
    (!text.is_empty()).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_relay_tells_is_bounded_and_clean() {
        let body = serde_json::json!({
            "state": "down",
            "name": "every\u{1b}[31mthing",
            "version": "é".repeat(MAX_NAME),
            "revision": "\n",
            "why": "x".repeat(MAX_WHY + 9),
            "more": [1],
        });
        let told = ServerState::read(body.to_string().as_bytes()).expect("read");
        assert_eq!(
            (told.state, told.name.as_deref()),
            (ServerPhase::Down, Some("every[31mthing"))
        );
        assert_eq!(told.version.map(|text| text.len()), Some(MAX_NAME));
        assert_eq!(told.revision, None);
        assert_eq!(told.why.map(|text| text.len()), Some(MAX_WHY));
    }

    #[test]
    fn what_is_no_state_is_none() {
        let long = format!(r#"{{"state":"up","why":"{}"}}"#, "x".repeat(MAX_BODY));
        for body in [
            "",
            "{}",
            "[]",
            r#"{"state":"odd"}"#,
            r#"{"state":"up","name":1}"#,
            "\u{0}",
            &long,
        ] {
            assert_eq!(ServerState::read(body.as_bytes()), None, "{body:.40}");
        }
    }
}
