//! The frozen endpoints: where their bodies, statuses and headers differ from their messages.
//!
//! Additive changes only; a golden file holds the whole document.

use serde_json::{Map, Value, json};

use super::{super::target_types::TargetType, json_content, reference};

/// Amends the generated operation of a frozen rpc.
pub(crate) fn amend(rpc: &str, operation: &mut Value) {
    match rpc {
        "toolgate.v1.BrokerService.ListTools" => list_tools(operation),
        "toolgate.v1.BrokerService.Invoke" => invoke(operation),
        "toolgate.v1.BrokerService.Watch" => watch(operation),
        "toolgate.v1.TargetService.CreateTarget" => create_target(operation),
        "toolgate.v1.TargetService.UpdateTarget" => update_target(operation),
        _ => {}
    }
}

/// Schemas that only the frozen endpoints use.
pub(crate) fn schemas(target_types: &[TargetType]) -> Map<String, Value> {
    Map::from_iter([
        ("ToolResult".into(), tool_result()),
        ("CallDone".into(), call_done()),
        ("TargetWithEnrolment".into(), target_with_enrolment()),
        ("ValidationProblem".into(), validation_problem()),
        (
            "AdapterConfig".into(),
            forms(target_types, "config", "Settings of the adapter type."),
        ),
        (
            "AdapterCredential".into(),
            forms(
                target_types,
                "credential",
                "Credential of the adapter type; never returned. `ssh` and `project` take none.",
            ),
        ),
    ])
}

fn list_tools(operation: &mut Value) {
    operation["parameters"] = json!([header(
        "If-None-Match",
        "The `ETag` of the list the caller already has."
    )]);
    operation["responses"]["200"] = json!({
        "description": "The tools that the caller may see now, sorted by name.",
        "headers": {"ETag": {"description": "Version of this list.", "schema": {"type": "string"}}},
        "content": json_content(&json!({
            "type": "object",
            "required": ["tools"],
            "properties": {"tools": {"type": "array", "items": reference("ToolDescription")}},
        })),
    });
    operation["responses"]["304"] = json!({"description": "The list is the one the caller already has."});
}

fn invoke(operation: &mut Value) {
    operation["parameters"] = json!([header(
        "Prefer",
        "`wait` or `wait=N`: answer with the result itself, waiting at most N seconds and never longer than the call.",
    )]);
    let body = &mut operation["requestBody"]["content"]["application/json"]["schema"];
    body["properties"]["arguments"]["type"] = "object".into();
    operation["responses"]["200"] = json!({
        "description": "With `Prefer: wait`: the result.",
        "content": json_content(&json!({
            "allOf": [
                reference("ToolResult"),
                {
                    "type": "object",
                    "required": ["correlationId", "durationMs"],
                    "properties": {
                        "correlationId": {"type": "string", "description": "ULID of the call."},
                        "durationMs": {
                            "type": "integer",
                            "description": "Milliseconds from admission to settlement.",
                        },
                    },
                },
            ],
        })),
    });
    operation["responses"]["202"]["description"] =
        "The call has started; its events are at `streamUrl`.".into();
    operation["responses"]["202"]["headers"] = json!({
        "Location": {"description": "The same as `streamUrl`.", "schema": {"type": "string"}},
    });
}

fn watch(operation: &mut Value) {
    let resume = header(
        "Last-Event-ID",
        "The last event already seen; the stream goes on after it.",
    );
    if let Some(parameters) = operation["parameters"].as_array_mut() {
        // The message carries the header's value; REST has it as a header only.
        parameters.retain(|parameter| parameter["in"] == "path");
        parameters.push(resume);
    }
    operation["responses"]["200"] = json!({
        "description": "Server-sent events, ids `<correlation id>-<sequence>`: `tool_result` any number of times, then \
                        one `done` or `error`.",
        "content": {"text/event-stream": {
            "schema": {"type": "string"},
            "x-events": {
                "tool_result": reference("ToolResult"),
                "done": reference("CallDone"),
                "error": reference("Problem"),
            },
        }},
    });
    operation["responses"]["204"] = json!({
        "description": "The call has ended and `Last-Event-ID` was its last event: there is nothing more to come.",
    });
}

fn create_target(operation: &mut Value) {
    with_adapter_bodies(operation);
    operation["responses"]["201"]["content"] = json_content(&reference("TargetWithEnrolment"));
    operation["responses"]["422"] = refused();
}

fn update_target(operation: &mut Value) {
    with_adapter_bodies(operation);
    operation["responses"]["200"]["content"] = json_content(&reference("Target"));
    operation["responses"]["422"] = refused();
}

fn with_adapter_bodies(operation: &mut Value) {
    let properties = &mut operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
    for (field, schema) in [("config", "AdapterConfig"), ("credential", "AdapterCredential")] {
        properties[field]["$ref"] = reference(schema)["$ref"].clone();
    }
}

fn refused() -> Value {
    json!({
        "description": "The validation failed; nothing was stored.",
        "content": {"application/problem+json": {"schema": reference("ValidationProblem")}},
    })
}

fn header(name: &str, description: &str) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": description, "schema": {"type": "string"}})
}

fn tool_result() -> Value {
    json!({
        "type": "object",
        "description": "A tool's result in MCP's vocabulary.",
        "required": ["content", "isError"],
        "properties": {
            "content": {"type": "array", "items": {"type": "object"}, "description": "MCP content blocks."},
            "structuredContent": {"description": "Matches the tool's output schema."},
            "isError": {"type": "boolean", "description": "True when the tool ran and said no."},
            "_meta": {"type": "object", "description": "Facts about the call, such as `toolgate/target`."},
        },
    })
}

fn call_done() -> Value {
    json!({
        "type": "object",
        "description": "The end of a call that had a result.",
        "required": ["durationMs"],
        "properties": {"durationMs": {"type": "integer", "description": "Milliseconds from admission to settlement."}},
    })
}

fn target_with_enrolment() -> Value {
    json!({
        "description": "The added target. One of type `ssh` or `project` has its one-time enrolment, shown only here.",
        "allOf": [
            reference("Target"),
            {"type": "object", "properties": {"enrolment": reference("Enrolment")}},
        ],
    })
}

fn validation_problem() -> Value {
    json!({
        "allOf": [
            reference("Problem"),
            {"type": "object", "properties": {"validation": reference("Validation")}},
        ],
    })
}

/// The forms of every type of targets, one of which a body must be.
fn forms(target_types: &[TargetType], part: &str, description: &str) -> Value {
    let form = |target: &TargetType| {
        let mut form = reference(&format!("{}.{part}", target.name));
        form["title"] = target.name.as_str().into();
        form
    };
    json!({"description": description, "anyOf": target_types.iter().map(form).collect::<Vec<_>>()})
}
