//! The OpenAI dialect: two paths by hand, whose shapes are those of OpenAI's APIs. Frozen, as the translation behind
//! them is.

use serde_json::{Map, Value, json};

use super::{json_content, reference};

/// The paths of the dialect.
pub(crate) fn paths() -> Map<String, Value> {
    Map::from_iter([
        ("/openai/v1/tools".into(), json!({"get": tools()})),
        ("/openai/v1/tool_calls".into(), json!({"post": tool_calls()})),
    ])
}

/// Schemas that only these paths use.
pub(crate) fn schemas() -> Map<String, Value> {
    Map::from_iter([
        ("OpenAiTool".into(), tool()),
        ("OpenAiToolCalls".into(), asked()),
        ("OpenAiToolOutputs".into(), answered()),
        ("OpenAiCallReport".into(), report()),
    ])
}

fn tools() -> Value {
    json!({
        "operationId": "openAiTools",
        "tags": ["OpenAI"],
        "summary": "Lists the caller's tools as a model's API takes them",
        "description": "Lists the caller's tools as `tools` of a request to a model. Names are `functionName`; `strict` is \
                        true only where strict mode accepts the same arguments.",
        "x-frozen": true,
        "parameters": [
            {
                "name": "format",
                "in": "query",
                "required": false,
                "description": "`chat` for Chat Completions, `responses` for the Responses API.",
                "schema": {"type": "string", "enum": ["chat", "responses"], "default": "chat"},
            },
            {
                "name": "If-None-Match",
                "in": "header",
                "required": false,
                "description": "The `ETag` of the list the caller already has.",
                "schema": {"type": "string"},
            },
        ],
        "responses": {
            "200": {
                "description": "The tools that the caller may see now, sorted by name.",
                "headers": {"ETag": {"description": "Version of this list.", "schema": {"type": "string"}}},
                "content": json_content(&json!({
                    "type": "object",
                    "required": ["tools"],
                    "properties": {"tools": {"type": "array", "items": reference("OpenAiTool")}},
                })),
            },
            "304": {"description": "The list is the one the caller already has."},
            "default": problem(),
        },
    })
}

fn tool_calls() -> Value {
    json!({
        "operationId": "openAiToolCalls",
        "tags": ["OpenAI"],
        "summary": "Carries out the tool calls of one turn and answers each of them",
        "description": "Carries out the tool calls of one turn and answers each of them. They run side by side under the \
                        deadline of `grpc-timeout`, or 10 seconds each. What goes wrong with a call is its answer, \
                        `{\"error\":{\"reason\",\"message\"}}`; an HTTP error means that there was no turn: a body that is \
                        none, more than 128 calls, a credential that is not accepted.",
        "x-frozen": true,
        "parameters": [{
            "name": "grpc-timeout",
            "in": "header",
            "required": false,
            "description": "Time for all calls together: up to eight digits and one of H, M, S, m, u, n.",
            "schema": {"type": "string"},
        }],
        "requestBody": {"required": true, "content": json_content(&reference("OpenAiToolCalls"))},
        "responses": {
            "200": {
                "description": "The answers, in the order in which the calls were asked for.",
                "content": json_content(&reference("OpenAiToolOutputs")),
            },
            "default": problem(),
        },
    })
}

fn problem() -> Value {
    json!({"$ref": "#/components/responses/Problem"})
}

fn tool() -> Value {
    let function = |flat: bool| {
        let mut schema = json!({
            "type": "object",
            "required": ["name", "description", "parameters", "strict"],
            "properties": {
                "name": {"type": "string", "description": "The tool's `functionName`."},
                "description": {"type": "string", "description": "What the tool does, and the targets to choose from."},
                "parameters": {"type": "object", "description": "JSON Schema of the arguments."},
                "strict": {"type": "boolean", "description": "True where strict mode accepts the same arguments."},
            },
        });
        if flat {
            schema["title"] = "Responses".into();
            schema["required"] = json!(["type", "name", "description", "parameters", "strict"]);
            schema["properties"]["type"] = json!({"const": "function"});
        }
        schema
    };
    json!({
        "description": "A tool as a model's API takes it.",
        "anyOf": [
            {
                "type": "object",
                "title": "Chat Completions",
                "required": ["type", "function"],
                "properties": {"type": {"const": "function"}, "function": function(false)},
            },
            function(true),
        ],
    })
}

fn asked() -> Value {
    let items = json!({
        "type": "array",
        "description": "Output items; those of type `function_call` are carried out.",
        "items": {"type": "object"},
    });
    let message = json!({
        "type": "object",
        "title": "Assistant message",
        "required": ["tool_calls"],
        "properties": {
            "role": {"const": "assistant"},
            "tool_calls": {"type": "array", "maxItems": 128, "items": {
                "type": "object",
                "required": ["id", "function"],
                "properties": {
                    "id": {"type": "string", "description": "The answer has it as `tool_call_id`."},
                    "type": {"const": "function"},
                    "function": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "description": "The tool, in either spelling."},
                            "arguments": {"type": "string", "description": "The arguments as the model wrote them."},
                        },
                    },
                },
            }},
        },
    });
    json!({
        "description": "What the model answered. Members that are not named here are passed over.",
        "anyOf": [
            message,
            {
                "type": "object",
                "title": "Chat completion",
                "required": ["choices"],
                "properties": {"choices": {"type": "array", "minItems": 1, "items": {
                    "type": "object",
                    "required": ["message"],
                    "properties": {"message": {"type": "object"}},
                }}},
            },
            {
                "type": "object",
                "title": "Response",
                "required": ["output"],
                "properties": {"output": items},
            },
            items,
        ],
    })
}

fn answered() -> Value {
    let calls = json!({
        "type": "array",
        "description": "What happened to each call, for the client and not for the model.",
        "items": reference("OpenAiCallReport"),
    });
    let text =
        json!({"type": "string", "description": "The result, or `{\"error\":{\"reason\",\"message\"}}`."});
    let part = json!({
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {"enum": ["input_text", "input_image"]},
            "text": {"type": "string"},
            "image_url": {"type": "string"},
        },
    });
    json!({
        "description": "What goes into the history as it is, in the form of the request.",
        "anyOf": [
            {
                "type": "object",
                "title": "Chat Completions",
                "required": ["messages", "calls"],
                "properties": {
                    "messages": {"type": "array", "items": {
                        "type": "object",
                        "required": ["role", "tool_call_id", "content"],
                        "properties": {
                            "role": {"const": "tool"},
                            "tool_call_id": {"type": "string"},
                            "content": text,
                        },
                    }},
                    "calls": calls,
                },
            },
            {
                "type": "object",
                "title": "Responses",
                "required": ["output", "calls"],
                "properties": {
                    "output": {"type": "array", "items": {
                        "type": "object",
                        "required": ["type", "call_id", "output"],
                        "properties": {
                            "type": {"const": "function_call_output"},
                            "call_id": {"type": "string"},
                            "output": {"anyOf": [text, {"type": "array", "items": part}]},
                        },
                    }},
                    "calls": calls,
                },
            },
        ],
    })
}

fn report() -> Value {
    json!({
        "type": "object",
        "description": "What happened to a call.",
        "required": ["id", "isError"],
        "properties": {
            "id": {"type": "string", "description": "The id of the call, as the model gave it."},
            "isError": {"type": "boolean", "description": "True when it was refused, failed, or the tool said no."},
            "reason": {"type": "string", "description": "Why it was refused or failed, the same in every dialect."},
            "retryAfter": {"type": "integer", "description": "Whole seconds to wait, where waiting helps."},
            "correlationId": {"type": "string", "description": "ULID of the call, the same in audit and logs."},
            "durationMs": {"type": "integer", "description": "Milliseconds from admission to settlement."},
            "_meta": {"type": "object", "description": "Facts about the call, such as `toolgate/target`."},
        },
    })
}
