//! Why a tool is there or not, to whom: an admin asks for any token, everyone else for their own.

use serde_json::json;
use toolgate_test_support::{BackEnds, Caller, Role, World};

async fn why(caller: &Caller, tool: &str, query: &str) -> (String, String, String) {
    let answer = caller.get(&format!("/api/tools/{tool}/why{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let told = answer.json();
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("rule"), text("sentence"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_keeps_a_tool_back_is_told_in_one_sentence() {
    let world = World::new()
        .unlimited()
        .host("web-1")
        .principal("reader", Role::Engineer)
        .principal("auditor", Role::Auditor)
        .start()
        .await;
    let admin = world.admin();
    let (id, pinned) = admin.make_pinned("pod", Role::Agent, "hosts").await.unwrap();
    let check = async |caller: &Caller, tool: &str, query: &str, verdict: &str, rule: &str| {
        let (found, by, sentence) = why(caller, tool, query).await;
        assert_eq!((&*found, &*by), (verdict, rule), "{tool}{query}: {sentence}");
        assert!(!sentence.is_empty());
    };
    let ssh = "ssh.run_whitelisted_command";
    check(admin, ssh, "", "listed", "nothing_hides").await;
    check(
        admin,
        "ssh_run_whitelisted_command",
        "?profile=forges",
        "hidden",
        "profile_asked",
    )
    .await;
    check(&admin.asking_for("forges"), ssh, "", "hidden", "profile_asked").await;
    check(
        admin,
        "github.list_repos",
        "?token=pod",
        "hidden",
        "profile_pinned",
    )
    .await;
    check(
        admin,
        "github.list_repos",
        &format!("?token={id}&profile=forges"),
        "hidden",
        "profile_pinned",
    )
    .await;
    check(
        &pinned,
        "github.list_repos",
        "?profile=forges",
        "hidden",
        "profile_pinned",
    )
    .await;
    check(&pinned, ssh, "", "listed", "profile_pinned").await;
    check(admin, "query", "", "hidden", "no_back_end").await;
    check(admin, "find_tools", "", "hidden", "gateway_tool").await;
    check(admin, "proxmox.shutdown_vm", "", "denied", "write_attempt").await;
    check(admin, "create_story", "", "unknown", "not_registered").await;
    check(world.as_principal("auditor"), ssh, "", "denied", "role").await;
    check(admin, ssh, "?profile=revue", "listed", "profile_unknown_open").await;

    let _back_ends = BackEnds::added(admin, "read_only").await.unwrap();
    check(admin, "query", "", "listed", "nothing_hides").await;
    check(admin, "create_memory", "", "denied", "read_only").await;
    let off = admin.request(reqwest::Method::PUT, "/api/mcp/policy");
    admin.send(off.json(&json!({"disabledTools": ["query"]}))).await;
    check(admin, "query", "", "hidden", "policy").await;

    // What is told of a call is what a call hears.
    let denied = admin
        .call("create_memory", json!({"text": "x"}))
        .await
        .unwrap_err();
    assert_eq!(denied.reason, "WRITE_REJECTED");

    let other = world
        .as_principal("reader")
        .get("/api/tools/query/why?token=pod")
        .await;
    assert_eq!(other.status, 403, "{}", other.text);
    let nobody = admin.get("/api/tools/query/why?token=nobody").await;
    assert_eq!(nobody.status, 404, "{}", nobody.text);
    world.admin().delete(&format!("/api/tokens/{id}")).await;
    assert_eq!(admin.get("/api/tools/query/why?token=pod").await.status, 404);
}
