//! The beginning of a conversation, and what every message must look like.

use serde_json::{Value, json};

use crate::{
    mcp::{MODERN, initialize, request},
    world::World,
};

/// LC1, V3, and reports #14 and #15.
#[tokio::test]
async fn a_revision_that_is_spoken_is_echoed_and_any_other_is_negotiated_down() {
    let world = World::start().await;
    let check = async |asked: &str, expected: &str| {
        for headers in [vec![], vec![("mcp-protocol-version", asked)]] {
            let answer = world
                .say(&headers, request(1, "initialize", initialize(asked)))
                .await;
            assert_eq!(answer.result()["protocolVersion"], expected, "{asked}");
        }
    };
    check("2024-11-05", "2024-11-05").await;
    check("2025-03-26", "2025-03-26").await;
    check("2025-06-18", "2025-06-18").await;
    check("2025-11-25", "2025-11-25").await;
    check("1999-01-01", "2025-11-25").await;
    check(MODERN, "2025-11-25").await;
    check("2099-12-31", "2025-11-25").await;
}

/// LC2, LC4: nothing is declared that is not served.
#[tokio::test]
async fn the_beginning_tells_who_answers_and_what_there_is() {
    let world = World::start().await;
    let answer = world
        .say(&[], request("a", "initialize", initialize("2025-06-18")))
        .await;
    assert_eq!(answer.json()["id"], "a");
    let result = answer.result();
    assert_eq!(result["serverInfo"]["name"], "toolgate");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        result["capabilities"],
        json!({"logging": {}, "tools": {"listChanged": true}})
    );
    assert!(
        result["instructions"]
            .as_str()
            .is_some_and(|text| text.contains("read-only"))
    );
    assert!(result.get("resultType").is_none() && result.get("_meta").is_none());
}

/// JR1, PG1: ids come back as they were written; what is none is refused.
#[tokio::test]
async fn an_id_is_a_text_or_a_whole_number_and_comes_back_as_it_was_written() {
    let world = World::start().await;
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    for id in [
        "\"7\"",
        "7",
        "0",
        "-1",
        "9007199254740993",
        "\"\"",
        r#""\u0041\"b""#,
    ] {
        let answer = world.say(&[], ping(id)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(
            answer.text(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
    // Report #46: an id of null is no notification.
    for id in [
        "null",
        "true",
        "1.5",
        "1e3",
        "{}",
        "[1]",
        "92233720368547758070",
        "-0.0",
    ] {
        let answer = world.say(&[], ping(id)).await.fault(400, -32600);
        assert_eq!(answer["id"], Value::Null);
    }
}
