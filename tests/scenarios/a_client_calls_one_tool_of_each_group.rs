//! The Python SDK starts `toolgate mcp` as an agent does and calls one tool of each group; the back ends hear exactly the
//! requests of the seed's table, and only they do.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolgate_test_support::{
    Ask, Client, Clients, Pod,
    back_ends::{Asked, TOKEN},
    binary,
};

use crate::agent_tools::tool;

/// One call: the tool, its arguments, and the request that the table makes of it; none where there is no back end.
struct Case {
    tool: &'static str,
    arguments: Value,
    request: Option<(&'static str, Value)>,
}

fn cases() -> [Case; 5] {
    let case = |tool, arguments, request| Case {
        tool,
        arguments,
        request,
    };
    [
        case(
            "create_memory",
            json!({"text": "größe 9007199254740993"}),
            Some(("POST /memories", json!({"text": "größe 9007199254740993"}))),
        ),
        case(
            "code_communities",
            json!({"repo": "r", "community": 3}),
            Some(("GET /code-graph/community?repo=r&community=3", Value::Null)),
        ),
        case(
            "already_done",
            json!({"reason": "it is there"}),
            Some((
                "POST /tasks/t-4711/implement-outcome",
                json!({"action": "already_done", "reason": "it is there"}),
            )),
        ),
        case("chat_list_rooms", json!({}), Some(("GET /rooms", Value::Null))),
        case(
            "report_internal_issue",
            json!({"category": "other", "severity": "warn", "description": "tried out"}),
            None,
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_calls_one_tool_of_each_group() {
    let Some(clients) = Clients::here("a_client_calls_one_tool_of_each_group") else {
        return;
    };
    let pod = Pod::start().await;
    let binary: PathBuf = binary();
    for case in cases() {
        let told = ask(&clients, &pod, &binary, &case).await;
        assert_eq!(told["server"]["name"], "tatara", "{told}");
        assert_eq!(told["tools"].as_array().unwrap().len(), 63, "{}", case.tool);
        assert_eq!(told["good"]["isError"], false, "{}: {told}", case.tool);
        assert_eq!(told["bad"]["isError"], true, "{}: {told}", case.tool);
        let heard = heard(&pod);
        match case.request {
            None => assert!(heard.is_empty(), "{}: {heard:?}", case.tool),
            Some((line, body)) => {
                let [(back_end, asked)] = &heard[..] else {
                    panic!("{}: {heard:?}", case.tool);
                };
                assert_eq!(
                    (asked.line().as_str(), asked.json()),
                    (line, body),
                    "{}",
                    case.tool
                );
                assert_eq!(asked.bearer(), Some(TOKEN), "{}", case.tool);
                let table = tool(case.tool);
                assert_eq!(table["http"]["method"], asked.method.as_str(), "{table}");
                let group = table["group"].as_str().unwrap();
                assert_eq!(back_end_of(group), *back_end, "{table}");
                // What the back end said is what the agent reads, to the byte.
                let answered = format!("{{\"answered\":\"{} {}\"}}", asked.method, asked.path);
                assert_eq!(told["good"]["text"], answered, "{told}");
            }
        }
    }
}

async fn ask(clients: &Clients, pod: &Pod, binary: &std::path::Path, case: &Case) -> Value {
    let mut target = vec!["/usr/bin/env".to_owned()];
    target.extend(pod.variables().map(|(name, value)| format!("{name}={value}")));
    for back_end in ["MEMORY", "OPERATOR", "CHAT"] {
        target.push(format!("TATARA_{back_end}_TOKEN={TOKEN}"));
    }
    target.push("TATARA_TASK=t-4711".into());
    let data = pod.data_dir();
    target.extend([
        binary.display().to_string(),
        "mcp".into(),
        "--data-dir".into(),
        data,
    ]);
    let target: Vec<&str> = target.iter().map(String::as_str).collect();
    let arguments = case.arguments.to_string();
    let ask = Ask {
        mode: "auto",
        tool: case.tool,
        arguments: &arguments,
        target: &target,
        token: "",
    };
    clients.run(Client::PythonSdk2, ask).await.unwrap()
}

/// What the back ends heard since they were last asked.
fn heard(pod: &Pod) -> Vec<(&'static str, Asked)> {
    let back_ends = [
        ("memory", &*pod.memory),
        ("operator", &*pod.operator),
        ("chat", &*pod.chat),
    ];
    back_ends
        .into_iter()
        .flat_map(|(name, back_end)| {
            let asked = back_end.asked();
            back_end.forget();
            asked.into_iter().map(move |asked| (name, asked))
        })
        .collect()
}

fn back_end_of(group: &str) -> &str {
    match group {
        "code_graph" => "memory",
        group => group,
    }
}
