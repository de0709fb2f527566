//! A host that answers at once, in process: what is left of a call is the gateway's own cost.
//!
//! For load measurements and conformance runs only; not in a release build.

use futures::future::BoxFuture;
use serde_json::{json, value::to_raw_value};

use crate::{
    journal::Contact,
    upstream::{ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// Answers every command with the same short text.
#[derive(Debug)]
pub struct Echo;

impl Echo {
    /// The answer, for the direct call that a measurement is held against.
    pub fn answer() -> Result<ToolResult, UpstreamError> {
        let text = " 12:00:00 up 1 day,  2:03,  1 user,  load average: 0.00, 0.01, 0.05\n";
        let structured = json!({
            "command": "uptime", "exit_code": 0, "stdout": text, "stderr": "", "truncated": false, "duration_ms": 0
        });
        let raw = |value| to_raw_value(value).map_err(|_| UpstreamError::Invalid);
        Ok(ToolResult {
            content: raw(&json!([{"type": "text", "text": text}]))?,
            structured: Some(raw(&structured)?),
            is_error: false,
            raw: None,
        })
    }
}

impl Upstream for Echo {
    fn call<'a>(
        &'a self,
        _: &'a Contact,
        _: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(std::future::ready(Self::answer()))
    }
}
