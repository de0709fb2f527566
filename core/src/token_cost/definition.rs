//! The text of a tool's definition, as it is counted.

use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_contract::registry::ToolDef;

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(rename = "inputSchema")]
    input_schema: &'a RawValue,
}

/// What a model reads of a tool, the same for every tool and in every dialect: one compact JSON object of its published
/// name, its description and the schema of its arguments.
///
/// Titles, output schemas and hints are for clients, and clients do not hand them on. What a client wraps around a
/// definition is its own and not counted.
#[must_use]
pub fn definition(tool: &ToolDef) -> String {
    let schema = serde_json::from_str::<&RawValue>(tool.input_schema).unwrap_or(RawValue::NULL);
    let definition = Definition {
        name: tool.function_name,
        description: tool.description,
        input_schema: schema,
    };
    // Texts and raw JSON always serialise.
    serde_json::to_string(&definition).unwrap_or_default()
}
