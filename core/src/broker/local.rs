//! Local: what Toolgate itself answers. It contacts nothing, so there is no intent: the answer and its row, one commit.

use std::sync::Arc;

use serde_json::{Value, json, value::to_raw_value};
use toolgate_contract::registry::{Group, ToolDef};

use super::{answer::Answer, facts::Facts};
use crate::{audit::EventKind, error::Error, internal_issues::Issue, upstream::ToolResult};

/// Whether a tool is answered here.
pub(super) fn is_local(tool: &ToolDef) -> bool {
    matches!(tool.group, Some(Group::Platform | Group::Gateway))
}

/// Whether calls of the tool take nothing from anyone's bucket: a report must get through when nothing else does.
pub(super) fn is_exempt(tool: &ToolDef) -> bool {
    tool.group == Some(Group::Platform)
}

/// What the tool answers to these arguments, which hold to its schema.
pub(super) fn answer(facts: &mut Facts, tool: &'static ToolDef, arguments: &Value) -> Result<Answer, Error> {
    match tool.group {
        Some(Group::Platform) => {
            // Before the record and whatever becomes of it (`agent-tools.md` §3).
            Issue::read(arguments).report(facts.call, facts.caller.principal());
            facts.event = Some(EventKind::InternalIssueReported);
            text("reported; the people who run this platform will see it, go on as well as you can")
        }
        _ => Err(Error::internal(format!("{} has no answer here", tool.name))),
    }
}

fn text(text: &str) -> Result<Answer, Error> {
    let content = to_raw_value(&json!([{"type": "text", "text": text}])).map_err(Error::internal)?;
    Ok(Answer::fresh(Arc::new(ToolResult {
        content,
        structured: None,
        is_error: false,
    })))
}
