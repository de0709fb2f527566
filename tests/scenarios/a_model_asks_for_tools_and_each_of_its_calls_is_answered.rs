//! The turn of a model's conversation, in both of OpenAI's forms: whatever it asks for is answered in its order, what is
//! wrong with one call harms no other, and all of it is on the record.

use serde_json::{Value, json};
use toolgate_test_support::{
    Ground, Reply, Role, on_each_store,
    turn::{TOOL_CALLS, message, reason, told},
};

const RUN: &str = "ssh_run_whitelisted_command";

on_each_store!(a_model_asks_for_tools_and_each_of_its_calls_is_answered);

async fn a_model_asks_for_tools_and_each_of_its_calls_is_answered(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let (_, agent) = world.admin().make_token("agent", Role::Engineer).await.unwrap();
    world
        .host("web-1")
        .replies(Reply::Prints("héllo 😀 \"quoted\"\n".into()));

    // The list is that of REST under its function names, and every name in it may be called.
    let listed = agent.get("/openai/v1/tools").await.ok().unwrap();
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    let rest = agent.get("/api/mcp/tools").await.ok().unwrap();
    let functions: Vec<_> = rest["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["functionName"].clone())
        .collect();
    assert_eq!(names, functions);
    assert!(names.contains(&json!(RUN)));

    let turn = message(&[
        ("call_1", RUN, r#"{"command":"uptime"}"#),
        ("call_2", "proxmox.start_vm", r#"{"vmid":100}"#),
        ("call_3", RUN, r#"{"command":"#),
        ("call_4", "no_such_tool", "{}"),
        ("call_5", "ssh.run_whitelisted_command", r#"{"command":"uptime"}"#),
        ("call_6", RUN, r#"{"command":"uptime","force":9007199254740993}"#),
        ("call_7", RUN, r#"{"command":"rm -rf /"}"#),
    ]);
    let answer = agent.post(TOOL_CALLS, turn).await.ok().unwrap();

    let told = told(&answer);
    let ids: Vec<_> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "call_1", "call_2", "call_3", "call_4", "call_5", "call_6", "call_7"
        ]
    );
    for at in [0, 4] {
        let result: Value = serde_json::from_str(&told[at].1).expect("the structured result");
        assert_eq!(result["stdout"], "héllo 😀 \"quoted\"\n");
    }
    assert_eq!(reason(&told[1].1), "WRITE_REJECTED");
    assert_eq!(reason(&told[2].1), "REQUEST_MALFORMED");
    assert_eq!(reason(&told[3].1), "TOOL_NOT_FOUND");
    assert_eq!(reason(&told[5].1), "ARGUMENTS_INVALID");
    assert_eq!(reason(&told[6].1), "WRITE_REJECTED");
    assert_eq!(world.host("web-1").received(), ["uptime", "uptime"]);

    // All of it is on the record, as this dialect's.
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["facade"] == "openai"), "{rows:?}");
    let ids: Vec<_> = rows.iter().map(|row| row["correlationId"].clone()).collect();
    for at in [0, 4] {
        assert!(ids.contains(&answer["calls"][at]["correlationId"]), "{answer}");
    }
    let writes = world.audit_of("adapter.write_rejected").await;
    assert_eq!(writes.len(), 2);
    assert!(writes.iter().all(|row| row["facade"] == "openai"), "{writes:?}");
}

on_each_store!(a_turn_of_the_responses_api_is_answered_by_call_id);

async fn a_turn_of_the_responses_api_is_answered_by_call_id(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_b", "name": RUN, "arguments": "{\"command\":\"uptime\"}"},
        {"type": "function_call", "id": "fc_2", "call_id": "call_a", "name": RUN, "arguments": "{\"command\":\"rm -rf /\"}"},
    ]);
    for body in [json!({"object": "response", "output": output}), output.clone()] {
        let answer = world.admin().post(TOOL_CALLS, body).await.ok().unwrap();
        let items = answer["output"].as_array().unwrap();
        let ids: Vec<_> = items
            .iter()
            .map(|item| item["call_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["call_b", "call_a"]);
        assert!(items.iter().all(|item| item["type"] == "function_call_output"));
        assert!(items[0]["output"].as_str().unwrap().contains("stdout"));
        assert_eq!(reason(items[1]["output"].as_str().unwrap()), "WRITE_REJECTED");
    }
}
