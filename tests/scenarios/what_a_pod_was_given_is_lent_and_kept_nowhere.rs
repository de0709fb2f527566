//! Credentials of a pod's environment: sent to their back ends, and to nobody else; found in no file, no log and no answer.
//! A back end for which there is none is asked without one.

use std::{fs, path::Path};

use serde_json::json;
use toolgate_test_support::{
    Gateway, Pod, TokenEndpoint,
    back_ends::{Says, TOKEN},
};

/// Whether a file below the folder holds this.
fn holds(folder: &Path, canary: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, canary);
        }
        // Sockets cannot be read.
        fs::read(&path).is_ok_and(|bytes| {
            bytes
                .windows(canary.len())
                .any(|window| window == canary.as_bytes())
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_back_end_is_asked_with_its_own_token_else_as_the_client_else_as_nobody() {
    let pod = Pod::start().await;
    let endpoint = TokenEndpoint::start().await;
    pod.operator.guarded_by(&endpoint);
    let known = endpoint.credential();
    let text = |name: &str| known[name].as_str().unwrap();
    let client = [
        ("TATARA_CLIENT_ID", text("clientId")),
        ("TATARA_CLIENT_SECRET", text("clientSecret")),
        ("OIDC_ISSUER", endpoint.issuer()),
        ("TATARA_MEMORY_TOKEN", TOKEN),
        ("TATARA_CHAT_TOKEN", "another-CANARY-0123456789"),
        ("TOOLGATE_LOG_LEVEL", "debug"),
    ];
    let (mut pipe, _) = pod.begin(&[], &client).await.unwrap();
    let mut answers = Vec::new();
    for tool in ["project_list", "chat_list_rooms"] {
        answers.push(pipe.call(tool, json!({})).await.unwrap());
    }
    // A back end that tells what it was sent.
    pod.memory
        .says(Says::status(404, format!("no memory for Bearer {TOKEN}")));
    answers.push(pipe.call("get_memory", json!({"id": "m"})).await.unwrap());
    let report = json!({"category": "auth", "description": format!("401 with {TOKEN} of the memory")});
    answers.push(pipe.call("report_internal_issue", report).await.unwrap());

    assert_eq!(pod.memory.last().unwrap().bearer(), Some(TOKEN));
    assert_eq!(
        pod.chat.last().unwrap().bearer(),
        Some("another-CANARY-0123456789")
    );
    let granted = pod.operator.last().unwrap().bearer().expect("a token").to_owned();
    assert!(endpoint.canaries().contains(&granted), "{granted}");
    assert_eq!(endpoint.asked_for_tokens(), 1);
    assert_eq!(answers[0]["result"]["isError"], false, "{}", answers[0]);

    let ended = pipe.leave().await.unwrap();
    let told = format!("{answers:?} {}", ended.stderr);
    assert!(
        holds(pod.folder(), "internal_issue.reported"),
        "what is kept is looked at"
    );
    let canaries = endpoint
        .canaries()
        .into_iter()
        .chain([TOKEN.into(), "another-CANARY".into()]);
    for canary in canaries {
        assert!(!told.contains(&canary), "{canary} in {told}");
        assert!(!holds(pod.folder(), &canary), "{canary} is kept");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_back_end_without_a_credential_is_asked_without_one_and_answers_to_the_byte() {
    let pod = Pod::start().await;
    let (mut pipe, _) = pod.begin(&[], &[]).await.unwrap();
    let body = r#"{"rooms": [ "nobody\n", "client\n" ], "n": 9007199254740993}"#;
    pod.chat.says(Says::status(200, body));
    let answer = pipe.call("chat_list_rooms", json!({})).await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], body, "{answer}");
    let asked = pod.chat.last().unwrap();
    assert!(!asked.headers.contains_key("authorization"), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_directory_of_a_gateway_the_process_is_a_guest_of_its_tenant() {
    let mut gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    gateway.admin().add_host("web-1").await.unwrap();
    let pod = Pod::start().await;
    gateway.terminate().await;
    let data = gateway.data_dir();
    let arguments = ["--data-dir", data.to_str().unwrap()];
    let [memory, ..] = pod.variables();
    let mut pipe = toolgate_test_support::Pipe::start(&arguments, &[memory], gateway.folder()).unwrap();
    pipe.begin("2025-11-25").await.unwrap();
    let tools = pipe.tools().await.unwrap();
    // 13 of memory, 19 of the code graph, the report; of infrastructure what there is a target of.
    assert_eq!(tools.len(), 34, "{tools:?}");
    assert!(tools.contains(&"ssh_run_whitelisted_command".to_owned()));
    assert!(!tools.contains(&"github_list_repos".to_owned()));
    let stats = pipe.call("code_stats", json!({"repo": "r"})).await.unwrap();
    assert_eq!(stats["result"]["isError"], false, "{stats}");
    assert_eq!(pipe.leave().await.unwrap().code, Some(0));

    gateway.up().await.unwrap();
    let rows = gateway.admin().audit().await.unwrap();
    let last = rows
        .iter()
        .rfind(|row| row["capability"] == "code_stats")
        .expect("its row");
    assert_eq!(
        (&last["principal"], &last["role"]),
        (&json!("pod"), &json!("agent")),
        "{last}"
    );
    // What the process brought is nobody's target now.
    let targets = gateway.admin().get("/api/mcp/adapter").await.json();
    assert!(!targets.to_string().contains("agent-memory"), "{targets}");
}
