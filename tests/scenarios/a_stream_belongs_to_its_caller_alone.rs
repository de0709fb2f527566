//! Gate 017. A correlation id is no secret: another user of the same tenant and a stranger get the very answer that an
//! id gets which never was.

use serde_json::json;
use toolgate_test_support::{Ground, Role, on_each_store};

on_each_store!(a_stream_belongs_to_its_caller_alone);

async fn a_stream_belongs_to_its_caller_alone(ground: Ground) {
    let world = ground
        .world()
        .host("web-1")
        .principal("reader", Role::Engineer)
        .principal("colleague", Role::Admin)
        .stranger("stranger")
        .start()
        .await;
    let call = world
        .as_principal("reader")
        .invoke("ssh.run_whitelisted_command", json!({"command": "uptime"}))
        .await
        .unwrap();

    for name in ["colleague", "stranger"] {
        let caller = world.as_principal(name);
        let never = caller.watch("01ARZ3NDEKTSV4RRFFQ69G5FAV").await.unwrap_err();
        assert_eq!((never.status, never.reason.as_str()), (404, "CALL_NOT_FOUND"));
        let foreign = caller.watch(&call).await.unwrap_err();
        assert_eq!(foreign.problem, never.problem, "{name}");
    }

    let events = world
        .as_principal("reader")
        .watch(&call)
        .await
        .unwrap()
        .all()
        .await;
    assert_eq!(events.last().unwrap().event, "done");
}
