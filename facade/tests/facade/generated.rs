//! Routes that come from the contract's table.

use serde_json::json;
use toolgate_contract::v1::{ErrorReason, Failure};

use crate::world::World;

#[tokio::test]
async fn a_body_fills_the_request_in_either_spelling() {
    let world = World::start().await;
    for body in [
        r#"{"name":"ci","role":"agent","expiresAt":"2030-01-01T00:00:00Z"}"#,
        r#"{"name":"ci","role":"agent","expires_at":"2030-01-01T00:00:00Z","profile":null}"#,
    ] {
        let answer = world.post("/api/tokens", body).await;
        assert_eq!(answer.status, 201);
        assert_eq!(
            answer.json(),
            json!({
                "id": "01JDZ3V8Q4T7X9K2M5N6P8R0TK",
                "token": "tgk_a_b",
                "name": "ci",
                "role": "agent",
                "createdAt": "2026-01-02T03:04:05.000006Z",
                "expiresAt": "2030-01-01T00:00:00Z",
            })
        );
    }
    assert_eq!(
        world.core.asked("CreateToken")[0].metadata["authorization"],
        "Bearer tgk_t_secret"
    );
}

#[tokio::test]
async fn lists_in_bodies_are_read_and_written() {
    let world = World::start().await;
    let answer = world
        .ask(
            "PUT",
            "/api/mcp/policy",
            &[],
            r#"{"disabledTools":["a.b","c.d"]}"#,
        )
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.text()),
        (200, r#"{"disabledTools":["a.b","c.d"]}"#)
    );
    assert_eq!(
        world.get("/api/mcp/policy").await.text(),
        r#"{"disabledTools":[]}"#
    );
}

#[tokio::test]
async fn a_query_fills_the_request_in_either_spelling() {
    let world = World::start().await;
    let answer = world
        .get("/api/audit/events?page_size=7&targetId=01T&since=2026-01-01T00%3A00%3A00Z&tool=a+b")
        .await;
    assert_eq!(answer.status, 200);
    let asked = &world.core.asked("ListEvents")[0].message;
    for part in [
        "page_size: Some(7)",
        "target_id: Some(\"01T\")",
        "since: Some(\"2026-01-01T00:00:00Z\")",
        "tool: Some(\"a b\")",
    ] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}

#[tokio::test]
async fn big_numbers_and_raw_json_come_out_as_they_went_in() {
    let world = World::start().await;
    let answer = world.get("/api/audit/events").await;
    let text = answer.text();
    assert!(
        text.starts_with(r#"{"events":[{"seq":9007199254740993,"event":"adapter.capability_invoked","#),
        "{text}"
    );
    assert!(text.contains(r#""detail":{"big":9007199254740993}"#), "{text}");
    // Defaults are written, empty JSON is not.
    let events = answer.json();
    assert_eq!(events["events"][1]["durationMs"], 0);
    assert_eq!(events["events"][1]["principal"], "");
    assert!(events["events"][1].get("detail").is_none());
    assert_eq!(events["nextCursor"], "c");
}

#[tokio::test]
async fn nested_messages_keep_their_own_json() {
    let world = World::start().await;
    let targets = world.get("/api/mcp/adapter").await.json();
    assert_eq!(
        targets["targets"][0]["config"],
        json!({"hostname": "web-1.internal"})
    );
    assert_eq!(
        targets["targets"][0]["validation"]["stages"][1]["reason"],
        "not enrolled"
    );
    assert!(
        targets["targets"][0]["validation"]["stages"][0]
            .get("reason")
            .is_none()
    );
    assert!(targets["targets"][1].get("config").is_none());
    assert!(targets["targets"][1].get("validation").is_none());
    assert_eq!(targets["nextPageToken"], "");
}

#[tokio::test]
async fn path_variables_are_decoded_and_sent() {
    let world = World::start().await;
    assert_eq!(world.get("/api/mcp/adapter/a%2Fb%20c").await.status, 200);
    assert_eq!(
        world.core.asked("GetTarget")[0].message,
        "GetTargetRequest { id: \"a/b c\" }"
    );
    let gone = world.ask("DELETE", "/api/tokens/01T", &[], "").await;
    assert_eq!((gone.status.as_u16(), gone.body.len()), (204, 0));
    assert_eq!(
        world.post("/api/mcp/adapter/01T/test", "").await.text(),
        r#"{"ok":true,"stages":[]}"#
    );
    assert_eq!(
        world.post("/api/mcp/adapter/01T/enrolment", "").await.text(),
        "{}"
    );
    world
        .get("/api/mcp/adapter/%ff")
        .await
        .problem(400, "REQUEST_MALFORMED");
}

#[tokio::test]
async fn an_export_is_streamed_as_it_comes() {
    let world = World::start().await;
    *world.core.export.lock().unwrap() = vec![Ok("{\"seq\":1}\n"), Ok("{\"seq\":2}\n{\"seq\":3}\n"), Ok("")];
    let answer = world.get("/api/audit/export?afterSeq=9007199254740993").await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, "application/x-ndjson")
    );
    assert_eq!(answer.text(), "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n");
    assert!(
        world.core.asked("ExportEvents")[0]
            .message
            .contains("Some(9007199254740993)")
    );
}

#[tokio::test]
async fn an_export_is_of_the_content_type_it_says_among_those_of_the_contract() {
    let world = World::start().await;
    let cases = [
        ("csv", "text/csv"),
        ("ndjson", "application/x-ndjson"),
        ("html", "application/x-ndjson"),
    ];
    for (format, expected) in cases {
        *world.core.export.lock().unwrap() = vec![Ok("1"), Ok("2")];
        let answer = world.get(&format!("/api/audit/export?format={format}")).await;
        assert_eq!(answer.header("content-type"), expected, "{format}");
        assert_eq!(answer.text(), "12");
    }
}

#[tokio::test]
async fn a_place_in_a_path_is_a_number() {
    let world = World::start().await;
    let event = world.get("/api/audit/events/9007199254740993").await.json();
    assert_eq!(event["bytes"], "Af8=");
    assert!(event.get("checkpoint").is_none());
    assert_eq!(
        world.core.asked("GetEvent")[0].message,
        "GetEventRequest { seq: 9007199254740993 }"
    );
    for place in ["a", "1.5", "9223372036854775808", "%00"] {
        world
            .get(&format!("/api/audit/events/{place}"))
            .await
            .problem(400, "REQUEST_MALFORMED");
    }
}

#[tokio::test]
async fn an_export_that_fails_is_a_problem_or_cut_but_never_ended() {
    let world = World::start().await;
    let failure = || Err(Failure::new(ErrorReason::AuditUnavailable, "later").into_status());
    *world.core.export.lock().unwrap() = vec![failure()];
    world
        .get("/api/audit/export")
        .await
        .problem(503, "AUDIT_UNAVAILABLE");

    *world.core.export.lock().unwrap() = vec![Ok("{\"seq\":1}\n"), failure()];
    let request = format!(
        "GET /api/audit/export HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        world.address
    );
    let answer = world.raw(request).await;
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn unknown_doubled_and_unfit_parameters_are_refused_by_name() {
    let world = World::start().await;
    for (path, name) in [
        ("/api/audit/events?pageSize=many", "pageSize"),
        ("/api/audit/events?pageSize=-1", "pageSize"),
        ("/api/audit/events?pageSize=1&page_size=2", "page_size"),
        ("/api/audit/events?colour=red", "colour"),
        ("/api/audit/events?access_token=tgk_t_s", "access_token"),
        ("/api/mcp/adapter/01T?id=01X", "id"),
        ("/api/audit/events?tool=%ff", "tool"),
    ] {
        let problem = world.get(path).await.problem(400, "REQUEST_MALFORMED");
        assert!(problem["detail"].as_str().unwrap().contains(name), "{problem}");
    }
    world
        .post("/api/tokens?name=x", r#"{"name":"x","role":"agent"}"#)
        .await
        .problem(400, "REQUEST_MALFORMED");
    assert!(world.core.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_fault_in_a_body_names_its_place() {
    let world = World::start().await;
    for (verb, path, body, detail, pointer) in [
        (
            "PUT",
            "/api/mcp/policy",
            r#"{"disabledTools":["a",5]}"#,
            "/disabledTools/1",
            "/disabledTools/1",
        ),
        (
            "PUT",
            "/api/mcp/policy",
            r#"{"disabledTools":"a"}"#,
            "/disabledTools",
            "/disabledTools",
        ),
        (
            "POST",
            "/api/tokens",
            r#"{"name":"x","colour":1}"#,
            "unknown key \"colour\"",
            "/colour",
        ),
        (
            "POST",
            "/api/tokens",
            r#"{"name":"x","Name":"y"}"#,
            "unknown key \"Name\"",
            "/Name",
        ),
        (
            "POST",
            "/api/tokens",
            r#"{"name":"x","name":"y"}"#,
            "given twice",
            "/name",
        ),
        (
            "POST",
            "/api/tokens",
            r#"{"expiresAt":"x","expires_at":"y"}"#,
            "given twice",
            "/expires_at",
        ),
        ("POST", "/api/tokens", r#"{"name":7}"#, "line 1 column", "/name"),
        (
            "POST",
            "/api/tokens",
            "{\"name\":\n  x}",
            "line 2 column 3",
            "/name",
        ),
        ("POST", "/api/tokens", r#"{"a~b/c":1}"#, "unknown key", "/a~0b~1c"),
        ("POST", "/api/tokens", r#"{"name":"x"} {}"#, "trailing", ""),
        ("POST", "/api/tokens", r#"{"name":"#, "EOF", "/name"),
    ] {
        let problem = world
            .ask(verb, path, &[], body)
            .await
            .problem(400, "REQUEST_MALFORMED");
        assert!(
            problem["detail"].as_str().unwrap().contains(detail),
            "{body}: {problem}"
        );
        assert_eq!(problem["violations"][0]["pointer"], pointer, "{body}");
    }
    assert!(world.core.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn where_every_field_may_be_left_out_so_may_the_body_and_what_is_unknown_is_still_told() {
    let world = World::start().await;
    let path = "/api/sign-in/code";
    for (body, expected) in [
        ("", "token: None"),
        ("{}", "token: None"),
        (r#"{"token":"eva"}"#, r#"token: Some("eva")"#),
    ] {
        assert_eq!(world.post(path, body).await.status, 201, "{body}");
        let asked = world.core.asked("CreateSignInCode").pop().unwrap();
        assert!(asked.message.contains(expected), "{}", asked.message);
    }
    for body in [r#"{"principal":"eva"}"#, "[]", "null"] {
        let told = world.post(path, body).await.problem(400, "REQUEST_MALFORMED");
        if body.contains("principal") {
            assert!(told["detail"].as_str().unwrap().contains("principal"), "{told}");
        }
    }
    assert_eq!(world.core.asked("CreateSignInCode").len(), 3);
    // A route that needs something says so.
    world
        .post("/api/tokens", "")
        .await
        .problem(400, "REQUEST_MALFORMED");
}
