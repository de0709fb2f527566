//! Gate B16. Whatever a back end answers, or does not, has its reason, its text and its cap; a success is told to the
//! byte.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{
    BackEnds, Dialect, Outcome, Refusal, World,
    back_ends::{Says, TOKEN},
};

/// Of a body that is no success.
const MOST: usize = 4_096;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_back_end_says_is_told_within_its_cap() {
    let world = World::new()
        .upstream_timeout(Duration::from_secs(1))
        .start()
        .await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let get = async |says: Says| {
        back_ends.memory.says_next(says);
        world.call("get_memory", json!({"id": "m"})).await
    };

    let body = "{\"id\": 9007199254740993,\r\n \"text\": \"\u{e9}\" }\n";
    let told = ok(get(Says::status(200, body)).await);
    assert_eq!(told.text(), body);
    assert!(told.result["structuredContent"].is_null(), "{}", told.result);
    let megabyte = "x".repeat(1 << 20);
    assert_eq!(
        ok(get(Says::status(200, megabyte.clone())).await).text(),
        megabyte
    );
    assert!(ok(get(Says::status(204, "")).await).text().contains("204"));

    let no = refusal(get(Says::status(401, "SECRET")).await);
    assert_eq!((no.status, no.reason.as_str()), (503, "CREDENTIAL_REJECTED"));
    assert!(!no.problem.to_string().contains("SECRET"), "{}", no.problem);

    for (status, body, is_told) in [
        (403, "SECRET", false),
        (404, "no such memory", true),
        (409, "taken", true),
    ] {
        let outcome = get(Says::status(status, body)).await.unwrap();
        assert_eq!(outcome.result["isError"], true, "{status}");
        assert!(outcome.text().contains(&status.to_string()), "{}", outcome.text());
        assert_eq!(outcome.text().contains(body), is_told, "{}", outcome.text());
    }
    let long = get(Says::of_size(422, 1 << 20)).await.unwrap();
    assert_eq!(long.text().matches('x').count(), MOST);
    assert!(long.text().contains("cut"), "the text says so");

    let failed = refusal(get(Says::of_size(500, 1 << 20)).await);
    assert_eq!((failed.status, failed.reason.as_str()), (502, "UPSTREAM_FAILED"));
    let detail = failed.problem["detail"].as_str().unwrap();
    assert_eq!(detail.matches('x').count(), MOST, "{}", &detail[..200]);
    assert!(detail.contains("500"), "{}", &detail[..200]);

    let limited = refusal(get(Says::status(429, "").with("retry-after", "7")).await);
    assert_eq!(
        (limited.status, limited.reason.as_str(), limited.retry_after),
        (429, "UPSTREAM_RATE_LIMITED", Some(7))
    );
    for (says, status, reason) in [
        (Says::Hang, 504, "UPSTREAM_TIMEOUT"),
        (Says::Garbage, 502, "UPSTREAM_INVALID"),
        (Says::Half, 502, "UPSTREAM_UNREACHABLE"),
        (Says::HangUp, 502, "UPSTREAM_UNREACHABLE"),
        (Says::status(200, &b"\xff\xfe"[..]), 502, "UPSTREAM_INVALID"),
        (
            Says::status(302, "").with("location", "/elsewhere"),
            502,
            "UPSTREAM_INVALID",
        ),
        (Says::of_size(200, 8 * 1024 * 1024 + 1), 502, "UPSTREAM_TOO_LARGE"),
    ] {
        let told = format!("{says:?}");
        let no = refusal(get(says).await);
        let told: String = told.chars().take(40).collect();
        assert_eq!((no.status, no.reason.as_str()), (status, reason), "{told}");
    }
    // What broke off may have been carried out, and nobody is told that there was no connection.
    back_ends.memory.forget();
    for says in [Says::Half, Says::HangUp] {
        let told = format!("{says:?}");
        back_ends.memory.says_next(says);
        let no = refusal(world.call("create_memory", json!({"text": "t"})).await);
        let detail = no.problem["detail"].as_str().unwrap();
        assert_eq!(
            (no.status, no.reason.as_str()),
            (502, "UPSTREAM_UNREACHABLE"),
            "{told}"
        );
        assert!(
            detail.contains("may have been carried out all the same"),
            "{told}: {detail}"
        );
    }
    assert_eq!(back_ends.memory.asked().len(), 2, "a write is sent once");
    let rows = world.audit_of("adapter.capability_invoked").await;
    let failures = rows.iter().filter(|row| row["result"] == "failure").count();
    assert_eq!((rows.len(), failures), (19, 16));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_is_told_alike_in_every_dialect_and_without_the_credential() {
    let world = World::new().start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    back_ends
        .memory
        .says(Says::status(500, format!("disk full, {TOKEN}")));
    let refusal = refusal(world.call("get_memory", json!({"id": "m"})).await);
    let told = refusal.problem["detail"].as_str().unwrap();
    assert!(
        told.ends_with("500 Internal Server Error: disk full, [credential withheld]"),
        "{told}"
    );
    for dialect in Dialect::ALL {
        let told = world
            .admin()
            .by(dialect)
            .await
            .call("get_memory", &json!({"id": "m"}))
            .await;
        let told = format!("{told:?}");
        assert!(told.contains("UPSTREAM_FAILED"), "{dialect:?}: {told}");
        assert!(!told.contains("CANARY"), "{dialect:?}: {told}");
    }
}

fn ok(told: Result<Outcome, Refusal>) -> Outcome {
    let outcome = told.unwrap();
    assert_eq!(outcome.result["isError"], false, "{}", outcome.result);
    outcome
}

fn refusal(told: Result<Outcome, Refusal>) -> Refusal {
    match told {
        Err(refusal) => refusal,
        Ok(outcome) => panic!("{}", outcome.result),
    }
}
