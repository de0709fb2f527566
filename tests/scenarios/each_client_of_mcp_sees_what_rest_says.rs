//! Gate MCP. The clients that people have, in each way they negotiate: the same tools, results and errors as REST gives,
//! and a row on the record for every call.

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use toolgate_test_support::{
    Ask, Caller, Client, Clients, Inspected, Outcome, Refusal, World, binary, rust_sdk,
};

const TOOL: &str = "ssh.run_whitelisted_command";
const GOOD: &str = r#"{"command":"uptime"}"#;
/// Clients at once: each is a process that computes for a second.
const AT_ONCE: usize = 3;

/// A client, how it is told to negotiate, and what it must agree on.
const CASES: [(Client, &str, Option<&str>); 9] = [
    (Client::PythonSdk2, "legacy", Some("2025-11-25")),
    (Client::PythonSdk2, "auto", Some("2026-07-28")),
    (Client::PythonSdk2, "2026-07-28", Some("2026-07-28")),
    (Client::PythonSdk1, "legacy", Some("2025-11-25")),
    (Client::FastMcp, "legacy", Some("2025-11-25")),
    (Client::FastMcp, "auto", Some("2026-07-28")),
    // Does not tell which revision it speaks.
    (Client::LangChain, "legacy", None),
    (Client::TypeScriptSdk1, "legacy", Some("2025-11-25")),
    (Client::TypeScriptClient2, "auto", Some("2026-07-28")),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_client_of_mcp_sees_what_rest_says() {
    let test = "each_client_of_mcp_sees_what_rest_says";
    check_all(test, "mcp", |admin| vec![format!("{}/mcp", admin.url())]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_client_sees_it_over_pipes_as_well() {
    // Who comes over the network is not believed which dialect it speaks for.
    check_all("each_client_sees_it_over_pipes_as_well", "grpc", |admin| {
        let program = binary().to_string_lossy().into_owned();
        vec![program, "mcp".into(), "--core".into(), admin.grpc_url().into()]
    })
    .await;
}

async fn check_all(test: &str, facade: &str, target: impl Fn(&Caller) -> Vec<String>) {
    let Some(clients) = Clients::here(test) else {
        return;
    };
    let world = World::new().unlimited().host("web-1").start().await;
    let expected = Expected::of(world.admin()).await;
    let (target, token) = (target(world.admin()), world.admin().token());
    let target: Vec<&str> = target.iter().map(String::as_str).collect();

    let told: Vec<_> = stream::iter(CASES)
        .map(|(client, mode, revision)| {
            let (clients, ask) = (&clients, ask(mode, &target, token));
            async move { (client, mode, revision, clients.run(client, ask).await) }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut complaints = Vec::new();
    for (client, mode, revision, told) in told {
        let who = format!("{client:?} {mode}");
        match told {
            Ok(told) => complaints.extend(expected.differs(&who, revision, &told)),
            Err(complaint) => complaints.push(complaint),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));

    // The good call of each; the bad ones ended before there was anything to record.
    let calls = calls_over(facade, &world).await;
    assert_eq!(calls, CASES.len(), "calls over {facade} on the record");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rust_client_sees_it_in_every_revision() {
    let world = World::new().unlimited().host("web-1").start().await;
    let expected = Expected::of(world.admin()).await;
    let (url, token) = (format!("{}/mcp", world.url()), world.admin().token());
    let mut complaints = Vec::new();
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        match rust_sdk(ask(revision, &[&url], token)).await {
            Ok(told) => complaints.extend(expected.differs("the Rust SDK", Some(revision), &told)),
            Err(complaint) => complaints.push(complaint),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_finds_no_fault_with_a_schema() {
    let Some(clients) = Clients::here("the_inspector_finds_no_fault_with_a_schema") else {
        return;
    };
    let world = World::new().unlimited().host("web-1").start().await;
    let expected = Expected::of(world.admin()).await;
    let token = world.admin().token();
    let (url, program) = (format!("{}/mcp", world.url()), binary());
    let over_pipes = [
        &*program.to_string_lossy(),
        "mcp",
        "--core",
        world.admin().grpc_url(),
    ];
    for (era, target) in [
        ("legacy", &[url.as_str()][..]),
        ("modern", &[url.as_str()]),
        ("legacy", &over_pipes),
        ("modern", &over_pipes),
    ] {
        let list = ["--method", "tools/list", "--strict"];
        let list = clients.inspect(era, target, token, &list).await.unwrap();
        let who = format!("{era} {target:?}");
        assert_eq!(list.code, Some(0), "{who}: {}", list.complaint);
        let listed = names(&answer(&list)["tools"]);
        assert_eq!(listed, expected.names, "{who}: {}", list.complaint);

        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            "ssh_run_whitelisted_command",
        ];
        let call = [&call[..], &["--tool-args-json", GOOD]].concat();
        let called = clients.inspect(era, target, token, &call).await.unwrap();
        assert_eq!(called.code, Some(0), "{who}: {}", called.complaint);
        assert_eq!(
            answer(&called)["structuredContent"],
            *expected.good.structured(),
            "{who}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn integers_above_2_to_the_53_reach_each_client_that_has_them() {
    let Some(clients) = Clients::here("integers_above_2_to_the_53_reach_each_client_that_has_them") else {
        return;
    };
    let world = World::new().unlimited().with_fixtures().start().await;
    let (url, token) = (format!("{}/mcp", world.url()), world.admin().token());
    let text = r#"{"id":9007199254740993,"more":{"ids":[18446744073709551615,-9007199254740993]}}"#;
    let expected: Value = serde_json::from_str(text).unwrap();
    // JavaScript has no such numbers.
    let cases = [
        (Client::PythonSdk2, "legacy"),
        (Client::PythonSdk2, "auto"),
        (Client::PythonSdk1, "legacy"),
        (Client::FastMcp, "auto"),
        (Client::LangChain, "legacy"),
    ];
    let told = cases.map(|(client, mode)| {
        let (clients, target) = (&clients, [url.as_str()]);
        async move {
            let ask = Ask {
                tool: "test_echo",
                arguments: text,
                ..ask(mode, &target, token)
            };
            clients.run(client, ask).await
        }
    });
    let told = stream::iter(told).buffered(AT_ONCE).collect::<Vec<_>>().await;
    for (case, told) in cases.iter().zip(told) {
        assert_eq!(told.unwrap()["good"]["structured"], expected, "{case:?}");
    }
    for revision in ["2025-06-18", "2026-07-28"] {
        let target = [url.as_str()];
        let ask = Ask {
            tool: "test_echo",
            arguments: text,
            ..ask(revision, &target, token)
        };
        let told = rust_sdk(ask).await.unwrap();
        assert_eq!(told["good"]["structured"], expected, "the Rust SDK {revision}");
    }
}

fn ask<'a>(mode: &'a str, target: &'a [&'a str], token: &'a str) -> Ask<'a> {
    Ask {
        mode,
        tool: "ssh_run_whitelisted_command",
        arguments: GOOD,
        target,
        token,
    }
}

/// What REST says.
struct Expected {
    tools: Vec<Value>,
    names: Vec<String>,
    good: Outcome,
    bad: Refusal,
    version: Value,
}

impl Expected {
    async fn of(admin: &Caller) -> Self {
        let listed = admin.get("/api/mcp/tools").await.ok().unwrap();
        let tools = listed["tools"].as_array().unwrap().clone();
        let mut names: Vec<String> = tools
            .iter()
            .map(|tool| tool["functionName"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        Self {
            tools,
            names,
            good: admin.call(TOOL, json!({"command": "uptime"})).await.unwrap(),
            bad: admin.call(TOOL, json!({"command": 7})).await.unwrap_err(),
            version: json!(env!("CARGO_PKG_VERSION")),
        }
    }

    /// Everything in which a client saw something else.
    fn differs(&self, who: &str, revision: Option<&str>, told: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut same = |what: &str, told: &Value, expected: &Value| {
            if told != expected {
                found.push(format!("{who}: {what} is {told}, not {expected}"));
            }
        };
        if let Some(revision) = revision {
            same("the revision", &told["revision"], &json!(revision));
            same(
                "the code of an unknown tool",
                &told["unknown"]["code"],
                &json!(-32602),
            );
        }
        if !told["server"].is_null() {
            same("the version", &told["server"]["version"], &self.version);
            same(
                "the capability",
                &told["capabilities"]["tools"],
                &json!({"listChanged": true}),
            );
            same(
                "instructions that are texts",
                &json!(told["instructions"].is_string()),
                &json!(true),
            );
        }
        same("the list", &json!(names(&told["tools"])), &json!(self.names));
        for tool in &self.tools {
            let name = &tool["functionName"];
            let Some(seen) = told["tools"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|seen| seen["name"] == *name)
            else {
                continue;
            };
            for part in ["title", "description", "inputSchema", "outputSchema"] {
                // One client shows neither titles nor schemas of results.
                if !seen[part].is_null() || revision.is_some() {
                    let (seen, expected) = match who.starts_with("TypeScript") {
                        true => (&in_javascript(&seen[part]), &in_javascript(&tool[part])),
                        false => (&seen[part], &tool[part]),
                    };
                    same(&format!("{part} of {name}"), seen, expected);
                }
            }
        }
        same("the result", &told["good"]["structured"], self.good.structured());
        // MCP wants the structured result as a text too, for clients that know no other.
        let text = format!("{}\n{}", self.good.text(), self.good.structured());
        same("the text", &told["good"]["text"], &json!(text));
        same("a good call's isError", &told["good"]["isError"], &json!(false));
        same("a bad call's isError", &told["bad"]["isError"], &json!(true));
        if told["bad"].get("meta").is_some() {
            let reason = &told["bad"]["meta"]["toolgate/reason"];
            same("the reason of a bad call", reason, &json!(self.bad.reason));
        }
        found
    }
}

/// The value with its numbers as JavaScript has them.
fn in_javascript(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(in_javascript).collect(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), in_javascript(value)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

fn names(tools: &Value) -> Vec<String> {
    let mut names: Vec<String> = tools
        .as_array()
        .into_iter()
        .flatten()
        .map(|tool| tool["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

/// The answer in what the Inspector printed: a call's stands under `result`.
fn answer(inspected: &Inspected) -> &Value {
    inspected.answer.get("result").unwrap_or(&inspected.answer)
}

/// How many calls came this way and were carried out.
async fn calls_over(facade: &str, world: &World) -> usize {
    let calls = world.audit_of("adapter.capability_invoked").await;
    let ours =
        |row: &&Value| row["facade"] == facade && row["capability"] == TOOL && row["result"] == "success";
    calls.iter().filter(ours).count()
}
