use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::CallId;

use super::*;
use crate::{
    adapters::{Kind, Verdict},
    upstream::{
        Payload, Reports,
        reader::peer::{Asked, Peer, Reply, contact},
    },
};

const TOKEN: &str = "0123456789abcdef-CANARY-token";

fn opened(peer: &Peer, settings: Value, credential: Value) -> Arc<dyn Adapter> {
    let mut stored =
        json!({"baseUrl": peer.base(), "allowLoopback": true, "allowHttp": true, "access": "read_write"});
    stored
        .as_object_mut()
        .unwrap()
        .extend(settings.as_object().unwrap().clone());
    let kind = Kind::AgentOperator;
    let credential = kind.credential(credential.as_object().unwrap()).unwrap();
    kind.open(&stored, &json!({}), &credential).unwrap()
}

async fn called(
    adapter: &dyn Adapter,
    tool: &'static str,
    arguments: Value,
) -> Result<(String, bool), UpstreamError> {
    let call = UpstreamCall {
        call: CallId::mint(),
        tool,
        arguments: Payload(arguments.to_string().into()),
        secret: None,
        deadline: Duration::from_secs(5),
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: None,
    };
    let result = adapter.call(&contact(), call).await?;
    let content: Value = serde_json::from_str(result.content.get()).unwrap();
    Ok((content[0]["text"].as_str().unwrap().to_owned(), result.is_error))
}

#[tokio::test]
async fn a_call_is_one_request_with_the_credential_of_the_target() {
    let peer = Peer::answering(|_| Reply::status(201).with_body(*b"{\"id\": 9007199254740993 }"));
    let adapter = opened(&peer, json!({}), json!({"token": TOKEN}));
    let arguments = json!({"task": "t-7", "title": "look", "order": 9_007_199_254_740_993_u64});
    let told = called(&*adapter, "subtask_create", arguments).await;
    assert_eq!(told, Ok(("{\"id\": 9007199254740993 }".into(), false)));
    let asked = peer.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (asked[0].method.as_str(), asked[0].path()),
        ("POST", "/tasks/t-7/subtasks")
    );
    assert_eq!(asked[0].body, br#"{"title":"look","order":9007199254740993}"#);
    assert_eq!(asked[0].header("authorization"), format!("Bearer {TOKEN}"));
}

#[tokio::test]
async fn a_back_end_that_reflects_the_credential_tells_everything_else() {
    let check = async |status: u16| {
        let peer = Peer::answering(move |asked: &Asked| {
            let sent = asked.header("authorization").to_owned();
            Reply::status(status).with_body(format!("you sent {sent}!"))
        });
        let adapter = opened(&peer, json!({}), json!({"token": TOKEN}));
        match called(&*adapter, "project_list", json!({})).await {
            Ok((text, _)) => text,
            Err(error) => error.to_string(),
        }
    };
    for status in [200, 404, 500] {
        let text = check(status).await;
        assert!(text.ends_with("you sent Bearer [credential withheld]!"), "{text}");
    }
}

#[tokio::test]
async fn a_rejected_token_of_an_endpoint_is_replaced_once_and_the_request_sent_again() {
    let peer = Peer::answering(
        |asked: &Asked| match (asked.path(), asked.header("authorization")) {
            ("/token", _) => {
                Reply::json(&json!({"access_token": "fresh-CANARY-0123456789", "expires_in": 3_600}))
            }
            (_, _) => Reply::status(401).with_body(*b"unknown token"),
        },
    );
    let url = format!("{}/token", peer.base());
    let client = json!({"clientId": "pod", "clientSecret": "secret-CANARY-0123456789"});
    let adapter = opened(&peer, json!({"tokenUrl": url}), client);
    let told = called(&*adapter, "comment", json!({"task": "t", "body": "b"})).await;
    assert_eq!(told, Err(UpstreamError::CredentialRejected));
    let paths: Vec<_> = peer.asked().iter().map(|asked| asked.path().to_owned()).collect();
    assert_eq!(
        paths,
        ["/token", "/tasks/t/comment", "/token", "/tasks/t/comment"]
    );
    // The next one does not ask for a third token a moment later.
    let told = called(&*adapter, "comment", json!({"task": "t", "body": "b"})).await;
    assert_eq!(told, Err(UpstreamError::CredentialRejected));
    assert_eq!(peer.asked().len(), 5);
}

#[tokio::test]
async fn no_token_no_request() {
    let check = async |status: u16, expected: UpstreamError| {
        let peer = Peer::answering(move |_: &Asked| Reply::status(status));
        let url = format!("{}/token", peer.base());
        let client = json!({"clientId": "pod", "clientSecret": "secret-CANARY-0123456789"});
        let adapter = opened(&peer, json!({"tokenUrl": url}), client);
        assert_eq!(called(&*adapter, "project_list", json!({})).await, Err(expected));
        assert!(peer.asked().iter().all(|asked| asked.path() == "/token"));
    };
    check(503, UpstreamError::TokenUnavailable).await;
    check(401, UpstreamError::CredentialRejected).await;
}

#[tokio::test]
async fn a_validation_reads_and_says_what_it_found() {
    let check = async |reply: Reply, verdict: &str, stages: &[&str]| {
        let peer = Peer::answering(move |_: &Asked| reply.clone());
        let adapter = opened(&peer, json!({}), json!({"token": TOKEN}));
        let found = adapter.validate(&contact()).await;
        let told: Vec<String> = found
            .stages
            .iter()
            .map(|stage| format!("{}{}", stage.name, if stage.failed.is_some() { "!" } else { "" }))
            .collect();
        assert_eq!(told, stages, "{found:?}");
        let short = match found.verdict {
            Verdict::Passed => "passed".to_owned(),
            Verdict::Violation(_) => "violation".to_owned(),
            Verdict::Unknown(error) => format!("{error:?}"),
        };
        assert_eq!(short, verdict);
        assert!(
            peer.asked()
                .iter()
                .all(|asked| asked.method == "GET" && asked.path() == "/projects")
        );
    };
    check(
        Reply::json(&json!([])),
        "passed",
        &["reach", "authenticate", "sample"],
    )
    .await;
    check(
        Reply::status(401),
        "CredentialRejected",
        &["reach", "authenticate!"],
    )
    .await;
    check(Reply::status(403), "violation", &["reach", "authenticate!"]).await;
    check(Reply::status(404), "Invalid", &["reach", "sample!"]).await;
    check(Reply::status(500), "Failed", &["reach", "sample!"]).await;
    check(Reply::status(302), "Invalid", &["reach", "sample!"]).await;
    check(Reply::raw(*b"\x00no\r\n\r\n", true), "Invalid", &["reach!"]).await;
}

#[tokio::test]
async fn settings_and_credential_that_do_not_belong_together_are_told_at_submit() {
    let peer = Peer::answering(|_: &Asked| Reply::status(200));
    let check = async |settings: Value, credential: Value, text: &str| {
        let adapter = opened(&peer, settings, credential);
        let found = adapter.validate(&contact()).await;
        let why = found.stages[0].failed.clone().unwrap();
        assert!(why.contains(text), "{why}");
        assert_eq!(found.verdict, Verdict::Unknown(UpstreamError::CredentialRejected));
    };
    let client = json!({"clientId": "pod", "clientSecret": "secret-CANARY-0123456789"});
    check(json!({}), client, "set tokenUrl or issuer").await;
    check(
        json!({"tokenUrl": "http://127.0.0.1/t"}),
        json!({"token": TOKEN}),
        "a token is no client",
    )
    .await;
    assert!(peer.asked().is_empty());
}
