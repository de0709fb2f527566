//! Each of the seven profiles, over a pipe and without a token: exactly its tools (rows B3, B4, B5); the flag is stronger
//! than the variable (B6); and a pinned credential stays what it is through `--core` (B6).

use std::collections::BTreeSet;

use toolgate_test_support::{Gateway, Pipe, Pod};

use crate::agent_tools::{names_of, profiles};

async fn offered(pod: &Pod, arguments: &[&str], more: &[(&str, &str)]) -> BTreeSet<String> {
    let (mut pipe, _) = pod.begin(arguments, more).await.unwrap();
    let tools = pipe.tools().await.unwrap();
    pipe.leave().await.unwrap();
    tools.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_profile_gives_exactly_its_tools() {
    let pod = Pod::start().await;
    let counts: Vec<(String, usize)> = profiles()
        .iter()
        .map(|(name, _, count, _)| (name.clone(), *count))
        .collect();
    let seven = [
        ("brainstorm", 53),
        ("implement", 44),
        ("review", 40),
        ("triage", 44),
        ("lifecycle", 60),
        ("incident", 56),
        ("selfImprove", 45),
    ];
    assert_eq!(counts, seven.map(|(name, count)| (name.to_owned(), count)));
    for (name, _, count, tools) in profiles() {
        // A variable that was read from a file ends with a line feed.
        let variable = format!("{name}\n");
        let offered = offered(&pod, &[], &[("TATARA_TOOL_PROFILE", &variable)]).await;
        assert_eq!(offered, tools, "{name}");
        assert_eq!(offered.len(), count, "{name}");
        assert!(offered.contains("report_internal_issue"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn brainstorm_talks_and_proposes_triage_changes_no_code_and_lifecycle_has_it_all() {
    let pod = Pod::start().await;
    let holds = |tools: &BTreeSet<String>, wanted: &[&str], unwanted: &[&str]| {
        for name in wanted {
            assert!(tools.contains(*name), "{name} in {tools:?}");
        }
        for name in unwanted {
            assert!(!tools.contains(*name), "{name} in {tools:?}");
        }
    };
    let chat = names_of(|tool| tool["group"] == "chat");
    let brainstorm = offered(&pod, &["--tool-profile", "brainstorm"], &[]).await;
    assert!(brainstorm.is_superset(&chat));
    holds(
        &brainstorm,
        &["comment_on_issue", "propose_issue", "skip_research"],
        &["change_summary", "review_verdict", "issue_outcome", "pr_outcome"],
    );
    let triage = offered(&pod, &["--tool-profile", "triage"], &[]).await;
    holds(&triage, &["issue_outcome"], &["change_summary", "pr_outcome"]);
    let lifecycle = offered(&pod, &["--tool-profile", "lifecycle"], &[]).await;
    assert!(lifecycle.is_superset(&chat));
    for profile in ["triage", "implement", "review"] {
        let tools = offered(&pod, &["--tool-profile", profile], &[]).await;
        assert!(lifecycle.is_superset(&tools), "{profile}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_flag_is_stronger_than_the_variable_even_where_it_is_empty() {
    let pod = Pod::start().await;
    let variable = [("TATARA_TOOL_PROFILE", "lifecycle")];
    assert_eq!(
        offered(&pod, &["--tool-profile", "review"], &variable)
            .await
            .len(),
        40
    );
    assert_eq!(offered(&pod, &["--tool-profile", ""], &variable).await.len(), 63);
    assert_eq!(offered(&pod, &[], &variable).await.len(), 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_credential_is_not_widened_by_flag_or_variable_of_a_pipe() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let admin = gateway.admin();
    let made = admin
        .post(
            "/api/tokens",
            serde_json::json!({"name": "pinned", "role": "agent", "profile": "hosts"}),
        )
        .await;
    let token = made.json()["token"].as_str().expect("a token").to_owned();
    let pinned = [
        "proxmox_get_node_metrics",
        "proxmox_get_vm_status",
        "proxmox_list_vms",
        "ssh_run_whitelisted_command",
    ];
    let cases: [(&[&str], &str); 5] = [
        (&["--tool-profile", "forges"], "lifecycle"),
        (&["--tool-profile", "nonsense"], ""),
        (&["--tool-profile", ""], ""),
        (&[], "infrastructure"),
        (&[], ""),
    ];
    for (arguments, variable) in cases {
        let arguments = [&["--core", gateway.grpc()][..], arguments].concat();
        let environment = [
            ("TOOLGATE_TOKEN", token.as_str()),
            ("TATARA_TOOL_PROFILE", variable),
        ];
        let mut pipe = Pipe::start(&arguments, &environment, gateway.folder()).unwrap();
        pipe.begin("2025-11-25").await.unwrap();
        assert_eq!(pipe.tools().await.unwrap(), pinned, "{arguments:?} {variable}");
        let hidden = pipe
            .call("github_list_repos", serde_json::json!({}))
            .await
            .unwrap();
        assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
        pipe.leave().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_an_unknown_profile_closed_is_not_served_openly_by_another_core() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let token = gateway.token();
    let closed = |profile| {
        [
            ("TOOLGATE_TOKEN", token.trim().to_owned()),
            ("TATARA_TOOL_PROFILE", String::from(profile)),
            ("TOOLGATE_UNKNOWN_PROFILE", "closed".to_owned()),
        ]
    };
    for (profile, served) in [
        ("nonsense", false),
        ("prüfung", false),
        ("hosts", true),
        ("", true),
    ] {
        let environment = closed(profile);
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut pipe = Pipe::start(&["--core", gateway.grpc()], &environment, gateway.folder()).unwrap();
        let begun = pipe.begin("2025-11-25").await;
        assert_eq!(begun.is_ok(), served, "{profile}: {begun:?}");
        if !served {
            let ended = pipe.ended().await.unwrap();
            assert_eq!(ended.code, Some(3), "{}", ended.stderr);
            assert!(ended.stderr.contains("would hide nothing"), "{}", ended.stderr);
        }
    }
}
