//! Reads the input items of a response as strictly as OpenAI: every `function_call` has exactly one output, by `call_id`.

use serde_json::Value;

use crate::{
    conversation::{Conversation, content, list, text, under},
    refusal::Refusal,
    tool::{Form, Toolbox, named},
};

const ITEMS: usize = 4_096;
const KINDS: &str = "message, function_call, function_call_output, reasoning";
const OF_MESSAGES: [&str; 5] = [
    "input_text",
    "output_text",
    "refusal",
    "input_image",
    "input_file",
];
const OF_OUTPUTS: [&str; 3] = ["input_text", "input_image", "input_file"];

pub(super) fn read(body: &Value) -> Result<Conversation, Refusal> {
    if !matches!(body.get("previous_response_id"), None | Some(Value::Null)) {
        return Err(Refusal::invalid(
            "previous_response_id",
            "Previous responses are not kept by this mock; send the whole input.",
        ));
    }
    let mut history = History {
        conversation: Conversation::new(Toolbox::read(body, Form::Responses)?),
        open: Vec::new(),
        calling: false,
    };
    match body.get("input") {
        None | Some(Value::Null) => return Err(Refusal::missing("input")),
        Some(Value::String(asked)) => history.conversation.user(asked.clone()),
        Some(_) => {
            for (number, item) in list(body, "input", ITEMS)?.unwrap_or_default().iter().enumerate() {
                history.item(item, &format!("input[{number}]"))?;
            }
        }
    }
    history.closed()?;
    Ok(history.conversation)
}

struct History {
    conversation: Conversation,
    /// `call_id`s that have no output yet.
    open: Vec<String>,
    /// Whether the last item was a call: several in a row are one step of the model.
    calling: bool,
}

impl History {
    fn item(&mut self, item: &Value, place: &str) -> Result<(), Refusal> {
        let kind = match item.get("type") {
            None => "message",
            Some(_) => text(item, "type", place)?,
        };
        match kind {
            "function_call" => return self.call(item, place),
            "function_call_output" => self.output(item, place)?,
            "message" => self.message(item, place)?,
            "reasoning" => {}
            _ => return Err(Refusal::wrong_value(under(place, "type"), KINDS)),
        }
        self.calling = false;
        Ok(())
    }

    fn message(&mut self, item: &Value, place: &str) -> Result<(), Refusal> {
        let role = text(item, "role", place)?;
        let said = content(&item["content"], &under(place, "content"), &OF_MESSAGES)?;
        match role {
            "user" => self.conversation.user(said),
            "assistant" | "system" | "developer" => {}
            _ => {
                return Err(Refusal::wrong_value(
                    under(place, "role"),
                    "assistant, system, developer, user",
                ));
            }
        }
        Ok(())
    }

    fn call(&mut self, item: &Value, place: &str) -> Result<(), Refusal> {
        let id = text(item, "call_id", place)?;
        named(text(item, "name", place)?, &under(place, "name"))?;
        text(item, "arguments", place)?;
        if self.open.iter().any(|open| open == id) {
            return Err(Refusal::invalid(
                place,
                format!("Duplicate function call '{id}'."),
            ));
        }
        self.open.push(id.to_owned());
        if !self.calling {
            self.conversation.called();
        }
        self.calling = true;
        Ok(())
    }

    fn output(&mut self, item: &Value, place: &str) -> Result<(), Refusal> {
        let id = text(item, "call_id", place)?;
        let Some(at) = self.open.iter().position(|open| open == id) else {
            return Err(Refusal::invalid(
                "input",
                format!("No tool call found for function call output with call_id {id}."),
            ));
        };
        self.open.remove(at);
        let output = content(&item["output"], &under(place, "output"), &OF_OUTPUTS)?;
        self.conversation.answered(output);
        Ok(())
    }

    fn closed(&self) -> Result<(), Refusal> {
        match self.open.first() {
            None => Ok(()),
            Some(id) => Err(Refusal::invalid(
                "input",
                format!("No tool output found for function call {id}."),
            )),
        }
    }
}

#[cfg(test)]
mod tests;
