//! What one line of a transcript says: the tools that the agent calls in it, and the issues that it reports.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    json,
    report::{Malformed, Report},
    turn::{Turns, id},
};

/// A block of kind `tool_use` in a message of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block<'a> {
    /// Name of the tool.
    pub tool: Cow<'a, str>,
    /// Id of the call.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The turn, as [`Turns`] finds it.
    pub turn_id: Option<Cow<'a, str>>,
    /// The conversation.
    pub session_id: Option<Cow<'a, str>>,
    /// The message that the block is part of.
    pub message_id: Option<Cow<'a, str>>,
    /// What the tool is given, as JSON; empty where there is nothing.
    pub input: Cow<'a, str>,
}

/// What a block that reports an issue says, or why that cannot be read.
pub type Issue<'a> = Result<Report<'a>, Malformed>;

/// Reads a line and hands over each call of a tool in it, with the issue where the tool is `report_tool`. False where
/// the line is no JSON object; a report that can still be seen in it is handed over as malformed.
pub fn read(
    line: &[u8],
    report_tool: &str,
    turns: &mut Turns,
    told: &mut dyn FnMut(&Block<'_>, Option<&Issue<'_>>),
) -> bool {
    // What is no UTF-8 costs its characters, not the report.
    let line = String::from_utf8_lossy(line);
    let Ok(head) = Head::of(&line) else {
        if names_in_passing(&line, report_tool) {
            let block = Block {
                tool: report_tool.into(),
                ..Block::default()
            };
            told(&block, Some(&Err(Malformed::LineNotJson)));
        }
        return false;
    };
    let Some(message) = head.message() else {
        return true;
    };
    match head.speaker(&message) {
        Some(Speaker::User) => head.note_prompt(&message, turns),
        Some(Speaker::Agent) => tell(&head, &message, report_tool, turns, told),
        None => {}
    }
    true
}

enum Speaker {
    User,
    Agent,
}

/// The line itself.
struct Head<'a> {
    kind: Option<Cow<'a, str>>,
    message: &'a str,
    uuid: Option<&'a RawValue>,
    session: Option<Cow<'a, str>>,
    side_chain: bool,
    meta: bool,
    turns: [Option<&'a RawValue>; 3],
}

/// What it carries.
struct Message<'a> {
    id: Option<&'a RawValue>,
    role: Option<Cow<'a, str>>,
    content: Option<&'a RawValue>,
    turns: [Option<&'a RawValue>; 2],
}

impl<'a> Head<'a> {
    fn of(line: &'a str) -> Result<Self, serde_json::Error> {
        let [
            kind,
            message,
            uuid,
            session,
            session_in_a_stream,
            side_chain,
            meta,
            turns @ ..,
        ] = json::fields(
            line,
            [
                "type",
                "message",
                "uuid",
                "sessionId",
                "session_id",
                "isSidechain",
                "isMeta",
                "turnId",
                "turn_id",
                "promptId",
            ],
        )?;
        let is_true = |value: Option<&RawValue>| value.is_some_and(|value| value.get() == "true");
        Ok(Self {
            kind: json::text(kind),
            // A message may stand bare, as an API answers it.
            message: message.map_or(line, RawValue::get),
            uuid,
            session: id(session).or_else(|| id(session_in_a_stream)),
            side_chain: is_true(side_chain),
            meta: is_true(meta),
            turns,
        })
    }

    fn message(&self) -> Option<Message<'a>> {
        let names = ["id", "role", "content", "turnId", "turn_id"];
        let [id, role, content, turns @ ..] = json::fields(self.message, names).ok()?;
        Some(Message {
            id,
            role: json::text(role),
            content,
            turns,
        })
    }

    // The line says who speaks; where it does not, the message does.
    fn speaker(&self, message: &Message<'_>) -> Option<Speaker> {
        match (self.kind.as_deref(), message.role.as_deref()) {
            (Some("user"), _) | (None | Some("message"), Some("user")) => Some(Speaker::User),
            (Some("assistant"), _) | (None | Some("message"), Some("assistant")) => Some(Speaker::Agent),
            _ => None,
        }
    }

    // Results of tools come as the user's messages, and notes of the program as well; no turn begins with either.
    fn note_prompt(&self, message: &Message<'a>, turns: &mut Turns) {
        let mut result = false;
        if let Some(content) = message.content {
            json::each(content, |block| {
                result |= kind(block).as_deref() == Some("tool_result")
            });
        }
        if !result && !self.meta {
            turns.prompt(self.session.as_deref(), self.side_chain, id(self.uuid));
        }
    }

    fn named_turn(&self, message: &Message<'a>) -> Option<Cow<'a, str>> {
        let [turn_id, turn_id_too, prompt_id] = self.turns;
        let [of_message, of_message_too] = message.turns;
        [turn_id, turn_id_too, of_message, of_message_too, prompt_id]
            .into_iter()
            .find_map(id)
    }
}

fn tell(
    head: &Head<'_>,
    message: &Message<'_>,
    report_tool: &str,
    turns: &mut Turns,
    told: &mut dyn FnMut(&Block<'_>, Option<&Issue<'_>>),
) {
    let Some(content) = message.content else { return };
    let turn_id = head
        .named_turn(message)
        .or_else(|| turns.of(head.session.as_deref(), head.side_chain).map(Cow::from));
    let borrowed = |text: &'_ Option<Cow<'_, str>>| text.as_deref().map(str::to_owned).map(Cow::Owned);
    json::each(content, |raw| {
        let Ok([kind, name, tool_use_id, input]) = json::fields(raw.get(), ["type", "name", "id", "input"])
        else {
            return;
        };
        if json::text(kind).as_deref() != Some("tool_use") {
            return;
        }
        let block = Block {
            tool: json::text(name).unwrap_or_default(),
            tool_use_id: id(tool_use_id),
            turn_id: borrowed(&turn_id),
            session_id: borrowed(&head.session),
            message_id: id(message.id),
            input: input.map_or_else(Cow::default, |input| input.get().into()),
        };
        let issue = (block.tool == report_tool).then(|| Report::of(input));
        told(&block, issue.as_ref());
    });
}

fn kind(block: &RawValue) -> Option<Cow<'_, str>> {
    json::fields(block.get(), ["type"])
        .ok()
        .and_then(|[kind]| json::text(kind))
}

// Where the line is broken, the call still stands in it as it was written: `"name": "mcp__…"`. Quoted within a text its
// quotes would have backslashes before them.
fn names_in_passing(line: &str, report_tool: &str) -> bool {
    line.match_indices("\"name\"").any(|(at, name)| {
        let rest = line[at + name.len()..].trim_start();
        rest.strip_prefix(':')
            .and_then(|rest| rest.trim_start().strip_prefix('"'))
            .and_then(|rest| rest.strip_prefix(report_tool))
            .is_some_and(|rest| rest.starts_with('"'))
    })
}

#[cfg(test)]
mod tests;
