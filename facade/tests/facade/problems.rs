//! Every reason as a problem.

use serde_json::json;
use toolgate_contract::v1::{ErrorReason, Failure, TargetChoice, Violation};

use crate::{challenges::CHALLENGE, core::ScriptedCore, world::World};

/// As in the outcome table of the specification.
const STATUSES: [(&str, u16); 35] = [
    ("CREDENTIAL_INVALID", 401),
    ("ROLE_FORBIDDEN", 403),
    ("ORIGIN_FORBIDDEN", 403),
    ("WRITE_REJECTED", 403),
    ("TOOL_NOT_FOUND", 404),
    ("TARGET_NOT_FOUND", 404),
    ("CALL_NOT_FOUND", 404),
    ("RESOURCE_NOT_FOUND", 404),
    ("PROJECT_NOT_FOUND", 404),
    ("REQUEST_MALFORMED", 400),
    ("REQUEST_TOO_LARGE", 413),
    ("ARGUMENTS_INVALID", 400),
    ("TARGET_REQUIRED", 400),
    ("ROLE_VIOLATION", 422),
    ("SCOPE_VIOLATION", 422),
    ("CREDENTIAL_DRIFTED", 403),
    ("CREDENTIAL_REJECTED", 503),
    ("CONFLICT", 409),
    ("RATE_LIMITED", 429),
    ("UPSTREAM_RATE_LIMITED", 429),
    ("OVERLOADED", 503),
    ("SECRET_UNAVAILABLE", 503),
    ("AUDIT_UNAVAILABLE", 503),
    ("UPSTREAM_TIMEOUT", 504),
    ("UPSTREAM_UNREACHABLE", 502),
    ("UPSTREAM_TLS", 502),
    ("UPSTREAM_INVALID", 502),
    ("UPSTREAM_FAILED", 502),
    ("UPSTREAM_TOO_LARGE", 502),
    ("RELAY_OFFLINE", 503),
    ("RELAY_LOST", 503),
    ("PROJECT_OFFLINE", 503),
    ("DEADLINE_EXCEEDED", 504),
    ("CANCELLED", 499),
    ("INTERNAL", 500),
];

fn reasons() -> impl Iterator<Item = ErrorReason> {
    (1..=i32::MAX).map_while(|number| ErrorReason::try_from(number).ok())
}

#[tokio::test]
async fn every_reason_has_its_status_on_every_kind_of_route() {
    let world = World::start().await;
    let told: Vec<_> = reasons().map(ErrorReason::name).collect();
    assert_eq!(
        told,
        STATUSES.map(|(name, _)| name),
        "a new reason wants its row here"
    );
    for (reason, (name, status)) in reasons().zip(STATUSES) {
        *world.core.failure.lock().unwrap() = Some(Failure::new(reason, "what happened and what to do"));
        let invoke = r#"{"name":"a.b"}"#;
        for answer in [
            world.get("/api/mcp/tools").await,
            world.post("/api/mcp/invoke", invoke).await,
            world
                .ask("POST", "/api/mcp/invoke", &[("prefer", "wait")], invoke)
                .await,
            world.get("/api/mcp/stream/01X").await,
            world
                .post("/api/mcp/adapter", r#"{"type":"ssh","name":"x"}"#)
                .await,
            world.get("/api/tokens").await,
            world.get("/api/audit/export").await,
        ] {
            let problem = answer.problem(status, name);
            assert_eq!(problem["detail"], "what happened and what to do");
            assert_eq!(problem["title"], reason.title());
            assert_eq!(
                answer.header("www-authenticate"),
                if status == 401 { CHALLENGE } else { "" }
            );
            assert_eq!(answer.header("retry-after"), "");
        }
    }
}

#[tokio::test]
async fn the_facts_of_a_failure_are_members() {
    let failure = Failure::new(ErrorReason::TargetRequired, "target required")
        .with_metadata("correlationId", "01CALL")
        .with_metadata("status", "999")
        .with_violations([Violation {
            pointer: "/vmid".into(),
            keyword: "required".into(),
            message: "is missing".into(),
        }])
        .with_targets([
            TargetChoice {
                id: "01A".into(),
                name: "a".into(),
            },
            TargetChoice {
                id: "01B".into(),
                name: "b".into(),
            },
        ])
        .retry_after(std::time::Duration::from_millis(1001));
    let world = World::with(ScriptedCore::failing(failure), Default::default()).await;
    let answer = world.post("/api/mcp/invoke", r#"{"name":"a.b"}"#).await;
    assert_eq!(
        answer.json(),
        json!({
            "type": "urn:toolgate:error:target-required",
            "title": "target required",
            "status": 400,
            "detail": "target required",
            "instance": "urn:toolgate:call:01CALL",
            "reason": "TARGET_REQUIRED",
            "violations": [{"pointer": "/vmid", "keyword": "required", "message": "is missing"}],
            "targets": [{"id": "01A", "name": "a"}, {"id": "01B", "name": "b"}],
            "retryAfterMs": 1001,
            "correlationId": "01CALL",
        })
    );
    assert_eq!(answer.header("retry-after"), "2");
}

#[tokio::test]
async fn retry_after_is_whole_seconds_and_at_least_one() {
    let world = World::start().await;
    for (ms, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (59_999, "60")] {
        let wait = std::time::Duration::from_millis(ms);
        *world.core.failure.lock().unwrap() =
            Some(Failure::new(ErrorReason::RateLimited, "wait").retry_after(wait));
        let answer = world.get("/api/mcp/tools").await;
        answer.problem(429, "RATE_LIMITED");
        assert_eq!(answer.header("retry-after"), seconds, "{ms} ms");
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_fault_and_the_gateway_goes_on() {
    let world = World::start().await;
    *world.core.panic.lock().unwrap() = true;
    let answer = world.get("/api/mcp/tools").await;
    let problem = answer.problem(500, "INTERNAL");
    assert!(
        !problem["detail"].as_str().unwrap().contains("scripted"),
        "{problem}"
    );
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    *world.core.panic.lock().unwrap() = false;
    assert_eq!(world.get("/api/mcp/tools").await.status, 200);
}
