//! A catalog as the `tools` of a request to a model.

use std::fmt::Write as _;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_contract::v1::ToolDescription;

use super::{
    Form,
    schema::{self, Parameters},
};

const FUNCTION: &str = "function";
/// Longest description in characters: the API refuses a list that holds a longer one.
const LONGEST: usize = 1024;

/// Writes `{"tools":[…]}`, to be given to the model's API as it is.
pub(crate) fn tools(form: Form, catalog: &[ToolDescription]) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Tools {
        tools: Vec<Tool>,
    }
    let tools = catalog.iter().filter(|tool| is_fit(tool));
    let tools = tools.map(|tool| Tool::of(form, tool));
    let tools = tools.collect::<Result<_, _>>()?;
    serde_json::to_vec(&Tools { tools }).map(Bytes::from)
}

/// Of a project's tool nothing is promised; one whose schema is no object must not take everybody's list away.
fn is_fit(tool: &ToolDescription) -> bool {
    let fits = tool.project.is_empty() || schema::parameters(&tool.input_schema).is_ok();
    if !fits {
        tracing::error!(
            tool = tool.name,
            "the schema of a project's tool is no JSON object"
        );
    }
    fits
}

#[derive(Serialize)]
struct Function {
    /// In the flat form only.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    name: String,
    description: String,
    parameters: Box<RawValue>,
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Tool {
    Nested {
        r#type: &'static str,
        function: Function,
    },
    Flat(Function),
}

impl Tool {
    fn of(form: Form, tool: &ToolDescription) -> serde_json::Result<Self> {
        let Parameters { json, strict, beside } = schema::parameters(&tool.input_schema)?;
        let function = Function {
            r#type: (form == Form::Responses).then_some(FUNCTION),
            name: tool.function_name.clone(),
            description: description(tool, beside.as_deref()),
            parameters: json,
            strict,
        };
        Ok(match form {
            Form::Chat => Self::Nested {
                r#type: FUNCTION,
                function,
            },
            Form::Responses => Self::Flat(function),
        })
    }
}

/// The tool's description, and what has no other place in the list: whose word it is, targets to choose from, and what
/// had to be left out of the schema.
fn description(tool: &ToolDescription, beside: Option<&str>) -> String {
    let mut text = match tool.project.as_str() {
        "" => cut(&tool.description),
        project => cut(&format!("[project {project}] {}", tool.description)),
    };
    if let Some(beside) = beside {
        let words = format!("\n\nThe arguments must also match this JSON Schema: {beside}");
        if text.chars().count() + words.chars().count() <= LONGEST {
            text += &words;
        }
    }
    if tool.targets.len() > 1 {
        name_targets(&mut text, tool);
    }
    text
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// One target needs no naming.
fn name_targets(text: &mut String, tool: &ToolDescription) {
    const AND_MORE: usize = 32;
    let mut left = LONGEST.saturating_sub(text.chars().count() + AND_MORE);
    let mut words = String::from("\n\nTargets, for `target_id`:");
    for (n, target) in tool.targets.iter().enumerate() {
        let comma = if n == 0 { "" } else { "," };
        let entry = format!("{comma} {} ({})", target.id, target.name);
        let length = entry.chars().count() + if n == 0 { words.chars().count() } else { 0 };
        if length > left {
            if n > 0 {
                // Writing to a string cannot fail.
                let _ = write!(words, " and {} more", tool.targets.len() - n);
                break;
            }
            return;
        }
        left -= length;
        words += &entry;
    }
    *text += &words;
}
