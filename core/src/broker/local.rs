//! Local: what Toolgate itself answers. It contacts nothing, so there is no intent: the answer and its row, one commit.

use std::sync::Arc;

use serde_json::{Value, json, value::to_raw_value};
use toolgate_contract::registry::{Context, Effect, Group, ToolDef};

use super::{Rooms, answer::Answer, ask::Caller, facts::Facts};
use crate::{
    audit::EventKind,
    discovery,
    error::{Error, Missing},
    internal_issues::Origin,
    profiles::{DESCRIBE_TOOL, FETCH_REST, FIND_TOOLS},
    registry, token_cost,
    upstream::ToolResult,
};

/// Reports a problem of the platform.
const REPORT: &str = "report_internal_issue";
/// So many tools are found where nobody says how many.
const FOUND: usize = 5;

/// Whether a tool is answered here.
pub(super) fn is_local(tool: &ToolDef) -> bool {
    match tool.group {
        Some(Group::Platform | Group::Gateway) => true,
        // One of them asks the projects.
        Some(Group::Fleet) => tool.effect == Effect::Local,
        _ => false,
    }
}

/// Whether calls of the tool take nothing from anyone's bucket: a report must get through when nothing else does.
pub(super) fn is_exempt(tool: &ToolDef) -> bool {
    tool.group == Some(Group::Platform)
}

/// Takes out what is as good as absent: an empty text that is not required.
pub(super) fn without_empty(tool: &ToolDef, arguments: &mut Value) {
    if let Value::Object(arguments) = arguments {
        arguments.retain(|name, value| value != "" || registry::is_required(tool, name));
    }
}

/// What the tool answers to these arguments, which hold to its schema.
pub(super) fn answer(
    rooms: &Rooms,
    facts: &mut Facts,
    tool: &'static ToolDef,
    arguments: &Value,
) -> Result<Answer, Error> {
    match tool.name {
        REPORT => {
            let origin = Origin {
                call: facts.call,
                principal: facts.caller.principal(),
                project: known(&facts.caller, Context::Project),
                task: known(&facts.caller, Context::Task),
            };
            // Before the record and whatever becomes of it (`agent-tools.md` §3).
            facts.detail = rooms.internal_issues.report(origin, arguments);
            facts.event = Some(EventKind::InternalIssueReported);
            text("reported; the people who run this platform will see it, go on as well as you can")
        }
        FIND_TOOLS => found(&facts.caller, arguments),
        DESCRIBE_TOOL => described(&facts.caller, text_of(arguments, "name")),
        FETCH_REST => fetched(rooms, &facts.caller, text_of(arguments, "cursor")),
        _ => Err(Error::internal(format!("{} has no answer here", tool.name))),
    }
}

/// What the caller works for or on, where it is known.
fn known(caller: &Caller, which: Context) -> &str {
    caller.context.of(which).ok().flatten().unwrap_or_default()
}

/// One line for each tool, the best first.
fn found(caller: &Caller, arguments: &Value) -> Result<Answer, Error> {
    let limit = arguments["limit"]
        .as_u64()
        .and_then(|limit| limit.try_into().ok());
    let shows = |tool: &ToolDef| caller.snapshot.shows(tool, caller.profile());
    let tools = discovery::find(text_of(arguments, "query"), limit.unwrap_or(FOUND), shows);
    if tools.is_empty() {
        return text("none of your tools has a word of this; say it in other words");
    }
    let lines: Vec<_> = tools
        .into_iter()
        .map(|tool| {
            format!(
                "{}: {}. {}",
                tool.function_name,
                tool.title,
                first_sentence(tool.description)
            )
        })
        .collect();
    text(&lines.join("\n"))
}

/// What the list would say of the tool to a model.
fn described(caller: &Caller, name: &str) -> Result<Answer, Error> {
    let shows = |tool: &ToolDef| caller.snapshot.shows(tool, caller.profile());
    match registry::tool(name).filter(|tool| shows(tool)) {
        Some(tool) => text(&token_cost::definition(tool)),
        None => Err(Error::NotFound(Missing::Tool(registry::near(name, shows)))),
    }
}

fn fetched(rooms: &Rooms, caller: &Caller, cursor: &str) -> Result<Answer, Error> {
    // Without a cap the tool is not there.
    let cap = caller
        .profile()
        .and_then(|profile| profile.result_cap)
        .unwrap_or(u32::MAX);
    match rooms
        .rests
        .fetch(cursor, token_cost::bytes_of(cap), caller.principal())
    {
        Ok(part) => Ok(Answer::part(part)),
        // For the model to read: in some dialects the reason would end its session.
        Err(missing @ Error::NotFound(Missing::Rest)) => {
            said(&missing.to_string(), true).map(|result| Answer::no_part(Arc::new(result)))
        }
        Err(error) => Err(error),
    }
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").or_else(|| text.find(".\n"));
    end.map_or(text, |end| &text[..=end])
}

fn text_of<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

fn text(text: &str) -> Result<Answer, Error> {
    said(text, false).map(|result| Answer::fresh(Arc::new(result)))
}

fn said(text: &str, is_error: bool) -> Result<ToolResult, Error> {
    let content = to_raw_value(&json!([{"type": "text", "text": text}])).map_err(Error::internal)?;
    Ok(ToolResult {
        content,
        structured: None,
        is_error,
        raw: None,
    })
}
