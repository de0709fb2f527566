//! Roles: an auditor reads and verifies and may call no tool; an engineer sees the own calls only; an agent sees no
//! record; only an admin changes anything.

use serde_json::json;
use toolgate_test_support::{Ground, Role, on_each_store};

on_each_store!(an_auditor_reads_the_record_and_calls_nothing);

async fn an_auditor_reads_the_record_and_calls_nothing(ground: Ground) {
    let world = ground
        .world()
        .host("web-1")
        .principal("auditor", Role::Auditor)
        .principal("engineer", Role::Engineer)
        .principal("agent", Role::Agent)
        .start()
        .await;
    world.run("uptime").await.unwrap();
    world.as_principal("engineer").run("df -h").await.unwrap();
    let auditor = world.as_principal("auditor");

    let refusal = auditor.run("uptime").await.unwrap_err();
    assert_eq!((refusal.status, refusal.reason.as_str()), (403, "ROLE_FORBIDDEN"));
    assert_eq!(world.host("web-1").received(), ["uptime", "df -h"]);
    let invoked = |rows: &[serde_json::Value]| -> Vec<String> {
        let rows = rows
            .iter()
            .filter(|row| row["event"] == "adapter.capability_invoked");
        rows.map(|row| row["principal"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(invoked(&auditor.audit().await.unwrap()), ["admin", "engineer"]);
    assert_eq!(
        invoked(&world.as_principal("engineer").audit().await.unwrap()),
        ["engineer"]
    );
    assert_eq!(world.as_principal("agent").audit().await.unwrap_err().status, 403);
    let verified = auditor.post("/api/audit/verify", json!({})).await;
    assert_eq!(
        (verified.status, &verified.json()["verdict"]),
        (200, &json!("intact")),
        "{}",
        verified.text
    );

    for name in ["auditor", "engineer", "agent"] {
        let caller = world.as_principal(name);
        assert_eq!(caller.add_host("mine").await.unwrap_err().status, 403, "{name}");
        assert_eq!(
            caller.make_token("mine", Role::Admin).await.unwrap_err().status,
            403,
            "{name}"
        );
    }
}
