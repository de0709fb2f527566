//! A model writes arguments that are no JSON, makes up a tool, asks for much at once, goes on for ten rounds or for ever:
//! each call is answered by a message that the model's API takes, and the model speaks when it wants to.

use serde_json::{Value, json};
use toolgate_llm_mock::{LlmMock, Script};
use toolgate_test_support::{Caller, Ground, Reply, on_each_store, turn::TOOL_CALLS};

const ASK: &str = r#"Call ssh_run_whitelisted_command with {"command": "uptime"}."#;
const PRINTED: &str = "up 3 days, grüße\n";
/// Whoever talks to a model that never ends has to.
const MOST: usize = 12;
const MODELS: [(&str, &[&str]); 6] = [
    ("mock", &[""]),
    ("mock-bad-json", &["REQUEST_MALFORMED"]),
    ("mock-unknown-tool", &["TOOL_NOT_FOUND"]),
    ("mock-parallel", &["", "TOOL_NOT_FOUND", "", "REQUEST_MALFORMED"]),
    ("mock-ten-rounds", &[""; 10]),
    ("mock-never-ends", &[""; MOST]),
];

on_each_store!(a_model_that_misbehaves_never_breaks_its_conversation);

async fn a_model_that_misbehaves_never_breaks_its_conversation(ground: Ground) {
    let world = ground.world().unlimited().host("web-1").start().await;
    world.host("web-1").replies(Reply::Prints(PRINTED.into()));
    let mock = LlmMock::start(Script::named("mock").expect("a script"))
        .await
        .unwrap();
    let model = Caller::new(mock.url(), "", "none");
    for (name, expected) in MODELS {
        let (reasons, said) = chat(world.admin(), &model, name).await;
        assert_eq!(reasons, expected, "{name} by chat");
        spoke(name, expected, said.as_deref());
        let (reasons, said) = responses(world.admin(), &model, name).await;
        assert_eq!(reasons, expected, "{name} by responses");
        spoke(name, expected, said.as_deref());
    }
    let ran: usize = MODELS
        .iter()
        .map(|(_, told)| told.iter().filter(|reason| reason.is_empty()).count())
        .sum();
    assert_eq!(world.host("web-1").received().len(), 2 * ran);
}

/// The model's own words hold what it was told.
fn spoke(name: &str, told: &[&str], said: Option<&str>) {
    if name == "mock-never-ends" {
        assert_eq!(said, None);
        return;
    }
    let said = said.expect(name);
    for reason in told {
        let known = if reason.is_empty() { "grüße" } else { reason };
        assert!(said.contains(known), "{name}: {known} is missing in {said}");
    }
}

/// Talks until the model speaks; gives the reason of each tool message, and what it said.
async fn chat(gate: &Caller, model: &Caller, name: &str) -> (Vec<String>, Option<String>) {
    let tools = gate.get("/openai/v1/tools").await.ok().unwrap()["tools"].clone();
    let mut messages = vec![json!({"role": "user", "content": ASK})];
    let mut reasons = Vec::new();
    for _ in 0..MOST {
        let asked = json!({"model": name, "messages": messages, "tools": tools});
        let completion = model.post("/chat/completions", asked).await.ok().unwrap();
        let message = completion["choices"][0]["message"].clone();
        if let Some(text) = message["content"].as_str() {
            return (reasons, Some(text.to_owned()));
        }
        messages.push(message);
        let done = gate.post(TOOL_CALLS, completion).await.ok().unwrap();
        for message in done["messages"].as_array().unwrap() {
            reasons.push(reason(&message["content"]));
            messages.push(message.clone());
        }
    }
    (reasons, None)
}

/// The same by the Responses API.
async fn responses(gate: &Caller, model: &Caller, name: &str) -> (Vec<String>, Option<String>) {
    let tools = gate.get("/openai/v1/tools?format=responses").await.ok().unwrap()["tools"].clone();
    let mut input = vec![json!({"role": "user", "content": ASK})];
    let mut reasons = Vec::new();
    for _ in 0..MOST {
        let asked = json!({"model": name, "input": input, "tools": tools});
        let response = model.post("/responses", asked).await.ok().unwrap();
        if let Some(text) = response["output"][0]["content"][0]["text"].as_str() {
            return (reasons, Some(text.to_owned()));
        }
        input.extend(response["output"].as_array().unwrap().clone());
        let done = gate.post(TOOL_CALLS, response).await.ok().unwrap();
        for item in done["output"].as_array().unwrap() {
            reasons.push(reason(&item["output"]));
            input.push(item.clone());
        }
    }
    (reasons, None)
}

/// Why a call was not carried out; empty where it was.
fn reason(content: &Value) -> String {
    toolgate_test_support::turn::reason(content.as_str().unwrap())
}
