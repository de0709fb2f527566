//! Gate LLM. A model behind the real OpenAI SDK calls `github.list_repos` through the gate, over standard input and output
//! as over HTTP, and its answer holds the names that GitHub holds. Both transcripts are kept as evidence.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgate_llm_mock::{LlmMock, Script};
use toolgate_test_support::{Ask, Client, Clients, Gateway, Lab, Role, binary};

const TEST: &str = "scenarios.a_model_says_what_a_system_holds";
const FORMS: [&str; 3] = ["chat", "stream", "responses"];

#[tokio::test(flavor = "multi_thread")]
async fn a_model_says_what_a_system_holds() {
    let Some(clients) = Clients::here(TEST) else {
        return;
    };
    let (gateway, lab) = (Gateway::start(&[]).await.unwrap(), Lab::start().await);
    let admin = gateway.admin();
    let github = lab
        .targets()
        .into_iter()
        .find(|(adapter, ..)| *adapter == "github");
    let (adapter, settings, credential) = github.expect("a GitHub");
    admin
        .add_target(adapter, "acme", settings, credential)
        .await
        .unwrap();
    let (_, agent) = admin.make_token("the-agent", Role::Agent).await.unwrap();
    let mock = LlmMock::start(Script::named("mock").expect("a script"))
        .await
        .unwrap();

    let (program, dir) = (binary(), gateway.data_dir());
    let (model, http) = (mock.url(), format!("{}/mcp", gateway.url()));
    let stdio = [
        program.to_str().unwrap(),
        "mcp",
        "--data-dir",
        dir.to_str().unwrap(),
    ];
    let ways: [(&str, &[&str]); 2] = [("stdio", &stdio), ("http", &[&http])];
    let mut evidence = Vec::new();
    for (way, target) in ways {
        for form in FORMS {
            let target: Vec<&str> = std::iter::once(model.as_str())
                .chain(target.iter().copied())
                .collect();
            let told = clients
                .run(Client::OpenAiAgent, ask(form, &target, agent.token()))
                .await
                .unwrap();
            evidence.push(json!({"way": way, "told": told}));
        }
    }
    let file = keep(&evidence);

    // What is looked at is what was kept.
    let kept: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept.len(), ways.len() * FORMS.len());
    for each in &kept {
        holds(each, &lab.github.repos());
    }
    let rows = admin.audit().await.unwrap();
    let calls: Vec<&Value> = rows
        .iter()
        .filter(|row| row["event"] == "adapter.capability_invoked")
        .collect();
    assert_eq!(calls.len(), kept.len());
    for row in calls {
        let told = (&row["principal"], &row["capability"], &row["result"]);
        assert_eq!(
            told,
            (
                &json!("the-agent"),
                &json!("github.list_repos"),
                &json!("success")
            ),
            "{row}"
        );
    }
    assert_eq!(lab.github.seen().writes(), [""; 0]);
    // Each conversation asked the model twice: for what to do, and with what the tool had answered.
    assert_eq!(mock.requests().len(), 2 * kept.len());
}

fn ask<'a>(form: &'a str, target: &'a [&'a str], token: &'a str) -> Ask<'a> {
    Ask {
        mode: form,
        tool: "github_list_repos",
        arguments: r#"{"org": "acme", "limit": 100}"#,
        target,
        token,
    }
}

/// The answer names every repository, and the transcript shows how the model came to know.
fn holds(evidence: &Value, repos: &[String]) {
    let told = &evidence["told"];
    let answer = told["answer"].as_str().unwrap();
    assert!(repos.len() > 10);
    for repo in repos {
        assert!(answer.contains(repo.as_str()), "{repo} is missing: {evidence}");
    }
    let transcript = told["transcript"].as_array().unwrap();
    assert_eq!(transcript.len(), 4, "{evidence}");
    let (call, output) = match told["form"].as_str().unwrap() {
        "responses" => (&transcript[1]["name"], &transcript[2]["output"]),
        _ => (
            &transcript[1]["tool_calls"][0]["function"]["name"],
            &transcript[2]["content"],
        ),
    };
    assert_eq!(call, "github_list_repos");
    let data: Value = serde_json::from_str(output.as_str().unwrap()).unwrap();
    let brought = data["repos"].as_array().map(Vec::len);
    assert_eq!(brought, Some(repos.len()), "{evidence}");
}

/// Writes the transcripts beside the logs of the run.
fn keep(evidence: &[Value]) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    // A test stands in <target>/<profile>/deps.
    let folder = own.ancestors().nth(3).unwrap_or(Path::new(".")).join("test-run");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("llm-smoke.json");
    std::fs::write(&file, serde_json::to_vec_pretty(evidence).unwrap()).unwrap();
    file
}
