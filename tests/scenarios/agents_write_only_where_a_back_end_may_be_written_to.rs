//! Agent tools are there where their back end is; those that write where one of them may be written to. Hidden only for
//! that reason, a write is a rejected one, on the record, and the back end is left alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolgate_test_support::{AgentChat, BackEnds, Dialect, Told, World};

const TABLE: &str = include_str!("../golden/agent-tools.json");

#[tokio::test]
async fn tools_come_and_go_with_their_back_end_and_writes_with_its_access() {
    let world = World::new().start().await;
    let admin = world.admin();
    assert_eq!(listed(&world).await.len(), 9);
    let refusal = world.call("chat_list_rooms", json!({})).await.unwrap_err();
    assert_eq!(refusal.reason, "TOOL_NOT_FOUND");

    let chat = AgentChat::start().await;
    let added = admin
        .add_target(
            AgentChat::ADAPTER,
            "chat",
            chat.settings("read_only"),
            chat.credential(),
        )
        .await
        .unwrap();
    let id = added["id"].as_str().unwrap();
    assert_eq!(added["config"]["access"], "read_only");
    let reads = listed(&world).await;
    let of_chat: BTreeSet<String> = tools_of("chat", "read");
    assert!(reads.is_superset(&of_chat), "{reads:?}");
    assert!(reads.contains("report_internal_issue"));
    assert_eq!(reads.len(), 9 + of_chat.len() + 1);

    // Polling moves a cursor, so it is a write although it is a GET.
    chat.forget();
    for tool in ["chat_send_message", "chat_poll_messages"] {
        let refusal = world.call(tool, json!({})).await.unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (403, "WRITE_REJECTED"),
            "{tool}"
        );
    }
    assert!(chat.asked().is_empty());
    let rows = world.audit_of("adapter.write_rejected").await;
    let capabilities: Vec<&Value> = rows.iter().map(|row| &row["capability"]).collect();
    assert_eq!(capabilities, ["chat_send_message", "chat_poll_messages"]);

    let mut settings = chat.settings("read_write");
    settings["access"] = json!("read_write");
    let changed = admin
        .patch(&format!("/api/mcp/adapter/{id}"), json!({"config": settings}))
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(listed(&world).await.len(), 9 + 10 + 1);
    let arguments = json!({"room_id": "r", "participant_id": "p"});
    world.call("chat_poll_messages", arguments).await.unwrap();
    assert_eq!(chat.last().unwrap().line(), "GET /rooms/r/messages?participant=p");

    let off = admin
        .patch(&format!("/api/mcp/adapter/{id}"), json!({"disabled": true}))
        .await;
    assert_eq!(off.status, 200, "{}", off.text);
    assert_eq!(listed(&world).await.len(), 9);
    let refusal = world.call("chat_send_message", json!({})).await.unwrap_err();
    assert_eq!(refusal.reason, "TOOL_NOT_FOUND");
}

#[tokio::test]
async fn of_several_back_ends_one_is_named_and_a_write_reaches_none_that_is_read_only() {
    let world = World::new().start().await;
    let (one, other) = (AgentChat::start().await, AgentChat::start().await);
    let mut ids = vec![];
    for (name, chat, access) in [("one", &one, "read_only"), ("other", &other, "read_write")] {
        let added = world
            .admin()
            .add_target(AgentChat::ADAPTER, name, chat.settings(access), chat.credential())
            .await
            .unwrap();
        ids.push(added["id"].as_str().unwrap().to_owned());
        chat.forget();
    }
    let refusal = world.call("chat_list_rooms", json!({})).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (400, "TARGET_REQUIRED")
    );
    let send = async |target: &str| {
        let body = json!({"name": "chat_create_room", "arguments": {"name": "n"}, "targetId": target});
        world.admin().invoke_with(&body, &[("prefer", "wait")]).await
    };
    let refused = send(&ids[0]).await;
    assert_eq!(
        (refused.status, &refused.json()["reason"]),
        (403, &json!("WRITE_REJECTED"))
    );
    let sent = send(&ids[1]).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    assert_eq!((one.asked().len(), other.asked().len()), (0, 1));
    // A model has no other place to name it than the arguments, in which no schema of these tools has it.
    for dialect in Dialect::ALL {
        let speaker = world.admin().by(dialect).await;
        let none = speaker.call("chat_create_room", &json!({"name": "n"})).await;
        assert_eq!(none.reason(), "TARGET_REQUIRED", "{dialect:?}");
        let read_only = json!({"name": "n", "target_id": ids[0]});
        let refused = speaker.call("chat_create_room", &read_only).await;
        assert_eq!(refused.reason(), "WRITE_REJECTED", "{dialect:?}");
        let named = json!({"name": "n", "target_id": ids[1]});
        let told = speaker.call("chat_create_room", &named).await;
        assert!(
            matches!(told, Told::Result { is_error: false, .. }),
            "{dialect:?}: {told:?}"
        );
        let no_text = speaker
            .call("chat_create_room", &json!({"name": "n", "target_id": 7}))
            .await;
        assert_eq!(no_text.reason(), "ARGUMENTS_INVALID", "{dialect:?}");
    }
    let asked = other.asked();
    assert_eq!((one.asked().len(), asked.len()), (0, 1 + Dialect::ALL.len()));
    // It names the target and goes no further.
    assert!(
        asked
            .iter()
            .all(|asked| asked.body == br#"{"name":"n"}"#.as_slice()),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_back_end_is_validated_by_reading_before_it_is_stored() {
    use toolgate_test_support::back_ends::Says;
    let world = World::new().start().await;
    let back_ends = BackEnds::start().await;
    for (status, told, text) in [
        (401, 422, "does not accept the credential"),
        (403, 422, "refuses GET"),
        (404, 502, "is baseUrl right"),
        (500, 502, "500"),
    ] {
        for (adapter, back_end) in back_ends.each() {
            back_end.says_next(Says::status(status, "no"));
            let added = world
                .admin()
                .add_target(
                    adapter,
                    "x",
                    back_end.settings("read_write"),
                    back_end.credential(),
                )
                .await;
            let refusal = added.unwrap_err();
            let problem = refusal.problem.to_string();
            assert!(problem.contains(text), "{adapter} {status}: {problem}");
            assert_eq!(refusal.status, told, "{adapter} {status}: {problem}");
        }
    }
    for asked in back_ends.asked() {
        assert_eq!(
            (asked.method.as_str(), asked.body.len()),
            ("GET", 0),
            "{}",
            asked.line()
        );
    }
    let added = back_ends.add(world.admin(), "read_write").await.unwrap();
    for target in added {
        assert_eq!(target["validation"]["verdict"], "passed", "{target}");
    }
}

async fn listed(world: &World) -> BTreeSet<String> {
    let listed = world.admin().get("/api/mcp/tools").await.json();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn tools_of(group: &str, effect: &str) -> BTreeSet<String> {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let tools = table["tools"].as_array().unwrap().iter();
    tools
        .filter(|tool| tool["group"] == group && tool["effect"] == effect)
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}
