//! Gate C14. Servers as their makers publish them, beside the real relay: real clients see and do through the pipe exactly what
//! they see and do at the server itself, in both directions; and through `/mcp` its tools among ours.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_test_support::{Ask, Beside, Client, Clients, RealProject, Server, World};

/// A server, a call of it, and the clients that are let at it with how they negotiate.
type Case = (
    Server,
    &'static str,
    &'static str,
    &'static [(Client, &'static str)],
);

const CASES: [Case; 3] = [
    (
        Server::Everything,
        "get-structured-content",
        r#"{"location":"Chicago"}"#,
        &[
            (Client::PythonSdk2, "legacy"),
            (Client::PythonSdk1, "legacy"),
            (Client::TypeScriptSdk1, "legacy"),
            (Client::TypeScriptClient2, "auto"),
            (Client::PythonSdk1Everything, "legacy"),
        ],
    ),
    (
        Server::Filesystem,
        "read_text_file",
        r#"{"path":"PLACE/note.txt"}"#,
        &[
            (Client::PythonSdk2, "legacy"),
            (Client::TypeScriptClient2, "auto"),
        ],
    ),
    (
        Server::FastMcp,
        "largest",
        "{}",
        &[
            (Client::PythonSdk2, "legacy"),
            (Client::PythonSdk2, "2026-07-28"),
            (Client::FastMcp, "auto"),
            (Client::TypeScriptSdk1, "legacy"),
        ],
    ),
];

/// Everything a case needs, running.
struct Stage {
    clients: Clients,
    world: World,
    folder: TempDir,
    relays: Vec<RealProject>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn published_servers_are_projects() {
    let Some(mut stage) = Stage::of("published_servers_are_projects").await else {
        return;
    };
    let mut complaints = Vec::new();
    for (server, tool, arguments, clients) in CASES {
        let name = stage.add(server).await;
        let arguments = arguments.replace("PLACE", &stage.place().display().to_string());
        let direct = stage.clients.server(server, &stage.place());
        let direct: Vec<&str> = direct.iter().map(String::as_str).collect();
        let pipe = format!("{}/mcp/project/{name}", stage.world.url());
        let merged = format!("{}/mcp", stage.world.url());
        for &(client, mode) in clients {
            let token = stage.world.admin().token();
            let (pipe, merged) = ([pipe.as_str()], [merged.as_str()]);
            let at = |target| Ask {
                mode,
                tool,
                arguments: &arguments,
                target,
                token,
            };
            let (at_it, through_pipe, through_list) = tokio::join!(
                stage.clients.run(client, at(&direct)),
                stage.clients.run(client, at(&pipe)),
                async {
                    match client {
                        // What it asks for is no tool's.
                        Client::PythonSdk1Everything => None,
                        _ => Some(stage.clients.run(client, at(&merged)).await),
                    }
                },
            );
            let who = format!("{server:?} {client:?} {mode}");
            match (at_it, through_pipe) {
                (Ok(at_it), Ok(through_pipe)) => {
                    complaints.extend(differences(&format!("{who}, the pipe"), &at_it, &through_pipe));
                    if let Some(through_list) = through_list {
                        complaints.extend(among_ours(&who, &at_it, through_list));
                    }
                }
                (at_it, through_pipe) => complaints.push(format!("{who}: {at_it:?} and {through_pipe:?}")),
            }
        }
    }
    let logs: Vec<String> = stage.relays.iter().map(RealProject::log).collect();
    assert!(
        complaints.is_empty(),
        "{}\n{}",
        complaints.join("\n"),
        logs.join("\n")
    );
    // What stands in the relay's environment is not the server's.
    let told = stage
        .world
        .call("get-env", json!({"project": "everything"}))
        .await
        .unwrap();
    assert!(
        !told.text().contains("tge_") && !told.text().contains("TOOLGATE"),
        "{}",
        told.text()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_is_let_at_a_project() {
    let Some(mut stage) = Stage::of("the_inspector_is_let_at_a_project").await else {
        return;
    };
    stage.add(Server::Everything).await;
    let url = format!("{}/mcp/project/everything", stage.world.url());
    let direct = stage.clients.server(Server::Everything, &stage.place());
    let direct: Vec<&str> = direct.iter().map(String::as_str).collect();
    let token = stage.world.admin().token();
    let url = [url.as_str()];
    for request in [
        &["--method", "tools/list"][..],
        &["--method", "prompts/list"],
        &["--method", "resources/list"],
        &["--method", "resources/templates/list"],
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "echo",
            "--tool-arg",
            "message=hello",
        ],
        &["--method", "prompts/get", "--prompt-name", "simple-prompt"],
    ] {
        let (at_it, through) = tokio::join!(
            stage.clients.inspect("legacy", &direct, token, request),
            stage.clients.inspect("legacy", &url, token, request),
        );
        let (at_it, through) = (at_it.unwrap(), through.unwrap());
        assert_eq!(through.code, at_it.code, "{request:?}: {}", through.complaint);
        assert_eq!(through.answer, at_it.answer, "{request:?}: {}", through.complaint);
        assert!(!through.answer.is_null(), "{request:?}: {}", through.complaint);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_listens_is_a_project_as_well() {
    let Some(mut stage) = Stage::of("a_server_that_listens_is_a_project_as_well").await else {
        return;
    };
    let server = stage
        .clients
        .listening("fastmcp_server.py", &["http"])
        .await
        .unwrap();
    stage.add_beside("listens", Beside::Url(server.url())).await;
    let url = format!("{}/mcp/project/listens", stage.world.url());
    for (client, mode) in [(Client::PythonSdk2, "legacy"), (Client::PythonSdk2, "2026-07-28")] {
        let token = stage.world.admin().token();
        let (own, pipe) = ([server.url()], [url.as_str()]);
        let ask = |target| Ask {
            mode,
            tool: "add",
            arguments: r#"{"a":1,"b":2}"#,
            target,
            token,
        };
        let at_it = stage.clients.run(client, ask(&own)).await.unwrap();
        let through = stage.clients.run(client, ask(&pipe)).await.unwrap();
        let different = differences(&format!("{client:?} {mode}"), &at_it, &through);
        assert!(different.is_empty(), "{}", different.join("\n"));
    }
    let told = stage
        .world
        .call("add", json!({"a": 1, "b": 2, "project": "listens"}))
        .await
        .unwrap();
    assert_eq!(told.structured()["result"], 3);
}

impl Stage {
    async fn of(test: &str) -> Option<Self> {
        let clients = Clients::here(test)?;
        let world = World::new().unlimited().start().await;
        let folder = tempfile::tempdir().unwrap();
        let stage = Self {
            clients,
            world,
            folder,
            relays: Vec::new(),
        };
        std::fs::create_dir(stage.place()).unwrap();
        std::fs::write(stage.place().join("note.txt"), "a note").unwrap();
        Some(stage)
    }

    /// What the server of files may see.
    fn place(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("place")
    }

    async fn add(&mut self, server: Server) -> String {
        let name = format!("{server:?}").to_lowercase();
        let command = self.clients.server(server, &self.place());
        self.add_beside(&name, Beside::Command(&command)).await;
        name
    }

    async fn add_beside(&mut self, name: &str, beside: Beside<'_>) {
        let admin = self.world.admin();
        let (_, token) = admin.add_project(name, "read_write").await.unwrap();
        let folder: &Path = self.folder.path();
        let relay = RealProject::start(self.world.url(), name, Some(&token), folder, beside).unwrap();
        relay.up(admin, name).await.unwrap();
        admin.set_default_project(name).await.unwrap();
        self.relays.push(relay);
    }
}

/// What a client told of the server itself, and of the server through the pipe.
fn differences(who: &str, at_it: &Value, through: &Value) -> Vec<String> {
    let (Some(at_it), Some(through)) = (at_it.as_object(), through.as_object()) else {
        return vec![format!("{who}: told nothing")];
    };
    let keys = at_it
        .keys()
        .chain(through.keys().filter(|key| !at_it.contains_key(*key)));
    keys.filter(|key| at_it.get(*key) != through.get(*key))
        .map(|key| {
            let show =
                |value: Option<&Value>| format!("{:.600}", value.map(Value::to_string).unwrap_or_default());
            format!(
                "{who}: {key}: {} became {}",
                show(at_it.get(key)),
                show(through.get(key))
            )
        })
        .collect()
}

/// The tools of the server among ours, each with one argument more, and its results as they are.
fn among_ours(who: &str, at_it: &Value, through: Result<Value, String>) -> Vec<String> {
    let through = match through {
        Ok(through) => through,
        Err(complaint) => return vec![format!("{who}, among ours: {complaint}")],
    };
    let tools = |told: &Value| told["tools"].as_array().cloned().unwrap_or_default();
    let listed = tools(&through);
    let mut complaints = Vec::new();
    for mut tool in tools(at_it) {
        let found = listed.iter().find(|other| other["name"] == tool["name"]);
        let mut found = found.cloned().unwrap_or_default();
        for one in [&mut tool, &mut found] {
            let properties = one["inputSchema"]["properties"].as_object_mut();
            properties.map(|properties| properties.shift_remove("project"));
            if at_it["revision"] != through["revision"] {
                // A client that speaks another revision to us than to the server does not tell what that one lacks.
                one.as_object_mut().map(|tool| tool.shift_remove("execution"));
            }
        }
        if found != tool {
            complaints.push(format!("{who}, among ours: {tool} became {found}"));
        }
    }
    // What the relay and the server agreed on may put the server's name into results.
    let result = |told: &Value| {
        let mut result = told["good"].clone();
        let meta = result["meta"].as_object_mut();
        meta.map(|meta| meta.shift_remove("io.modelcontextprotocol/serverInfo"));
        if result["meta"].as_object().is_some_and(|meta| meta.is_empty()) {
            result["meta"] = Value::Null;
        }
        result
    };
    if result(at_it) != result(&through) {
        complaints.push(format!(
            "{who}, among ours: {} became {}",
            at_it["good"], through["good"]
        ));
    }
    complaints
}
