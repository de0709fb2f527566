//! Under a profile that discloses by search, and in every dialect: the list holds three tools, what they find can be
//! called through them, and whatever is refused or recorded of a call is so of the same call inside of another.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Dialect, Told, World};

const SSH: &str = "ssh_run_whitelisted_command";
const UPTIME: &str = r#"{"command":"uptime"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_found_by_search_are_called_as_if_directly() {
    let world = World::new().unlimited().host("web-1").start().await;
    let caller = searching(&world).await;
    let (mut calls, mut writes) = (0, 0);
    for dialect in Dialect::ALL {
        let speaker = caller.by(dialect).await;
        let listed: BTreeSet<String> = speaker.tools().await.into_iter().collect();
        assert_eq!(
            listed,
            ["call_tool", "describe_tool", "find_tools"]
                .map(String::from)
                .into(),
            "{dialect:?}"
        );

        let found = text(
            &speaker
                .call("find_tools", &json!({"query": "how long is the host up"}))
                .await,
        );
        assert!(
            found.lines().any(|line| line.starts_with(SSH)),
            "{dialect:?}: {found}"
        );
        let described = text(&speaker.call("describe_tool", &json!({"name": SSH})).await);
        let described: Value = serde_json::from_str(&described).unwrap();
        assert_eq!(
            described["inputSchema"]["required"],
            json!(["command"]),
            "{dialect:?}"
        );

        let direct = speaker.call_with(SSH, UPTIME).await;
        let inside = speaker
            .call_with(
                "call_tool",
                &format!(r#"{{"name":"{SSH}","arguments":{UPTIME}}}"#),
            )
            .await;
        assert_eq!(direct.structured()["command"], "uptime", "{dialect:?}");
        assert_eq!(without_time(&inside), without_time(&direct), "{dialect:?}");
        calls += 2;

        for (name, arguments, reason) in REFUSED {
            let direct = speaker.call_with(name, arguments).await;
            assert_eq!(direct.reason(), reason, "{dialect:?} {name}");
            let asked = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
            let inside = speaker.call_with("call_tool", &asked).await;
            assert_eq!(inside, direct, "{dialect:?} {name}");
            writes += 2 * usize::from(reason == "WRITE_REJECTED");
        }
        let nested = json!({"name": "call_tool", "arguments": {"name": SSH}});
        assert_eq!(
            speaker.call("call_tool", &nested).await.reason(),
            "ARGUMENTS_INVALID",
            "{dialect:?}"
        );
    }
    assert_eq!(world.host("web-1").received(), vec!["uptime"; calls]);
    assert_eq!(world.audit_of("adapter.write_rejected").await.len(), writes);
    let invoked = world.audit_of("adapter.capability_invoked").await;
    let of_ssh: Vec<_> = invoked
        .iter()
        .filter(|row| row["capability"] == "ssh.run_whitelisted_command")
        .collect();
    assert_eq!(of_ssh.len(), calls);
    let inside = of_ssh
        .iter()
        .filter(|row| row["detail"]["via"] == "call_tool")
        .count();
    assert_eq!(inside, calls / 2);
    assert!(invoked.iter().all(|row| row["capability"] != "call_tool"));
}

/// Operations of each system, in some of the spellings, and what is no write.
const REFUSED: [(&str, &str, &str); 12] = [
    ("proxmox.shutdown_vm", r#"{"vmid":100}"#, "WRITE_REJECTED"),
    (
        "PROXMOX.POST /nodes/pve1/qemu/100/status/stop",
        "{}",
        "WRITE_REJECTED",
    ),
    ("%70roxmox/shutdown", "{}", "WRITE_REJECTED"),
    ("github:repos/delete", "{}", "WRITE_REJECTED"),
    ("github_pulls/merge", "{}", "WRITE_REJECTED"),
    ("gitea.repoDelete", "{}", "WRITE_REJECTED"),
    ("ssh.exec", r#"{"command":"reboot"}"#, "WRITE_REJECTED"),
    (SSH, r#"{"command":"rm -rf /"}"#, "WRITE_REJECTED"),
    (SSH, r#"{"command":5}"#, "ARGUMENTS_INVALID"),
    ("create_story", "{}", "TOOL_NOT_FOUND"),
    // Not of the profile, and of a back end that nobody has.
    ("github.get_workflow_run", "{}", "TOOL_NOT_FOUND"),
    ("query", "{}", "TOOL_NOT_FOUND"),
];

async fn searching(world: &World) -> Caller {
    let tools = ["ssh.run_whitelisted_command", "proxmox.list_vms", "query"];
    let profile =
        json!({"name": "searching", "description": "by search", "tools": tools, "disclosure": "search"});
    let made = world.admin().post("/api/profiles", profile).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let token = json!({"name": "seeker", "role": "agent", "profile": "searching"});
    let made = world.admin().post("/api/tokens", token).await;
    world
        .admin()
        .with_token(made.json()["token"].as_str().expect("a token"))
}

fn text(told: &Told) -> String {
    let Told::Result {
        content, structured, ..
    } = told
    else {
        panic!("refused: {told:?}")
    };
    match content {
        Some(content) => {
            let blocks: Vec<Value> = serde_json::from_str(content).unwrap();
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        None => structured.clone().unwrap(),
    }
}

fn without_time(told: &Told) -> Value {
    let mut structured = told.structured();
    structured["duration_ms"] = 0.into();
    structured
}
