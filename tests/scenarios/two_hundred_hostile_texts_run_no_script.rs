//! Whatever stands in results, names, errors and the record: on every page it is text. A real browser walks them.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_test_support::{Browser, Does, Role, World};

/// Longest name of a token.
const NAME: usize = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_hostile_texts_run_no_script() {
    let Some(browser) = Browser::here("two_hundred_hostile_texts_run_no_script") else {
        return;
    };
    let payloads = payloads();
    assert_eq!(payloads.len(), 200);
    let world = World::new()
        .unlimited()
        .project_with("evil", &[&tool(&payloads)])
        .default_project("evil")
        .start()
        .await;
    // In names, and in the rows that tell of them.
    let mut named = vec![];
    for payload in payloads.iter().filter(|payload| payload.chars().count() <= NAME) {
        if let Ok((_, caller)) = world.admin().make_token(payload, Role::Agent).await {
            named.push(caller);
        }
    }
    assert!(named.len() > 100, "{} names were taken", named.len());
    // As the principal of rows, and in what a tool was asked.
    world.project("evil").when("says", Does::text("calm"));
    for (caller, payload) in named.iter().zip(&payloads).take(40) {
        caller.call("says", json!({"word": payload})).await.unwrap();
    }
    // In a result: as text, as keys, as values.
    world
        .project("evil")
        .when("says", Does::Answers(result(&payloads)));

    let walked = browser
        .walk(
            "hostile.mjs",
            world.url(),
            world.admin().token(),
            json!({"payloads": payloads}),
        )
        .await;

    let walked = walked.unwrap_or_else(|complaint| panic!("{complaint}"));
    assert_eq!(walked.steps.len(), 7, "{:?}", walked.steps);
}

fn payloads() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/payloads.txt");
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A tool whose words are hostile, apart from its name.
fn tool(payloads: &[String]) -> String {
    json!({
        "name": "says",
        "title": payloads[1],
        "description": payloads[..40].join(" "),
        "inputSchema": {
            "type": "object",
            "properties": {
                "word": {"type": "string", "title": payloads[2], "description": payloads[3], "examples": [payloads[4]]},
                "one_of": {"type": "string", "enum": payloads[5..15]}
            }
        },
        "annotations": {"readOnlyHint": true}
    })
    .to_string()
}

fn result(payloads: &[String]) -> String {
    let keys: serde_json::Map<String, Value> = payloads
        .iter()
        .map(|payload| (payload.clone(), Value::from(payload.as_str())))
        .collect();
    let content: Vec<Value> = payloads
        .iter()
        .map(|payload| json!({"type": "text", "text": payload}))
        .collect();
    json!({"content": content, "structuredContent": {"keys": keys, "list": payloads}}).to_string()
}
