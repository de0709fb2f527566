//! The Model Context Protocol: its own specification says what messages there are; here stands where they go.

use serde_json::{Map, Value, json};

use super::json_content;

/// The paths of the dialect.
pub(crate) fn paths() -> Map<String, Value> {
    let profile = json!([{
        "name": "profile",
        "in": "path",
        "required": true,
        "description": "Name of the profile.",
        "schema": {"type": "string"},
    }]);
    let mut narrowed = verbs("Profile");
    for operation in narrowed.as_object_mut().into_iter().flat_map(Map::values_mut) {
        operation["parameters"] = profile.clone();
    }
    Map::from_iter([("/mcp".into(), verbs("")), ("/mcp/p/{profile}".into(), narrowed)])
}

fn verbs(suffix: &str) -> Value {
    let operation = |id: &str, summary: &str, responses: Value| {
        json!({
            "operationId": format!("mcp{id}{suffix}"),
            "tags": ["MCP"],
            "summary": summary,
            "responses": responses,
        })
    };
    let problem = json!({"$ref": "#/components/responses/Problem"});
    let text = json!({"schema": {"type": "string"}});
    let message =
        json!({"type": "object", "description": "A JSON-RPC 2.0 message of the Model Context Protocol."});
    let mut post = operation(
        "Post",
        "Takes one message of the Model Context Protocol (Streamable HTTP)",
        json!({
            "200": {
                "description": "The answer to a request.",
                "content": {"application/json": {"schema": message}, "text/event-stream": text},
            },
            "202": {"description": "A notification was taken."},
            "default": problem,
        }),
    );
    post["requestBody"] = json!({"required": true, "content": json_content(&message)});
    json!({
        "post": post,
        "get": operation(
            "Get",
            "Streams the notifications of a session, in revisions that have sessions",
            json!({"200": {"description": "Server-sent events.", "content": {"text/event-stream": text}}, "default": problem}),
        ),
        "delete": operation(
            "Delete",
            "Ends a session, in revisions that have sessions",
            json!({"204": {"description": "Done."}, "default": problem}),
        ),
    })
}
