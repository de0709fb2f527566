//! Gate INV-1. Each step of the path refuses in its turn, in every dialect: nothing later happens, the host hears nothing,
//! and one counted row names the reason. What more than one step would refuse is refused by the earlier one.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{
    Caller, Dialect, Ground, Role, on_each_store,
    project::{CREATE, WHO},
    until,
};

/// How often each case is asked.
const ASKED: u64 = 1 + Dialect::ALL.len() as u64;

on_each_store!(each_step_that_refuses_leaves_the_later_ones_alone);

async fn each_step_that_refuses_leaves_the_later_ones_alone(ground: Ground) {
    let world = ground
        .world()
        .clock_by_hand()
        .user_limit(2)
        .host("web-1")
        .silent_host("web-2")
        .principal("auditor", Role::Auditor)
        .principal("engineer", Role::Engineer)
        .start()
        .await;
    let ssh = "ssh.run_whitelisted_command";
    let id = world.target("web-1");
    let nobody = world.admin().with_token("tgk_nobody_AAAA");
    let (auditor, engineer) = (world.as_principal("auditor"), world.as_principal("engineer"));

    // Each case would be refused by all the steps after it as well.
    check(
        &nobody,
        "proxmox.shutdown_vm",
        json!({}),
        401,
        "CREDENTIAL_INVALID",
    )
    .await;
    check(auditor, "proxmox.shutdown_vm", json!({}), 403, "ROLE_FORBIDDEN").await;
    check(engineer, "nothing.at_all", json!({"x": 1}), 404, "TOOL_NOT_FOUND").await;
    check(engineer, ssh, json!({"command": 7}), 400, "ARGUMENTS_INVALID").await;
    check(
        engineer,
        ssh,
        json!({"command": "uptime"}),
        400,
        "TARGET_REQUIRED",
    )
    .await;
    check(engineer, "proxmox.list_vms", json!({}), 404, "TARGET_NOT_FOUND").await;
    for _ in 0..2 {
        engineer
            .call(ssh, json!({"command": "uptime", "target_id": id}))
            .await
            .expect("within the limit");
    }
    check(
        engineer,
        ssh,
        json!({"command": "uptime", "target_id": id}),
        429,
        "RATE_LIMITED",
    )
    .await;
    assert_eq!(
        world.host("web-1").received().len(),
        2,
        "refusals take no tokens and reach nobody"
    );

    world.clock().advance(Duration::from_secs(61));
    let expected = [
        "ARGUMENTS_INVALID",
        "RATE_LIMITED",
        "ROLE_FORBIDDEN",
        "TARGET_NOT_FOUND",
        "TARGET_REQUIRED",
        "TOOL_NOT_FOUND",
    ];
    let counted = until(Duration::from_secs(10), || async {
        let rows = world.audit_of("request.refused").await;
        (rows.len() == expected.len()).then_some(rows)
    });
    let rows = counted.await.unwrap_or_default();
    let mut reasons: Vec<&str> = rows.iter().filter_map(|row| row["reason"].as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, expected);
    for row in &rows {
        let mut count = row["detail"]["count"].as_u64().unwrap_or_default();
        // An open pipe asks for news of the list by itself, which this role may not see either.
        if row["reason"] == "ROLE_FORBIDDEN" && count > ASKED {
            count -= 1;
        }
        assert_eq!(count, ASKED, "{row}");
    }
}

on_each_store!(each_step_that_refuses_leaves_a_project_alone);

async fn each_step_that_refuses_leaves_a_project_alone(ground: Ground) {
    let world = ground
        .world()
        .clock_by_hand()
        .user_limit(2)
        .read_only_project("alpha", &[WHO, CREATE])
        .project("beta")
        .silent_project("gamma")
        .default_project("alpha")
        .principal("auditor", Role::Auditor)
        .principal("engineer", Role::Engineer)
        .principal("writer", Role::Engineer)
        .start()
        .await;
    let nobody = world.admin().with_token("tgk_nobody_AAAA");
    let (auditor, engineer) = (world.as_principal("auditor"), world.as_principal("engineer"));
    // Each rejected write takes from its caller's bucket, so that nobody floods the record with them.
    let writer = world.as_principal("writer");
    for project in ["alpha", "beta"] {
        world.project(project).forget();
    }

    // Each case would be refused by all the steps after it as well.
    let unknown = json!({"project": "nobody"});
    check(
        &nobody,
        "create_story",
        unknown.clone(),
        401,
        "CREDENTIAL_INVALID",
    )
    .await;
    check(auditor, "create_story", unknown.clone(), 403, "ROLE_FORBIDDEN").await;
    check(engineer, "create_story", unknown, 404, "PROJECT_NOT_FOUND").await;
    check(
        engineer,
        "nothing.at_all",
        json!({"project": "alpha"}),
        404,
        "TOOL_NOT_FOUND",
    )
    .await;
    check(
        writer,
        "create_story",
        json!({"project": "alpha"}),
        403,
        "WRITE_REJECTED",
    )
    .await;
    check(writer, "create_story", json!({}), 403, "WRITE_REJECTED").await;
    for project in ["alpha", "beta"] {
        engineer
            .call("who_are_you", json!({ "project": project }))
            .await
            .expect("within the limit");
    }
    check(
        engineer,
        "who_are_you",
        json!({"project": "beta"}),
        429,
        "RATE_LIMITED",
    )
    .await;
    check(engineer, "who_are_you", json!({}), 429, "RATE_LIMITED").await;
    for project in ["alpha", "beta"] {
        let asked = world.project(project).seen().asked.len();
        assert_eq!(asked, 1, "refusals take no tokens and reach nobody");
    }

    world.clock().advance(Duration::from_secs(61));
    let expected = [
        "PROJECT_NOT_FOUND",
        "RATE_LIMITED",
        "ROLE_FORBIDDEN",
        "TOOL_NOT_FOUND",
    ];
    let counted = until(Duration::from_secs(10), || async {
        let rows = world.audit_of("request.refused").await;
        (rows.len() == expected.len()).then_some(rows)
    });
    let rows = counted.await.unwrap_or_default();
    let mut reasons: Vec<&str> = rows.iter().filter_map(|row| row["reason"].as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, expected);
    let rejected = world.audit_of("adapter.write_rejected").await;
    let count = |row: &Value| row["detail"]["count"].as_u64().unwrap_or(1);
    assert_eq!(rejected.iter().map(count).sum::<u64>(), 2 * ASKED, "{rejected:?}");
    let carried = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(carried.len(), 2, "{carried:?}");
}

/// Once over REST for the status, and once in every dialect for the reason.
async fn check(caller: &Caller, tool: &str, arguments: Value, status: u16, reason: &str) {
    let refusal = caller.call(tool, arguments.clone()).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (status, reason),
        "{tool} {arguments}"
    );
    for dialect in Dialect::ALL {
        let told = caller.by(dialect).await.call(tool, &arguments).await;
        assert_eq!(told.reason(), reason, "{dialect:?} {tool} {arguments}");
    }
}
