//! Garbage, too much, a refusal of the second layer, a lost socket: each has its reason, none is passed on, and all
//! are on the record. Gate 018: the host's own grammar refuses too.

use serde_json::{Value, json};
use toolgate_contract::frame::RefusalCode;
use toolgate_test_support::{Ground, Reply, World, on_each_store};

#[tokio::test]
async fn what_a_host_answers_wrongly_is_an_error_and_recorded() {
    let cases = [
        (Reply::Garbage, 502, "UPSTREAM_INVALID"),
        (Reply::Shapeless, 502, "UPSTREAM_INVALID"),
        (Reply::Huge(9 * 1024 * 1024), 502, "UPSTREAM_TOO_LARGE"),
        (Reply::Refuses(RefusalCode::TooLarge), 502, "UPSTREAM_TOO_LARGE"),
        (Reply::Refuses(RefusalCode::Failed), 502, "UPSTREAM_FAILED"),
        (Reply::Refuses(RefusalCode::WriteRejected), 403, "WRITE_REJECTED"),
        (Reply::Drop, 503, "RELAY_LOST"),
    ];
    for (reply, status, reason) in cases {
        let world = World::new().host("web-1").start().await;
        world.host("web-1").replies(reply.clone());

        let refusal = world.run("uptime").await.unwrap_err();

        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (status, reason),
            "{reply:?}"
        );
        let text = refusal.problem.to_string();
        assert!(!text.contains("told to") && !text.contains("not json"), "{text}");
        let rows = world.audit().await;
        let recorded = rows.iter().filter(|row| row["reason"] == reason);
        assert_eq!(recorded.count(), 1, "{reply:?}: {rows:?}");
    }
}

on_each_store!(a_command_that_ends_with_a_code_is_an_answer);

async fn a_command_that_ends_with_a_code_is_an_answer(ground: Ground) {
    let world = ground.world().host("web-1").start().await;

    for code in [3, 4, 1] {
        world.host("web-1").replies(Reply::Exits(code));
        let outcome = world.run("systemctl status nginx").await.unwrap();
        assert_eq!(outcome.structured()["exit_code"], code);
        assert_eq!(outcome.result["isError"], false);
    }
}

/// What a relay of ours would send, with these members of the structured result replaced.
fn answer(text: &str, members: &Value) -> Value {
    let mut structured = json!({
        "command": "uptime", "exit_code": 0, "stdout": "up", "stderr": "", "truncated": false, "duration_ms": 1
    });
    for (name, value) in members.as_object().into_iter().flatten() {
        structured[name] = value.clone();
    }
    json!({"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": false})
}

on_each_store!(a_relay_that_was_taken_over_cannot_answer_what_the_tool_does_not);

async fn a_relay_that_was_taken_over_cannot_answer_what_the_tool_does_not(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let mut image = answer("up", &json!({}));
    image["content"][0] = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let refused = [
        answer("up", &json!({"exit_code": "zero"})).to_string(),
        answer("up", &json!({"stdout": ["up"]})).to_string(),
        image.to_string(),
        answer("up", &json!({}))
            .to_string()
            .replace(r#""exit_code":0"#, r#""exit_code":1e999"#),
        answer("up", &json!({}))
            .to_string()
            .replace(r#""isError":false"#, r#""isError":false,"isError":true"#),
        answer("up", &json!({}))
            .to_string()
            .replace(r#""stdout":"up""#, r#""stdout":"\ud800""#),
    ];
    for (n, says) in refused.iter().enumerate() {
        world.host("web-1").replies(Reply::Says(says.clone()));

        let refusal = world.run("uptime").await.unwrap_err();

        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (502, "UPSTREAM_INVALID"),
            "{says}"
        );
        let rows = world.audit().await;
        let recorded = rows.iter().filter(|row| row["reason"] == "UPSTREAM_INVALID");
        assert_eq!(recorded.count(), n + 1, "{says}");
    }
}

on_each_store!(what_a_relay_sends_beside_the_answer_stays_behind);

async fn what_a_relay_sends_beside_the_answer_stays_behind(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let members = json!({"evil": "<script>", "stdout": format!("\u{1b}[31m\u{0}{}", "a".repeat(1_000_000))});
    let says = answer("\u{1b}]0;mine\u{7}", &members).to_string();
    world.host("web-1").replies(Reply::Says(says));

    let outcome = world.run("uptime").await.unwrap();

    let structured = outcome.structured();
    let stdout = structured["stdout"].as_str().unwrap();
    assert_eq!((&stdout[..5], stdout.len()), ("[31ma", 256 * 1024));
    assert_eq!(structured["truncated"], true);
    assert!(structured.get("evil").is_none());
    assert!(!outcome.text().contains("mine") && !outcome.text().contains('\u{1b}'));
    assert_eq!(outcome.result["content"].as_array().map(Vec::len), Some(1));
}
