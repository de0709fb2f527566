//! `toolgate mcp` is the facade of the gateway that runs on the data directory, of a core that is named, or of one of its
//! own; whichever it is, standard output holds messages and nothing else.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_test_support::{Gateway, Pipe, Role};

/// Words after `toolgate mcp`, and variables.
type Started<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

const REVISION: &str = "2025-06-18";

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_on_a_pipe_is_served_by_the_gateway_that_runs_and_by_the_core_that_is_named() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let (_, agent) = gateway
        .admin()
        .make_token("the-agent", Role::Agent)
        .await
        .unwrap();
    let data = gateway.data_dir();
    let (dir, socket) = (data.to_str().unwrap(), data.join("core.sock"));
    let unix = format!("unix:{}", socket.display());
    let ways: [(&[&str], &str); 3] = [
        (&["--data-dir", dir], "mcp"),
        (&["--core", &unix], "mcp"),
        (&["--core", gateway.grpc()], "grpc"),
    ];
    for (arguments, facade) in ways {
        let environment = [("TOOLGATE_TOKEN", agent.token())];
        let mut pipe = Pipe::start(arguments, &environment, gateway.folder()).unwrap();
        assert_eq!(
            pipe.begin(REVISION).await.unwrap()["result"]["protocolVersion"],
            REVISION
        );
        assert_eq!(names(&pipe.ask(&list()).await.unwrap()).len(), 9, "{arguments:?}");
        let write = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "proxmox.start_vm", "arguments": {}}});
        let refused = pipe.ask(&write).await.unwrap();
        assert_eq!(
            refused["result"]["_meta"]["toolgate/reason"], "WRITE_REJECTED",
            "{refused}"
        );
        let ended = pipe.leave().await.unwrap();
        assert_eq!((ended.code, ended.rest), (Some(0), vec![]), "{}", ended.stderr);

        let rows = gateway.admin().audit().await.unwrap();
        let last = rows.last().unwrap();
        assert_eq!(
            (&last["principal"], &last["facade"]),
            (&json!("the-agent"), &json!(facade)),
            "{last}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_gateway_runs_it_starts_a_core_that_others_find_and_ends_with_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Pipe::start(&["--data-dir", "data"], &[], folder.path()).unwrap();
    let mut first = start();
    assert!(first.begin(REVISION).await.unwrap()["result"].is_object());
    let mut second = start();
    assert!(second.begin(REVISION).await.unwrap()["result"].is_object());
    assert_eq!(
        names(&second.ask(&list()).await.unwrap()),
        names(&first.ask(&list()).await.unwrap())
    );
    assert_eq!(second.leave().await.unwrap().code, Some(0));

    let began = Instant::now();
    let ended = first.leave().await.unwrap();
    assert_eq!((ended.code, ended.rest), (Some(0), vec![]), "{}", ended.stderr);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(
        ended.stderr.contains("trust_root"),
        "the log goes to standard error: {}",
        ended.stderr
    );

    let mut third = start();
    third.begin(REVISION).await.unwrap();
    let pid = third.pid().unwrap().to_string();
    let told = tokio::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .await
        .unwrap();
    assert!(told.success());
    assert_eq!(third.ended().await.unwrap().code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_of_the_flag_or_of_the_pod_narrows_the_tools() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let data = gateway.data_dir();
    let dir = data.to_str().unwrap();
    let cases: [Started<'_>; 2] = [
        (
            &["--data-dir", dir, "--tool-profile", "hosts"],
            &[("TATARA_TOOL_PROFILE", "forges")],
        ),
        (&["--data-dir", dir], &[("TATARA_TOOL_PROFILE", "hosts")]),
    ];
    for (arguments, environment) in cases {
        let mut pipe = Pipe::start(arguments, environment, gateway.folder()).unwrap();
        pipe.begin(REVISION).await.unwrap();
        let listed = pipe.ask(&list()).await.unwrap();
        let offered = [
            "proxmox_get_node_metrics",
            "proxmox_get_vm_status",
            "proxmox_list_vms",
            "ssh_run_whitelisted_command",
        ];
        assert_eq!(names(&listed), offered, "{arguments:?}");
        assert_eq!(pipe.leave().await.unwrap().code, Some(0));
    }
}
