//! `/api/session`: the session of a browser, whose answers set a cookie; by hand in the facade, so by hand here.

use serde_json::{Map, Value, json};

use super::{json_content, reference};

/// The path.
pub(crate) fn paths() -> Map<String, Value> {
    let verbs = json!({"get": current(), "post": begin(), "delete": end()});
    Map::from_iter([("/api/session".into(), verbs)])
}

/// The schemas that only it uses.
pub(crate) fn schemas() -> Map<String, Value> {
    Map::from_iter([("BrowserSession".into(), browser_session())])
}

fn operation(id: &str, summary: &str, responses: Value) -> Value {
    let mut operation =
        json!({"operationId": id, "tags": ["Session"], "summary": summary, "responses": responses});
    operation["responses"]["default"] = json!({"$ref": "#/components/responses/Problem"});
    operation
}

fn told(description: &str) -> Value {
    json!({"description": description, "content": json_content(&reference("BrowserSession"))})
}

fn cookie(description: &str) -> Value {
    json!({"Set-Cookie": {"description": description, "schema": {"type": "string"}}})
}

fn current() -> Value {
    let told = told("The session. With a token in `Authorization` it tells of that, without `csrfToken`.");
    operation(
        "getBrowserSession",
        "Tells the session of this browser",
        json!({"200": told}),
    )
}

fn begin() -> Value {
    let mut made = told("The session; its token is in the cookie and nowhere else.");
    made["headers"] = cookie("`__Host-toolgate=…; Path=/; Secure; HttpOnly; SameSite=Lax`");
    let mut operation = operation(
        "beginBrowserSession",
        "Trades the one-time code of a sign-in link for a session in a cookie",
        json!({"201": made}),
    );
    operation["security"] = json!([]);
    operation["requestBody"] = json!({"required": true, "content": json_content(&json!({
        "type": "object",
        "required": ["code"],
        "properties": {"code": {"type": "string", "description": "The code from the link; it works once, for 15 minutes."}},
        "additionalProperties": false,
    }))});
    operation
}

fn end() -> Value {
    let done = json!({"description": "Done.", "headers": cookie("Takes the cookie back.")});
    operation(
        "endBrowserSession",
        "Signs out: ends the session and takes its cookie back",
        json!({"204": done}),
    )
}

fn browser_session() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "object",
        "description": "A session, as its browser knows it.",
        "required": ["tenantId", "tenantName", "principal", "role", "usesTools", "method"],
        "properties": {
            "csrfToken": text("Goes into the header `X-CSRF-Token` of every request with the cookie that is no GET or HEAD."),
            "tenantId": text("The tenant's id."),
            "tenantName": text("The tenant's name."),
            "principal": text("The principal's name."),
            "role": text("`admin`, `engineer`, `auditor` or `agent`."),
            "profile": text("The profile in force, if any."),
            "usesTools": {"type": "boolean", "description": "Whether the role may list and call tools."},
            "expiresAt": text("When it ends: RFC 3339, UTC."),
            "method": text("How it began: `link` or `oidc`; `token` where it is no session."),
        },
    })
}
