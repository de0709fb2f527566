//! Each script over HTTP, as a client meets it.

use serde_json::{Value, json};

use crate::{LlmMock, Script};

const ASK: &str = "please call github_list_repos";
const DATA: &str = r#"{"repos": [{"name": "shop", "fullName": "acme/shop"}, {"name": "till"}]}"#;

async fn mock() -> LlmMock {
    let script = Script::named("mock").expect("a built-in script");
    LlmMock::start(script).await.expect("a port")
}

fn client() -> reqwest::Client {
    // A second installation finds the first, which is the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().no_proxy();
    builder.build().expect("a client")
}

async fn post(url: &str, body: &str) -> (u16, String) {
    let client = client();
    let request = client
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_owned());
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a text"))
}

fn chat(model: &str, messages: &Value) -> Value {
    let parameters = json!({"type": "object", "properties": {}});
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    json!({"model": model, "messages": messages, "tools": [tool("gitea_list_repos"), tool("github_list_repos")]})
}

/// Talks until the model speaks, at most this many rounds; each tool answers with `DATA`.
async fn talk(mock: &LlmMock, model: &str, most: usize) -> (Vec<Value>, Option<String>) {
    let url = format!("{}/chat/completions", mock.url());
    let mut messages = json!([{"role": "user", "content": ASK}]);
    let mut rounds = Vec::new();
    while rounds.len() < most {
        let (status, answer) = post(&url, &chat(model, &messages).to_string()).await;
        assert_eq!(status, 200, "{answer}");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let message = answer["choices"][0]["message"].clone();
        let history = messages.as_array_mut().expect("a list");
        history.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            return (rounds, message["content"].as_str().map(str::to_owned));
        };
        for call in calls {
            history.push(json!({"role": "tool", "tool_call_id": call["id"], "content": DATA}));
        }
        rounds.push(json!(
            calls
                .iter()
                .map(|call| call["function"].clone())
                .collect::<Vec<_>>()
        ));
    }
    (rounds, None)
}

#[tokio::test]
async fn the_model_that_behaves_calls_once_and_quotes_what_the_tool_answered() {
    let mock = mock().await;
    let (rounds, text) = talk(&mock, "mock", 20).await;
    assert_eq!(
        rounds,
        [json!([{"name": "github_list_repos", "arguments": "{}"}])]
    );
    assert_eq!(text.as_deref(), Some("The tools answered: shop, till."));
    let seen = mock.requests();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].path, "/v1/chat/completions");
    assert_eq!(seen[1].body["messages"][2]["content"], DATA);
}

#[tokio::test]
async fn bad_json_is_a_call_whose_arguments_cannot_be_read() {
    let (rounds, text) = talk(&mock().await, "mock-bad-json", 20).await;
    let arguments = rounds[0][0]["arguments"].as_str().expect("a text");
    assert!(serde_json::from_str::<Value>(arguments).is_err(), "{arguments}");
    assert_eq!(rounds[0][0]["name"], "github_list_repos");
    assert!(text.is_some());
}

#[tokio::test]
async fn an_unknown_tool_is_one_that_the_request_did_not_bring() {
    let (rounds, _) = talk(&mock().await, "mock-unknown-tool", 20).await;
    assert_eq!(
        rounds,
        [json!([{"name": "delete_everything", "arguments": "{\"sure\": true}"}])]
    );
}

#[tokio::test]
async fn parallel_calls_come_in_one_answer_good_and_bad() {
    let (rounds, text) = talk(&mock().await, "mock-parallel", 20).await;
    assert_eq!((rounds.len(), rounds[0].as_array().map(Vec::len)), (1, Some(4)));
    assert_eq!(text.as_deref(), Some("The tools answered: shop, till."));
}

#[tokio::test]
async fn ten_rounds_are_ten() {
    let (rounds, text) = talk(&mock().await, "mock-ten-rounds", 20).await;
    assert_eq!((rounds.len(), text.is_some()), (10, true));
}

#[tokio::test]
async fn the_model_that_never_ends_calls_as_long_as_it_is_asked() {
    let (rounds, text) = talk(&mock().await, "mock-never-ends", 30).await;
    assert_eq!((rounds.len(), text), (30, None));
}

#[tokio::test]
async fn the_same_request_is_answered_with_the_same_bytes() {
    let (one, other) = (mock().await, mock().await);
    for form in ["chat/completions", "responses"] {
        for streamed in [false, true] {
            let body = match form {
                "responses" => json!({"model": "mock", "input": ASK, "stream": streamed}),
                _ => {
                    let mut body = chat("mock", &json!([{"role": "user", "content": ASK}]));
                    body["stream"] = json!(streamed);
                    body
                }
            };
            let body = body.to_string();
            let first = post(&format!("{}/{form}", one.url()), &body).await;
            assert_eq!(first, post(&format!("{}/{form}", one.url()), &body).await);
            assert_eq!(first, post(&format!("{}/{form}", other.url()), &body).await);
            assert_eq!(first.0, 200, "{}", first.1);
        }
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_in_openais_shape() {
    let mock = mock().await;
    let url = format!("{}/chat/completions", mock.url());
    let large = format!("{{\"model\": \"{}\"}}", "x".repeat(4 << 20));
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let cases = [
        ("{", 400),
        ("[]", 400),
        ("", 400),
        (deep.as_str(), 400),
        (r#"{"messages": []}"#, 400),
        (r#"{"model": "gpt-9", "messages": []}"#, 404),
        (
            r#"{"model": "mock", "messages": [{"role": "user", "content": "x"}], "stream": "yes"}"#,
            400,
        ),
        (large.as_str(), 413),
    ];
    for (body, expected) in cases {
        let (status, answer) = post(&url, body).await;
        let start: String = body.chars().take(80).collect();
        assert_eq!(status, expected, "{start}: {answer}");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let error = answer["error"].as_object().expect("an error");
        assert_eq!(
            error.keys().collect::<Vec<_>>(),
            ["message", "type", "param", "code"],
            "{start}"
        );
        assert_eq!(error["type"], "invalid_request_error");
    }
    let (status, answer) = post(&format!("{}/embeddings", mock.url()), "{}").await;
    assert!(status == 404 && answer.contains("unknown_url"), "{answer}");
}

#[tokio::test]
async fn a_script_of_ones_own_stands_beside_the_built_in_ones() {
    let script = Script::parse(r#"{"model": "mine", "rounds": [{"say": "hello"}]}"#).expect("a script");
    let mock = LlmMock::start(script).await.expect("a port");
    let client = client();
    let listed = client
        .get(format!("{}/models", mock.url()))
        .send()
        .await
        .expect("an answer");
    let listed: Value = listed.json().await.expect("JSON");
    let names: Vec<&str> = listed["data"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|model| model["id"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "mine",
            "mock",
            "mock-bad-json",
            "mock-never-ends",
            "mock-parallel",
            "mock-ten-rounds",
            "mock-unknown-tool"
        ]
    );
    assert_eq!(talk(&mock, "mine", 2).await, (vec![], Some("hello".to_owned())));
}

#[tokio::test]
async fn a_mock_that_is_stopped_answers_no_more() {
    let mock = mock().await;
    let url = format!("{}/models", mock.url());
    mock.stop().await;
    let client = client();
    assert!(client.get(&url).send().await.is_err());
}
