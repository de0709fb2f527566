//! What goes through a project stays the bytes it was.

use proptest::{prelude::*, test_runner::TestRunner};

use super::*;

/// JSON as nobody would write it twice the same way.
fn odd_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("9007199254740993".to_owned()),
        Just("-0.0".to_owned()),
        Just("1E400".to_owned()),
        Just("1.10".to_owned()),
        Just("null".to_owned()),
        Just(r#""\u00fc\ud83d\ude00 \/ \ud800""#.to_owned()),
        "[a-zA-Zäöü●]{0,12}".prop_map(|text| format!("\"{text}\"")),
        "[A-Za-z0-9+/]{0,80}"
            .prop_map(|data| format!(r#"{{"type":"image","data":"{data}==","mimeType":"image/png"}}"#)),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            prop::collection::vec(("[a-z$_]{1,6}", inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("\"{key}\" :{value}"))
                    .collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    })
}

#[test]
fn params_and_results_pass_through_to_the_byte() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for era in ["sessions", "stateless"] {
        let played = tokio::sync::Mutex::new(runtime.block_on(async { up(scripted(era)).await }));
        let mut runner = TestRunner::new(ProptestConfig {
            cases: 64,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let outcome = runner.run(&odd_json(), |json| {
            let meta = r#""_meta" : {"io.modelcontextprotocol/protocolVersion":"2026-07-28","x/y":[1.0]}"#;
            let params = format!(r#"{{ "name" : "echo", "z":{json},{meta}, "a": {json} }}"#);
            let conversation = (era == "stateless").then_some("raw");
            let returned = runtime.block_on(async {
                let mut played = played.lock().await;
                let id = played.ask(conversation, "tools/call", params.clone()).await;
                played.response(&id).await
            });
            prop_assert_eq!(returned.header.error, None);
            prop_assert_eq!(&returned.body[..], params.as_bytes());
            Ok(())
        });
        runtime.block_on(async { drop(played) });
        outcome.expect("to the byte");
    }
}

#[tokio::test]
async fn a_result_of_eight_mebibytes_comes_whole_and_a_longer_one_is_refused() {
    let mut played = up(scripted("sessions")).await;
    let around = r#"{"content":[],"x":""}"#.len();
    for (length, is_whole) in [
        (MAX_BODY - around, true),
        (MAX_BODY - around + 1, false),
        (MAX_BODY + 100_000, false),
    ] {
        let params = format!(r#"{{"name":"long","length":{length}}}"#);
        let id = played.ask(None, "tools/call", params).await;
        let response = played.response(&id).await;
        if is_whole {
            assert_eq!((response.header.error, response.body.len()), (None, MAX_BODY));
        } else {
            assert_eq!(response.header.error, Some(RefusalCode::TooLarge), "{length}");
        }
    }
    let id = played.call("echo").await;
    played.result(&id).await;
}

#[tokio::test]
async fn params_of_eight_mebibytes_arrive_whole() {
    let mut played = up(scripted("sessions")).await;
    let head = r#"{"name":"echo","x":""#;
    let params = format!("{head}{}\"}}", "y".repeat(MAX_BODY - head.len() - 2));
    let id = played.ask(None, "tools/call", params.clone()).await;
    let response = played.response(&id).await;
    assert_eq!(response.header.error, None);
    assert!(response.body == params, "other bytes came back");
}

#[tokio::test]
async fn params_on_several_lines_are_one_line_to_a_child() {
    let mut played = up(scripted("sessions")).await;
    let id = played
        .ask(
            None,
            "tools/call",
            "{\n  \"name\": \"echo\",\r\n  \"a\": \"x\\ny\"\n}",
        )
        .await;
    assert_eq!(
        played.response(&id).await.body,
        "{   \"name\": \"echo\",    \"a\": \"x\\ny\" }"
    );
}
