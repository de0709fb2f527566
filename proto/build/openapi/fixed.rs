//! What has no rpc: problem details, probes, metrics and this document itself.

use prost_reflect::DescriptorPool;
use serde_json::{Map, Value, json};

/// The paths that no rpc stands behind.
pub(crate) fn paths() -> Map<String, Value> {
    Map::from_iter([
        (
            "/healthz".into(),
            probe("health", "Tells that the process lives", "text/plain", &text()),
        ),
        ("/readyz".into(), ready()),
        (
            "/metrics".into(),
            probe(
                "metrics",
                "Metrics in Prometheus' text format",
                "text/plain",
                &text(),
            ),
        ),
        (
            "/openapi.json".into(),
            probe(
                "openapi",
                "This document",
                "application/json",
                &json!({"type": "object", "description": "An OpenAPI 3.1 document."}),
            ),
        ),
    ])
}

fn text() -> Value {
    json!({"type": "string"})
}

fn probe(id: &str, summary: &str, kind: &str, schema: &Value) -> Value {
    json!({"get": {
        "operationId": id,
        "tags": ["Operation"],
        "summary": summary,
        "security": [],
        "responses": {"200": answer("Yes.", kind, schema)},
    }})
}

fn answer(description: &str, kind: &str, schema: &Value) -> Value {
    json!({"description": description, "content": {kind: {"schema": schema}}})
}

fn ready() -> Value {
    let kind = "application/json";
    let schema = super::reference("Readiness");
    let mut probe = probe("ready", "Tells whether calls can be carried", kind, &schema);
    probe["get"]["responses"]["503"] =
        answer("Not ready; the body names the check that failed.", kind, &schema);
    probe
}

fn readiness() -> Value {
    json!({
        "type": "object",
        "description": "Whether calls can be carried, and what was looked at.",
        "required": ["ready", "checks", "version"],
        "properties": {
            "ready": {"type": "boolean", "description": "True when every check passed."},
            "checks": {"type": "array", "description": "What was looked at.", "items": {
                "type": "object",
                "required": ["name", "ok"],
                "properties": {
                    "name": {"type": "string", "description": "Name of the check."},
                    "ok": {"type": "boolean", "description": "True when it passed."},
                    "detail": {"type": "string", "description": "What is wrong; absent when it passed."},
                },
            }},
            "version": {"type": "string", "description": "Version of the gateway."},
        },
    })
}

/// The schemas of problem details.
pub(crate) fn schemas(pool: &DescriptorPool) -> Map<String, Value> {
    let problem = json!({
        "type": "object",
        "description": "Problem details (RFC 9457). Further members may be there.",
        "required": ["type", "title", "status", "detail", "reason"],
        "properties": {
            "type": {"type": "string", "enum": types(pool), "description": "The reason as a URN."},
            "title": {"type": "string", "description": "The same short text for every failure of this reason."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {"type": "string", "description": "What happened and what to do next."},
            "instance": {"type": "string", "description": "The call as a URN, where there is one."},
            "reason": {"type": "string", "description": "The reason in UPPER_SNAKE, the same in every dialect."},
            "retryAfterMs": {"type": "integer", "description": "Milliseconds to wait, where waiting helps."},
            "correlationId": {"type": "string", "description": "The call's ULID, where there is a call."},
            "violations": {
                "type": "array",
                "description": "Every place where the request is wrong.",
                "items": {
                    "type": "object",
                    "required": ["pointer", "keyword", "message"],
                    "properties": {
                        "pointer": {"type": "string", "description": "JSON Pointer into the arguments or body."},
                        "keyword": {"type": "string", "description": "The schema keyword that was not met."},
                        "message": {"type": "string", "description": "What is wrong there."},
                    },
                },
            },
            "targets": {
                "type": "array",
                "description": "The targets to choose from, with `urn:toolgate:error:target-required`.",
                "items": super::reference("TargetChoice"),
            },
        },
    });
    Map::from_iter([("Problem".into(), problem), ("Readiness".into(), readiness())])
}

/// Every problem type, read off the reasons.
fn types(pool: &DescriptorPool) -> Vec<String> {
    let reasons = pool.get_enum_by_name("toolgate.v1.ErrorReason");
    let values = reasons
        .into_iter()
        .flat_map(|reasons| reasons.values().collect::<Vec<_>>());
    let known = values.filter(|value| value.number() != 0);
    known
        .map(|value| {
            let name = value.name().trim_start_matches("ERROR_REASON_");
            format!("urn:toolgate:error:{}", name.to_lowercase().replace('_', "-"))
        })
        .collect()
}
