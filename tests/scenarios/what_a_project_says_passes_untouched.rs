//! What a project lists and answers reaches the client byte for byte, whatever it is: unknown fields, the order of keys, numbers
//! that no float holds, `$defs`, images, empty content, `_meta`, escapes, white space, results of megabytes.

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::Value;
use toolgate_test_support::{Does, McpClient, Revision, World};

/// How many results are made up.
const MADE_UP: usize = 150;
const TOOL: &str = r#"{"name":"says","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;

/// Results that a careless gateway would change.
const RESULTS: [&str; 12] = [
    r#"{"content":[]}"#,
    r#"{"content":[],"structuredContent":{"n":9007199254740993,"m":-0.0,"e":1E400,"x":1.10}}"#,
    r#"{"structuredContent":{"b":1,"a":2},"content":[],"isError":false,"_meta":{"z":null,"y":[]},"unknown":{"k":"v"}}"#,
    r#"{"content":[{"type":"image","data":"AAAA","mimeType":"image/png","annotations":{"priority":1.0}}]}"#,
    r#"{"content":[{"type":"of-tomorrow","payload":{"deep":[[[{}]]]}}]}"#,
    r#"{"content":[{"type":"text","text":"\u0000\u001b\u2028\ud83d\ude00 \/ é"}]}"#,
    r#"{ "content" : [ { "type" : "text" , "text" : "spaced" } ] }"#,
    r#"{"content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":[1,2,3]}"#,
    r#"{"structuredContent":"a text","content":[{"type":"text","text":""}]}"#,
    r#"{"content":[{"type":"resource","resource":{"uri":"test://x","blob":"AA==","mimeType":"a/b"}}],"isError":false}"#,
    r#"{"content":[{"type":"resource_link","uri":"test://x","name":"x","size":18446744073709551616}]}"#,
    r#"{"resultType":"complete","content":[{"type":"audio","data":"","mimeType":"audio/wav"}],"_meta":{"io.example/k":1}}"#,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_pass_untouched() {
    let world = world(&[TOOL]).await;
    let alpha = world.project("alpha");
    let mcp = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    let pipe = McpClient::open(world.admin(), "/mcp/project/alpha", Revision::November2025).await;
    let modern = McpClient::open(world.admin(), "/mcp", Revision::July2026).await;
    let mut results: Vec<String> = RESULTS.iter().map(|&result| result.to_owned()).collect();
    let mut runner = runner();
    for _ in 0..MADE_UP {
        results.push(result().new_tree(&mut runner).unwrap().current());
    }
    for result in &results {
        alpha.when("says", Does::Answers(result.clone()));
        for client in [&mcp, &pipe] {
            let heard = client.call("says", "{}").await;
            assert_eq!(heard.result(), Some(result.as_str()), "{client:?}");
        }
        // That revision wants one member, which is put in where it is missing and nowhere else.
        let heard = modern.call("says", "{}").await;
        let told = heard.result().unwrap_or_default().to_owned();
        if result.contains(r#""resultType""#) {
            assert_eq!(told, *result);
        } else {
            let put_in = [
                r#","resultType":"complete""#,
                r#""resultType":"complete","#,
                r#""resultType":"complete""#,
            ];
            let found = put_in.iter().any(|text| told.replacen(text, "", 1) == *result);
            assert!(found, "{result}\n{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_of_megabytes_pass_untouched_and_no_larger_ones() {
    let world = world(&[TOOL]).await;
    let alpha = world.project("alpha");
    let mcp = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    let pipe = McpClient::open(world.admin(), "/mcp/project/alpha", Revision::November2025).await;
    let frame = r#"{"content":[{"type":"text","text":""}]}"#;
    for size in [64 * 1024, 64 * 1024 + 1, 8 * 1024 * 1024] {
        let result = frame.replace(r#""""#, &format!("\"{}\"", "y".repeat(size - frame.len())));
        assert_eq!(result.len(), size);
        alpha.when("says", Does::Answers(result.clone()));
        for client in [&mcp, &pipe] {
            let heard = client.call("says", "{}").await;
            assert!(
                heard.result() == Some(result.as_str()),
                "{size} of {client:?}: {:.300}",
                heard.answer
            );
        }
    }
    alpha.when("says", Does::Huge(8 * 1024 * 1024 + 1));
    let refused = mcp.call("says", "{}").await;
    assert_eq!(refused.reason(), "UPSTREAM_TOO_LARGE", "{:.300}", refused.answer);
    // Neither it nor the connection is worse for it.
    alpha.when("says", Does::text("still here"));
    let heard = mcp.call("says", "{}").await;
    assert!(heard.answer.contains("still here"), "{:.300}", heard.answer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_and_prompts_and_errors_pass_the_pipe_untouched() {
    let mut runner = runner();
    let tools: Vec<String> = (0..40)
        .map(|number| {
            let rest = object().new_tree(&mut runner).unwrap().current();
            let rest = rest.strip_prefix('{').unwrap();
            let comma = if rest.trim_start().starts_with('}') {
                ""
            } else {
                ","
            };
            format!(r#"{{"name":"tool-{number}","inputSchema":{{"type":"object"}}{comma}{rest}"#)
        })
        .filter(|tool| toolgate_contract::splice::member(tool, "annotations") == Ok(None))
        .collect();
    let written: Vec<&str> = tools.iter().map(String::as_str).collect();
    let world = world(&written).await;
    let alpha = world.project("alpha");
    let pipe = McpClient::open(world.admin(), "/mcp/project/alpha", Revision::November2025).await;
    assert_eq!(pipe.tools().await, tools);
    for _ in 0..40 {
        let result = object().new_tree(&mut runner).unwrap().current();
        alpha.when("prompts/get", Does::Answers(result.clone()));
        let params = object().new_tree(&mut runner).unwrap().current();
        let heard = pipe.ask("prompts/get", &params).await;
        assert_eq!(heard.result(), Some(result.as_str()), "{}", heard.answer);
        assert_eq!(
            alpha.seen().asked.last().map(|asked| asked.params.clone()),
            Some(params)
        );
    }
    let error = r#"{"message":"no \u00e9","code":-32042,"data":{"z":1.0,"a":9007199254740993}}"#;
    alpha.when("prompts/get", Does::Errs(error.to_owned()));
    alpha.when("tool-0", Does::Errs(error.to_owned()));
    assert_eq!(
        pipe.ask("prompts/get", r#"{"name":"x"}"#).await.error_text(),
        Some(error)
    );
    assert_eq!(pipe.call("tool-0", "{}").await.error_text(), Some(error));
}

async fn world(tools: &[&str]) -> World {
    World::new()
        .unlimited()
        .project_with("alpha", tools)
        .default_project("alpha")
        .start()
        .await
}

/// The same each time, so that what fails fails again.
fn runner() -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config::default(), rng)
}

fn result() -> impl Strategy<Value = String> {
    (object(), any::<bool>()).prop_map(|(rest, first)| {
        let content = r#""content":[{"type":"text","text":"made up"}]"#;
        let inner = rest
            .trim()
            .trim_start_matches('{')
            .trim_end_matches('}')
            .to_owned();
        let inner = rest
            .trim()
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(&inner);
        match (inner.trim().is_empty(), first) {
            (true, _) => format!("{{{content}}}"),
            (false, true) => format!("{{{content},{inner}}}"),
            (false, false) => format!("{{{inner},{content}}}"),
        }
    })
}

/// JSON as someone may write it: any order, any spelling of numbers and texts, white space where it may be.
fn object() -> impl Strategy<Value = String> {
    members(json()).prop_map(|members| format!("{{{}}}", members.join(",")))
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|yes| yes.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        Just("9007199254740993".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just("1.0e-7".to_owned()),
        Just("-0.0".to_owned()),
        Just(r#""\u00e9\/\ud83d\ude00""#.to_owned()),
        ".{0,12}".prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            (proptest::collection::vec(inner.clone(), 0..4), " {0,2}")
                .prop_map(|(items, space)| format!("[{space}{}]", items.join(&format!(",{space}")))),
            members(inner).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// Members with keys that differ, none of which means anything in MCP.
fn members(value: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(("[a-z]{1,6}", " {0,2}", value), 0..5).prop_map(|members| {
        let numbered = members.into_iter().enumerate();
        numbered
            .map(|(number, (key, space, value))| format!("{space}\"x-{key}{number}\"{space}:{space}{value}"))
            .collect()
    })
}
