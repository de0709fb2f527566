//! What a project says of its tools and answers on the merged endpoint: its own bytes, in every form that keeps them.

use std::time::Duration;

use bytes::Bytes;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_contract::v1::{
    CallResponse, ListToolsResponse, RunResponse, ServerNotification, ToolDescription, ToolResult,
    run_response::Event,
};
use toolgate_facade::FacadeConfig;

use crate::{
    core::{CALL_ID, ScriptedCore},
    mcp::request,
    world::World,
};

const DEFINITION: &str = r##"{ "name":"deploy","x-own":[1.10,9007199254740993],"inputSchema":{"$defs":{"z":{"const":1e400}},
 "type":"object","properties":{"a":{"$ref":"#/$defs/z"},"project":{"type":"string"}},"required":[]},"description":"\u00e9\n","_meta":{"b":1,"a":null}}"##;

fn ours(name: &str) -> ToolDescription {
    ToolDescription {
        name: name.into(),
        function_name: name.replace('.', "_"),
        description: "Reads.".into(),
        input_schema: r#"{"type":"object"}"#.into(),
        ..Default::default()
    }
}

fn theirs(name: &str, definition: &'static str) -> ToolDescription {
    ToolDescription {
        name: name.into(),
        function_name: name.replace('.', "_"),
        description: "Deploys.".into(),
        input_schema: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#.into(),
        project: "alpha".into(),
        definition: definition.into(),
        ..Default::default()
    }
}

async fn world(tools: Vec<ToolDescription>) -> World {
    let core = ScriptedCore::new();
    *core.tools.lock().unwrap() = ListToolsResponse {
        tools,
        version: "v1".into(),
        unchanged: false,
    };
    World::with(core, FacadeConfig::default()).await
}

/// C5: with the others, in the order of the core, in both eras and in REST.
#[tokio::test]
async fn a_projects_definition_is_listed_as_it_came() {
    let world = world(vec![ours("a.one"), theirs("deploy", DEFINITION), ours("z.last")]).await;
    let line = DEFINITION.replace('\n', " ");
    let legacy = world.say(&[], request(1, "tools/list", json!({}))).await;
    let modern = world.modern("tools/list", json!({})).await;
    for answer in [legacy, modern] {
        let text = answer.text();
        assert!(text.contains(&format!(",{line},")), "{text}");
        assert!(!text.contains('\n'));
        let places: Vec<_> = ["\"a_one\"", "\"deploy\"", "\"z_last\""]
            .iter()
            .map(|name| text.find(name).unwrap())
            .collect();
        assert!(places.is_sorted());
    }
    let rest = world.get("/api/mcp/tools").await;
    assert!(
        rest.text()
            .contains(&format!(r#""project":"alpha","definition":{DEFINITION}"#))
    );
}

#[tokio::test]
async fn a_definition_that_is_none_takes_nobody_elses_away() {
    for broken in ["{", "[]", "7", "{}{}"] {
        let mut tool = theirs("deploy", broken);
        tool.input_schema = broken.into();
        let world = world(vec![ours("a.one"), tool]).await;
        let list = world.say(&[], request(1, "tools/list", json!({}))).await.result();
        let names: Vec<_> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| &tool["name"])
            .collect();
        assert_eq!(names, [&json!("a_one")], "{broken}");
        let openai = world.get("/openai/v1/tools").await.json();
        assert_eq!(openai["tools"].as_array().unwrap().len(), 1, "{broken}");
    }
}

#[tokio::test]
async fn arguments_that_a_listed_schema_wants_in_headers_say_the_same_there() {
    let definition = r#"{"name":"deploy","inputSchema":{"properties":{"r":{"x-mcp-header":"Region"}}}}"#;
    let world = world(vec![theirs("deploy", definition)]).await;
    let call = || world.modern("tools/call", json!({"name": "deploy", "arguments": {"r": "eu"}}));
    call().await.result();
    world.modern("tools/list", json!({})).await.result();
    call().await.fault(400, -32020);
}

#[tokio::test]
async fn models_are_told_whose_word_a_tool_is() {
    let world = world(vec![theirs("deploy", DEFINITION)]).await;
    let list = world.get("/openai/v1/tools").await.json();
    assert_eq!(
        list["tools"][0]["function"],
        json!({"name": "deploy", "description": "[project alpha] Deploys.", "strict": false,
            "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}})
    );
}

/// Each session may be at another project, so that its list is its own.
#[tokio::test]
async fn sessions_of_one_credential_do_not_push_each_others_lists_out() {
    let world = world(vec![ours("a.one")]).await;
    let (first, second) = (
        world.session("2025-06-18").await,
        world.session("2025-11-25").await,
    );
    let ask = async |session: &str| {
        let session = [("mcp-session-id", session)];
        world
            .say(&session, request(1, "tools/list", json!({})))
            .await
            .result();
        world.core.asked("ListTools").pop().unwrap().message
    };
    let knows = |message: String| message.contains("v1") || message.contains("v2");
    assert!(!knows(ask(&first).await));
    world.core.tools.lock().unwrap().version = "v2".into();
    assert!(!knows(ask(&second).await));
    assert!(ask(&second).await.contains("v2"));
    assert!(ask(&first).await.contains("v1"));
}

fn raw(result: impl Into<Bytes>) -> CallResponse {
    CallResponse {
        correlation_id: CALL_ID.into(),
        result: Some(ToolResult {
            content: r#"[{"type":"text","text":"never seen"}]"#.into(),
            raw: result.into(),
            ..Default::default()
        }),
        duration_ms: 1,
    }
}

fn call() -> String {
    request(1, "tools/call", json!({"name": "deploy"}))
}

#[tokio::test]
async fn a_projects_result_is_answered_as_it_came_and_its_place_on_the_record_stands_beside() {
    let world = World::start().await;
    let check = async |result: &str, in_modern: &str| {
        *world.core.result.lock().unwrap() = raw(result.to_owned());
        let answer = world.say(&[], call()).await;
        assert_eq!(
            answer.text(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
        );
        assert_eq!(answer.header("toolgate-correlation-id"), CALL_ID);
        let answer = world.modern("tools/call", json!({"name": "deploy"})).await;
        assert_eq!(
            answer.text(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{in_modern}}}"#)
        );
        assert_eq!(answer.header("toolgate-correlation-id"), CALL_ID);
    };
    let own =
        r#"{ "structuredContent":{"n":9007199254740993}, "content":[],"isError":true,"_meta":{},"x":1.10 }"#;
    let completed = own.replace(" }", r#","resultType":"complete" }"#);
    check(own, &completed).await;
    check("{}", r#"{"resultType":"complete"}"#).await;
    for kept in [
        r#"{"resultType":"input_required","content":[]}"#,
        r#"{"resultType":null}"#,
    ] {
        check(kept, kept).await;
    }
}

#[tokio::test]
async fn a_page_of_another_origin_may_read_what_a_call_is_on_the_record_by() {
    let config = FacadeConfig {
        allowed_hosts: vec!["app.example".into()],
        ..FacadeConfig::default()
    };
    let world = World::with(ScriptedCore::new(), config).await;
    let answer = world.say(&[("origin", "https://app.example")], call()).await;
    let exposed = answer.header("access-control-expose-headers");
    assert!(exposed.contains("toolgate-correlation-id"), "{exposed}");
}

/// Whatever a project answers, in both eras, as one message and as an event.
#[test]
fn no_byte_of_a_result_is_another_one_on_the_way() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::start());
    let text = "[^\\x00-\\x1f\"\\\\]{0,12}|(\\\\u[0-9a-f]{4}|\\\\n|\\\\\"){1,4}";
    let scalar = prop_oneof![
        text.prop_map(|text: String| format!("\"{text}\"")),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        Just("null".to_owned()),
        Just("9007199254740993".to_owned()),
    ];
    let value = scalar.prop_recursive(4, 32, 5, |inner| {
        let space = prop_oneof![Just(""), Just(" "), Just("\t ")];
        let member = ("[a-z_$]{1,8}", space.clone(), inner.clone());
        prop_oneof![
            (space, prop::collection::vec(inner, 0..5))
                .prop_map(|(space, items)| format!("[{space}{}]", items.join(&format!("{space},")))),
            prop::collection::vec(member, 0..5).prop_map(|members| {
                let members: Vec<_> = members
                    .into_iter()
                    .enumerate()
                    .map(|(n, (key, space, value))| {
                        format!("{space}\"{key}{n}\"{space}:{space}{value}{space}")
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    let result = prop::collection::vec(value, 1..4).prop_map(|values| {
        let members: Vec<_> = values
            .iter()
            .enumerate()
            .map(|(n, value)| format!("\"m{n}\" :{value}"))
            .collect();
        format!("{{ {} ,\"resultType\":\"complete\"}}", members.join(", "))
    });
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    runner
        .run(&result, |result| {
            runtime.block_on(async {
                *world.core.result.lock().unwrap() = raw(result.clone());
                let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
                let legacy = world.say(&[], call()).await;
                prop_assert_eq!(legacy.text(), &expected);
                let modern = world.modern("tools/call", json!({"name": "deploy"})).await;
                prop_assert_eq!(modern.text(), &expected);
                let streamed = world.say(&[("accept", "text/event-stream")], call()).await;
                prop_assert_eq!(streamed.text(), format!("event: message\ndata: {expected}\n\n"));
                Ok(())
            })
        })
        .unwrap();
}

fn said(method: &str, params: &'static str) -> Event {
    Event::Notification(ServerNotification {
        method: method.into(),
        params: params.into(),
    })
}

async fn run(params: Value, events: Vec<Event>) -> Vec<String> {
    let world = World::start().await;
    let (tell, scripted) = mpsc::channel(64);
    world.core.runs.lock().unwrap().push_back(scripted);
    for event in events {
        tell.send(Ok(RunResponse { event: Some(event) })).await.unwrap();
    }
    let outcome = Event::Outcome(raw(r#"{"content":[]}"#));
    tell.send(Ok(RunResponse { event: Some(outcome) })).await.unwrap();
    let mut live = crate::client::live(world.address, world.modern_request("tools/call", params)).await;
    assert_eq!(live.status, 200);
    let text = tokio::time::timeout(Duration::from_secs(10), live.rest())
        .await
        .unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(str::to_owned).collect()
}

#[tokio::test]
async fn what_a_project_says_of_a_call_is_passed_on_to_who_asked_for_it() {
    let events = || {
        vec![
            said(
                "notifications/progress",
                r#"{ "progressToken" : "toolgate" ,"progress":0.10,"x":9007199254740993}"#,
            ),
            said(
                "notifications/message",
                r#"{"data":{"b":1,"a":2}, "level":"warning"}"#,
            ),
            said("notifications/message", r#"{"level":"debug","data":1}"#),
            said("notifications/of_its_own", "{}"),
            said("notifications/progress", r#"{"progress":3}"#),
        ]
    };
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{ "progressToken" : 9007199254740993 ,"progress":0.10,"x":9007199254740993}}"#;
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":{"b":1,"a":2}, "level":"warning"}}"#;
    let outcome = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}"#;
    let token = json!({"progressToken": 9_007_199_254_740_993_u64});
    let level = json!({"io.modelcontextprotocol/logLevel": "info"});
    let both =
        json!({"progressToken": 9_007_199_254_740_993_u64, "io.modelcontextprotocol/logLevel": "info"});
    let check = async |meta: Value, expected: &[&str]| {
        let told = run(json!({"name": "deploy", "_meta": meta}), events()).await;
        assert_eq!(told, expected);
    };
    check(token, &[progress, outcome]).await;
    check(level, &[log, outcome]).await;
    check(both, &[progress, log, outcome]).await;
}
