//! Gate INV-3. The credentials of the three systems are looked for, plain and in disguise, in everything that comes out:
//! answers, errors, metrics, the record, the log at its most talkative, and the files of the gateway. One of the systems
//! reflects whatever it is sent. None is there.

use std::{collections::HashMap, fs, net::SocketAddr, path::Path};

use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};
use toolgate_test_support::{
    AgentMemory, AgentOperator, Caller, Dialect, Gateway, Lab, Role, TokenEndpoint,
    back_ends::{Says, TOKEN},
};
use toolgate_upstream_sim::{Reply, Request, Server};

/// So many characters of a credential are too many.
const RUN: usize = 12;
const REFLECTED: &str = "github_pat_ZZREFLECTED_byAHostileServer";
const REFLECTED_SCOPE: &str = "deadbeefcafe5c0ffee7ab1ed0d15ea5e9f7e3d1";
const REFUSED: &str = "github_pat_ZZREFUSED00_neverStoredAnywhere";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_credential_of_a_system_leaves_the_gate() {
    let mut gateway = Gateway::start(&["--log-level", "trace"]).await.unwrap();
    let (admin, lab) = (gateway.admin(), Lab::start().await);
    let hostile = Server::plain(SocketAddr::from(([127, 0, 0, 1], 0)), |request| {
        std::future::ready(reflecting(&request))
    })
    .await
    .unwrap();
    let mut answers = vec![];
    for (adapter, settings, credential) in lab.targets() {
        let body = json!({"type": adapter, "name": "lab", "config": settings, "credential": credential});
        let added = admin.post("/api/mcp/adapter", body).await;
        assert_eq!(added.status, 201, "{}", added.text);
        let id = added.json()["id"].as_str().unwrap().to_owned();
        answers.push(added.text);
        answers.push(
            admin
                .post(&format!("/api/mcp/adapter/{id}/test"), json!({}))
                .await
                .text,
        );
        answers.push(admin.get(&format!("/api/mcp/adapter/{id}")).await.text);
        let wrong = json!({"credential": {"token": REFUSED, "tokenId": "x@pve!y", "tokenSecret": REFUSED}});
        answers.push(admin.patch(&format!("/api/mcp/adapter/{id}"), wrong).await.text);
    }
    let settings = json!({"baseUrl": hostile.url(), "allowHttp": true, "allowLoopback": true});
    let body =
        json!({"type": "github", "name": "hostile", "config": settings, "credential": {"token": REFLECTED}});
    let added = admin.post("/api/mcp/adapter", body).await;
    let hostile_id = added.json()["id"].clone();
    assert!(
        hostile_id.is_string(),
        "the hostile server looks sound at first: {}",
        added.text
    );
    answers.push(added.text);
    // One that reflects at the end of what is cut, and where scopes should stand.
    let forge = Server::plain(SocketAddr::from(([127, 0, 0, 1], 0)), |request| {
        std::future::ready(reflecting_scopes(&request))
    })
    .await
    .unwrap();
    let settings = json!({"baseUrl": forge.url(), "allowHttp": true, "allowLoopback": true});
    let body = json!({"type": "gitea", "name": "hostile", "config": settings, "credential": {"token": REFLECTED_SCOPE}});
    let refused = admin.post("/api/mcp/adapter", body).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    answers.push(refused.text);
    for (tool, arguments) in calls(&hostile_id) {
        let body = json!({"name": tool, "arguments": arguments});
        let answer = admin.invoke_with(&body, &[("prefer", "wait")]).await;
        assert_ne!(answer.status, 500, "{tool}: {}", answer.text);
        answers.push(answer.text);
        for dialect in Dialect::ALL {
            let told = admin.by(dialect).await.call(tool, &body["arguments"]).await;
            answers.push(format!("{dialect:?} {told:?}"));
        }
    }
    assert!(hostile.seen().count() > 4, "the hostile server was asked");
    let agents = back_ends(&admin, &mut answers).await;
    for path in [
        "/api/mcp/tools",
        "/api/mcp/adapter",
        "/metrics",
        "/api/audit/export",
        "/api/audit/events",
        "/openapi.json",
    ] {
        answers.push(admin.get(path).await.text);
    }
    gateway.terminate().await;

    let mut outputs = vec![
        ("log".to_owned(), gateway.log().into_bytes()),
        ("answers".to_owned(), answers.join("\n").into_bytes()),
    ];
    files(&gateway.data_dir(), &mut outputs);
    assert!(outputs[0].1.len() > 1_000, "at trace level the log is not empty");
    assert!(
        String::from_utf8_lossy(&outputs[1].1).contains("[credential withheld]"),
        "the reflection was seen"
    );
    let credentials = Lab::canaries().into_iter().chain([
        ("reflected", REFLECTED),
        ("scope", REFLECTED_SCOPE),
        ("refused", REFUSED),
    ]);
    let credentials = credentials.chain(agents.iter().map(|canary| ("agents", canary.as_str())));
    let runs: HashMap<String, &str> = credentials
        .flat_map(|(what, canary)| runs(canary).into_iter().map(move |run| (run, what)))
        .collect();
    for (name, bytes) in &outputs {
        let text = bytes.to_ascii_lowercase();
        for window in text.windows(RUN) {
            let found = std::str::from_utf8(window).ok().and_then(|run| runs.get(run));
            assert_eq!(found, None, "stands in {name}");
        }
    }
}

/// Two back ends of agents that tell whatever they were sent, one of them with tokens that are asked for; gives what nobody
/// may see of it.
async fn back_ends(admin: &Caller, answers: &mut Vec<String>) -> Vec<String> {
    let (operator, memory) = (AgentOperator::start().await, AgentMemory::start().await);
    let endpoint = TokenEndpoint::start().await;
    let mut settings = memory.settings("read_write");
    settings["issuer"] = endpoint.issuer().into();
    for (adapter, settings, credential) in [
        (
            AgentOperator::ADAPTER,
            operator.settings("read_write"),
            operator.credential(),
        ),
        (AgentMemory::ADAPTER, settings, endpoint.credential()),
    ] {
        let body = json!({"type": adapter, "name": "hostile", "config": settings, "credential": credential});
        let added = admin.post("/api/mcp/adapter", body).await;
        assert_eq!(added.status, 201, "{}", added.text);
        answers.push(added.text);
    }
    operator.says(Says::status(500, format!("you sent {TOKEN}")));
    memory.says(Says::status(200, endpoint.canaries().join(" ")));
    // With limits of its own: the admin has called often enough.
    let (_, agent) = admin.make_token("agent", Role::Engineer).await.unwrap();
    for tool in ["project_list", "list_edges"] {
        let body = json!({"name": tool, "arguments": {}});
        answers.push(agent.invoke_with(&body, &[("prefer", "wait")]).await.text);
        for dialect in Dialect::ALL {
            let told = agent.by(dialect).await.call(tool, &body["arguments"]).await;
            answers.push(format!("{dialect:?} {told:?}"));
        }
    }
    assert!(memory.asked().len() > 4, "the memory was asked");
    let mut canaries = endpoint.canaries();
    canaries.push(TOKEN.to_owned());
    canaries
}

/// A GitHub that copies what it was sent wherever there is room for a text.
fn reflecting(request: &Request) -> Reply {
    let sent = request.header("authorization").to_owned();
    let told = format!(
        "{sent} {} {}",
        BASE64.encode(sent.as_bytes()),
        HEXLOWER.encode(sent.as_bytes())
    );
    let repo = json!({"id": 1, "name": told, "full_name": "acme/shop", "private": false, "description": told,
        "owner": {"login": "acme"}, "html_url": format!("https://github.com/{told}"), "default_branch": sent});
    let run = json!({"id": 1, "name": told, "status": told, "conclusion": sent, "event": "push", "head_branch": told,
        "display_title": told, "run_number": 1, "html_url": sent, "repository": {"full_name": "acme/shop"}});
    match request.segments()[..] {
        ["user"] => Reply::json(200, &json!({"login": sent})),
        ["user", "repos"] | ["orgs", ..] => Reply::json(200, &json!([repo])),
        ["repos", _, _, "actions", "runs"] => {
            Reply::json(200, &json!({"total_count": 1, "workflow_runs": [run]}))
        }
        ["repos", _, _, "actions", "runs", "1"] => Reply::json(200, &run),
        ["repos", _, _, "actions", "runs", "2"] => {
            Reply::json(451, &json!({"message": told, "block": {"reason": sent}}))
        }
        ["repos", _, _, "actions", "runs", "3"] => Reply::bytes(200, told.into_bytes()),
        ["repos", _, _, "actions", "runs", "4"] => Reply::json(500, &json!({"message": told})),
        ["repos", _, _, "actions", "runs", "5"] => {
            Reply::json(301, &json!({})).with("location", &format!("/{sent}"))
        }
        ["repos", _, _, "actions", "runs", "6"] => {
            Reply::json(422, &json!({"message": format!("{}{sent}", "a".repeat(150))}))
        }
        ["repos", _, _] => Reply::json(200, &repo),
        _ => Reply::json(403, &json!({"message": told})).with("x-accepted-github-permissions", &sent),
    }
}

/// A Gitea that says of a token that its scopes are itself.
fn reflecting_scopes(request: &Request) -> Reply {
    let sent = request.header("authorization").to_owned();
    let token = sent.rsplit(' ').next().unwrap_or_default();
    if request.path.ends_with("/version") {
        return Reply::json(200, &json!({"version": "1.25.0"}));
    }
    let required = "token does not have at least one of required scope(s), required=[read:user]";
    let message = format!("{required}, token scope=read:repository,z{token}");
    Reply::json(403, &json!({"message": message, "url": sent}))
}

fn calls(hostile: &Value) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("proxmox.list_vms", json!({})),
        ("proxmox.get_vm_status", json!({"vmid": 100})),
        ("proxmox.get_vm_status", json!({"vmid": 999})),
        ("proxmox.get_node_metrics", json!({"node": "nowhere"})),
        ("gitea.list_repos", json!({})),
        (
            "gitea.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "nothing"}),
        ),
        ("github.list_repos", json!({"target_id": hostile})),
        (
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop", "target_id": hostile}),
        ),
    ];
    let run = |id| json!({"owner": "acme", "repo": "shop", "run_id": id, "target_id": hostile});
    calls.extend((1..=6).map(|id| ("github.get_workflow_run", run(id))));
    calls
}

/// Every run of twelve characters of a credential and of its usual disguises.
fn runs(canary: &str) -> Vec<String> {
    let base64 = BASE64.encode(canary.as_bytes());
    let shifted = BASE64.encode(format!("Bearer {canary}").as_bytes());
    let whole = [
        canary.to_ascii_lowercase(),
        HEXLOWER.encode(canary.as_bytes()),
        base64.trim_end_matches('=')[..base64.len() - 6].to_ascii_lowercase(),
        shifted.trim_end_matches('=')[12..shifted.len() - 6].to_ascii_lowercase(),
    ];
    let runs = |text: &String| -> Vec<String> {
        (0..=text.len() - RUN)
            .map(|at| text[at..at + RUN].to_owned())
            .collect()
    };
    whole.iter().flat_map(runs).collect()
}

fn files(folder: &Path, outputs: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        let path = entry.path();
        if kind.is_dir() {
            files(&path, outputs);
        } else if kind.is_file() {
            outputs.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}
