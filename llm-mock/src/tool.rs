//! The tools that a request brings, and which of them may be called.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    conversation::{list, switch, text, under},
    refusal::Refusal,
    schema,
};

/// OpenAI takes no more.
const TOOLS: usize = 128;
const KINDS: [&str; 2] = ["function", "allowed_tools"];

/// The two forms of one thing: `{"type": "function", "function": {…}}`, or flat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Chat,
    Responses,
}

/// What may be called.
#[derive(Debug)]
pub(crate) struct Toolbox {
    /// Names, in the order of the request; those that `tool_choice` forbids are left out.
    pub(crate) names: Vec<String>,
    pub(crate) choice: ToolChoice,
    /// Whether one answer may hold several calls.
    pub(crate) parallel: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    None,
    Auto,
    Required,
    Named(String),
}

impl Toolbox {
    pub(crate) fn read(body: &Value, form: Form) -> Result<Self, Refusal> {
        let mut names = Vec::new();
        for (number, tool) in list(body, "tools", TOOLS)?.unwrap_or_default().iter().enumerate() {
            names.push(form.tool(tool, &format!("tools[{number}]"))?);
        }
        let mut toolbox = Self {
            names,
            choice: ToolChoice::Auto,
            parallel: switch(body, "parallel_tool_calls", true)?,
        };
        let choice = body.get("tool_choice").filter(|choice| !choice.is_null());
        if let Some(choice) = choice {
            toolbox.choose(choice, form)?;
        }
        Ok(toolbox)
    }

    fn choose(&mut self, choice: &Value, form: Form) -> Result<(), Refusal> {
        if self.names.is_empty() && choice != "none" && choice != "auto" {
            return Err(Refusal::invalid(
                "tool_choice",
                "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
            ));
        }
        self.choice = match choice {
            Value::String(mode) => mode_of(mode, "tool_choice")?,
            _ => match text(choice, "type", "tool_choice")? {
                "function" => {
                    ToolChoice::Named(self.given(form.inner(choice, "tool_choice")?, "tool_choice")?)
                }
                "allowed_tools" => self.allow(form, choice)?,
                _ => return Err(Refusal::wrong_value("tool_choice.type", &KINDS.join(", "))),
            },
        };
        Ok(())
    }

    fn allow(&mut self, form: Form, choice: &Value) -> Result<ToolChoice, Refusal> {
        let place = "tool_choice.allowed_tools";
        let allowed = match form {
            Form::Chat => choice
                .get("allowed_tools")
                .ok_or_else(|| Refusal::missing(place))?,
            Form::Responses => choice,
        };
        let mode = mode_of(text(allowed, "mode", place)?, place)?;
        let mut kept = HashSet::new();
        for tool in list(allowed, "tools", TOOLS)?.unwrap_or_default() {
            kept.insert(self.given(form.inner(tool, place)?, place)?);
        }
        self.names.retain(|name| kept.contains(name));
        Ok(mode)
    }

    /// The name of a function that the request brings.
    fn given(&self, function: &Value, place: &str) -> Result<String, Refusal> {
        let name = text(function, "name", place)?;
        if self.names.iter().any(|given| given == name) {
            return Ok(name.to_owned());
        }
        Err(Refusal::invalid(
            place,
            format!("Tool choice '{name}' not found in 'tools' parameter."),
        ))
    }
}

impl Form {
    /// The part that holds `name`, `parameters` and `strict`.
    fn inner<'a>(self, of: &'a Value, place: &str) -> Result<&'a Value, Refusal> {
        match self {
            Self::Chat => match of.get("function") {
                Some(function) if function.is_object() => Ok(function),
                Some(_) => Err(Refusal::wrong_type(under(place, "function"), "an object")),
                None => Err(Refusal::missing(under(place, "function"))),
            },
            Self::Responses => Ok(of),
        }
    }

    /// The name of a tool that was found sound.
    fn tool(self, tool: &Value, place: &str) -> Result<String, Refusal> {
        if text(tool, "type", place)? != "function" {
            return Err(Refusal::wrong_value(under(place, "type"), "'function'"));
        }
        let function = self.inner(tool, place)?;
        let place = match self {
            Self::Chat => under(place, "function"),
            Self::Responses => place.to_owned(),
        };
        let name = text(function, "name", &place)?;
        named(name, &under(&place, "name"))?;
        if !matches!(
            function.get("description"),
            None | Some(Value::Null | Value::String(_))
        ) {
            return Err(Refusal::wrong_type(under(&place, "description"), "a string"));
        }
        let strict = switch(function, "strict", false)?;
        if let Some(parameters) = function.get("parameters").filter(|given| !given.is_null()) {
            schema::check(name, parameters, strict)
                .map_err(|what| Refusal::invalid(under(&place, "parameters"), what))?;
        }
        Ok(name.to_owned())
    }
}

/// Letters, digits, `_` and `-`, at most 64.
pub(crate) fn named(name: &str, place: &str) -> Result<(), Refusal> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(Refusal::invalid(
        place,
        format!(
            "Invalid '{place}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{{1,64}}$'."
        ),
    ))
}

fn mode_of(mode: &str, place: &str) -> Result<ToolChoice, Refusal> {
    match mode {
        "none" => Ok(ToolChoice::None),
        "auto" => Ok(ToolChoice::Auto),
        "required" => Ok(ToolChoice::Required),
        _ => Err(Refusal::wrong_value(place, "none, auto, required")),
    }
}

#[cfg(test)]
mod tests;
