//! Reads the messages of a chat as strictly as OpenAI: every call answered by exactly one tool message, at once.

use serde_json::Value;

use crate::{
    conversation::{Conversation, content, list, text, under},
    refusal::Refusal,
    tool::{Form, Toolbox, named},
};

const MESSAGES: usize = 4_096;
const CALLS: usize = 128;
const ROLES: &str = "system, developer, user, assistant, tool";
const OF_USERS: [&str; 4] = ["text", "image_url", "input_audio", "file"];

pub(super) fn read(body: &Value) -> Result<Conversation, Refusal> {
    let messages = list(body, "messages", MESSAGES)?.ok_or_else(|| Refusal::missing("messages"))?;
    if messages.is_empty() {
        return Err(Refusal::invalid(
            "messages",
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
        ));
    }
    let mut history = History {
        conversation: Conversation::new(Toolbox::read(body, Form::Chat)?),
        open: Vec::new(),
        called: false,
    };
    for (number, message) in messages.iter().enumerate() {
        history.message(message, &format!("messages[{number}]"))?;
    }
    history.closed("messages")?;
    Ok(history.conversation)
}

struct History {
    conversation: Conversation,
    /// Ids of calls of the last assistant message that have no answer yet.
    open: Vec<String>,
    /// Whether the last message that is no tool's called tools.
    called: bool,
}

impl History {
    fn message(&mut self, message: &Value, place: &str) -> Result<(), Refusal> {
        let role = text(message, "role", place)?;
        if role == "tool" {
            return self.tool(message, place);
        }
        self.closed(place)?;
        self.called = false;
        let said = &message["content"];
        let at = under(place, "content");
        match role {
            "system" | "developer" => content(said, &at, &["text"]).map(drop),
            "user" => {
                let asked = content(said, &at, &OF_USERS)?;
                self.conversation.user(asked);
                Ok(())
            }
            "assistant" => self.assistant(message, place),
            _ => Err(Refusal::wrong_value(under(place, "role"), ROLES)),
        }
    }

    fn assistant(&mut self, message: &Value, place: &str) -> Result<(), Refusal> {
        let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
        let Some(calls) = calls else {
            return content(
                &message["content"],
                &under(place, "content"),
                &["text", "refusal"],
            )
            .map(drop);
        };
        if !message["content"].is_null() {
            content(
                &message["content"],
                &under(place, "content"),
                &["text", "refusal"],
            )?;
        }
        let place = under(place, "tool_calls");
        let calls = calls
            .as_array()
            .ok_or_else(|| Refusal::wrong_type(&place, "an array"))?;
        if calls.is_empty() || calls.len() > CALLS {
            return Err(Refusal::invalid(
                &place,
                format!("Invalid '{place}': expected an array of 1 to {CALLS} calls."),
            ));
        }
        for (number, call) in calls.iter().enumerate() {
            let id = call_id(call, &format!("{place}[{number}]"))?;
            if self.open.contains(&id) {
                return Err(Refusal::invalid(
                    &place,
                    format!("Duplicate tool call id '{id}'."),
                ));
            }
            self.open.push(id);
        }
        self.called = true;
        self.conversation.called();
        Ok(())
    }

    fn tool(&mut self, message: &Value, place: &str) -> Result<(), Refusal> {
        let id = text(message, "tool_call_id", place)?;
        let at = self.open.iter().position(|open| open == id);
        match at {
            Some(at) => drop(self.open.remove(at)),
            None if !self.called => {
                return Err(Refusal::invalid(
                    under(place, "role"),
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                ));
            }
            None => {
                return Err(Refusal::invalid(
                    under(place, "tool_call_id"),
                    format!(
                        "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message, or answered before."
                    ),
                ));
            }
        }
        let answer = content(&message["content"], &under(place, "content"), &["text"])?;
        self.conversation.answered(answer);
        Ok(())
    }

    /// Every call of the last message must be answered by now.
    fn closed(&self, place: &str) -> Result<(), Refusal> {
        if self.open.is_empty() {
            return Ok(());
        }
        Err(Refusal::invalid(
            place,
            format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                self.open.join(", ")
            ),
        ))
    }
}

fn call_id(call: &Value, place: &str) -> Result<String, Refusal> {
    let id = text(call, "id", place)?;
    if text(call, "type", place)? != "function" {
        return Err(Refusal::wrong_value(under(place, "type"), "'function'"));
    }
    let function = call
        .get("function")
        .ok_or_else(|| Refusal::missing(under(place, "function")))?;
    let place = under(place, "function");
    named(text(function, "name", &place)?, &under(&place, "name"))?;
    text(function, "arguments", &place)?;
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests;
