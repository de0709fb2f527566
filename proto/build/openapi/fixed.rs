//! What has no rpc: problem details, probes, metrics and this document itself.

use prost_reflect::DescriptorPool;
use serde_json::{Map, Value, json};

/// The paths that no rpc stands behind.
pub(crate) fn paths() -> Map<String, Value> {
    let probe = |id: &str, summary: &str, kind: &str, also: Option<(&str, &str)>| {
        let mut responses =
            json!({"200": {"description": "Yes.", "content": {kind: {"schema": {"type": "string"}}}}});
        if let Some((status, description)) = also {
            responses[status] = json!({"description": description});
        }
        json!({"get": {
            "operationId": id,
            "tags": ["Operation"],
            "summary": summary,
            "security": [],
            "responses": responses,
        }})
    };
    let not_ready = Some(("503", "Not ready; the body names the check that failed."));
    Map::from_iter([
        (
            "/healthz".into(),
            probe("health", "Tells that the process lives", "text/plain", None),
        ),
        (
            "/readyz".into(),
            probe(
                "ready",
                "Tells whether calls can be carried",
                "application/json",
                not_ready,
            ),
        ),
        (
            "/metrics".into(),
            probe(
                "metrics",
                "Metrics in Prometheus' text format",
                "text/plain",
                None,
            ),
        ),
        (
            "/openapi.json".into(),
            probe("openapi", "This document", "application/json", None),
        ),
    ])
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
    Map::from_iter([("Problem".into(), problem)])
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
