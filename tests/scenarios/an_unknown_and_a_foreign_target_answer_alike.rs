//! Gate 016, 024, INV-2. A target that is another tenant's, one that never was, and one that is switched off answer the same,
//! byte for byte but for the call's own id.

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Ground, on_each_store};

on_each_store!(an_unknown_and_a_foreign_target_answer_alike);

async fn an_unknown_and_a_foreign_target_answer_alike(ground: Ground) {
    let world = ground
        .world()
        .host("web-1")
        .silent_host("web-2")
        .stranger("stranger")
        .start()
        .await;
    let stranger = world.as_principal("stranger");
    let foreign = world.target("web-1");

    let (id, _) = stranger.add_host("own").await.unwrap();
    let expected = problem(stranger, "01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    assert_eq!(
        (&expected["status"], &expected["reason"]),
        (&json!(404), &json!("TARGET_NOT_FOUND"))
    );
    assert_eq!(problem(stranger, foreign).await, expected);
    let disabled = stranger
        .send(
            stranger
                .request("PATCH".parse().unwrap(), &format!("/api/mcp/adapter/{id}"))
                .json(&json!({"disabled": true})),
        )
        .await;
    assert_eq!(disabled.status, 200, "{}", disabled.text);
    assert_eq!(problem(stranger, &id).await, expected);

    assert_eq!(world.host("web-1").received(), [""; 0]);
    for path in [
        format!("/api/mcp/adapter/{foreign}"),
        "/api/mcp/adapter/01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
    ] {
        assert_eq!(stranger.get(&path).await.status, 404);
        assert_eq!(stranger.delete(&path).await.status, 404);
    }
}

/// The problem of a call of this target, without what is the call's own.
async fn problem(caller: &Caller, target: &str) -> Value {
    let arguments = json!({"command": "uptime", "target_id": target});
    let refusal = caller
        .call("ssh.run_whitelisted_command", arguments)
        .await
        .unwrap_err();
    let mut problem = *refusal.problem;
    let members = problem.as_object_mut().unwrap();
    members.remove("instance");
    members.remove("correlationId");
    problem
}
