//! A server of this machine stands for each version; fixtures are small and made by the fields that versions are known
//! to send.

mod repos;
mod runs;
mod settings;
mod tokens;

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::CallId;

use super::*;
use crate::{
    registry,
    upstream::{
        Payload, Reports,
        reader::peer::{Asked, Peer, Reply, contact},
    },
};

const TOKEN: &str = "0123456789abcdef0123456789abcdef01234567";

/// A target at this peer whose last validation found this source.
fn server(peer: &Peer, source: &str) -> Server {
    at(&peer.base(), &json!({"ciSource": source}))
}

fn at(url: &str, facts: &Value) -> Server {
    let settings = json!({"baseUrl": url, "allowLoopback": true, "allowHttp": true});
    Server::new(&settings, facts, &secret()).unwrap()
}

fn secret() -> SecretValue {
    SecretValue::new(TOKEN.as_bytes()).unwrap()
}

/// What a tool answered.
#[derive(Debug)]
struct Answered {
    text: String,
    structured: Value,
    is_error: bool,
}

/// Calls a tool. Whatever is answered fits the tool's schema.
async fn call(server: &Server, tool: &'static str, arguments: Value) -> Result<Answered, UpstreamError> {
    let call = UpstreamCall {
        call: CallId::mint(),
        tool,
        arguments: Payload(arguments.to_string().into()),
        secret: None,
        deadline: Duration::from_secs(10),
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: None,
    };
    let result = server.call(&contact(), call).await?;
    let content: Value = serde_json::from_str(result.content.get()).unwrap();
    assert_eq!(content[0]["type"], "text");
    let structured = match &result.structured {
        None => Value::Null,
        Some(structured) => {
            assert!(registry::fits_output(tool, structured), "{structured}");
            serde_json::from_str(structured.get()).unwrap()
        }
    };
    assert_eq!(result.is_error, structured.is_null());
    Ok(Answered {
        text: content[0]["text"].as_str().unwrap().to_owned(),
        structured,
        is_error: result.is_error,
    })
}

/// Paths and queries of what was asked. Everything was a GET, with the token in its header and nowhere else.
fn asked(peer: &Peer) -> Vec<String> {
    let each = |asked: &Asked| {
        assert_eq!((asked.method.as_str(), asked.body.len()), ("GET", 0));
        assert!(!asked.path_and_query.contains(TOKEN) && !asked.path_and_query.contains("sudo"));
        assert_eq!(asked.header("sudo"), "");
        asked.path_and_query.clone()
    };
    peer.asked().iter().map(each).collect()
}

/// A no as servers word it.
fn no(status: u16, message: &str) -> Reply {
    Reply::json(&json!({"message": message, "url": "https://git.example/api/swagger"})).with_status(status)
}

#[tokio::test]
async fn the_token_travels_in_its_header_and_in_no_log() {
    let peer = Peer::answering(|_| Reply::json(&json!({"ok": true, "data": []})));
    let server = server(&peer, "runs");
    call(&server, "gitea.list_repos", json!({})).await.unwrap();
    assert_eq!(peer.asked()[0].header("authorization"), format!("token {TOKEN}"));
    asked(&peer);
    assert!(!format!("{server:?}").contains(TOKEN));
}

#[tokio::test]
async fn what_a_server_answers_becomes_the_reason_that_fits() {
    let check = async |reply: Reply, expected: UpstreamError| {
        let peer = Peer::answering(move |_| reply.clone());
        for tool in ["gitea.list_repos", "gitea.get_recent_ci_runs"] {
            let server = server(&peer, "runs");
            let answered = call(&server, tool, json!({"owner": "acme", "repo": "site"})).await;
            assert_eq!(answered.unwrap_err(), expected, "{tool}");
        }
    };
    let wait = |seconds| UpstreamError::RateLimited(Duration::from_secs(seconds));
    check(
        no(401, "user does not exist [uid: 0, name: ]"),
        UpstreamError::CredentialRejected,
    )
    .await;
    check(no(429, "slow down").header("retry-after", "7"), wait(7)).await;
    check(no(429, "slow down"), wait(60)).await;
    check(no(500, "boom"), UpstreamError::Failed).await;
    check(Reply::status(502), UpstreamError::Failed).await;
    check(
        Reply::status(200).with_body("<html>sign in</html>"),
        UpstreamError::Invalid,
    )
    .await;
    check(Reply::json(&json!(["no", "object"])), UpstreamError::Invalid).await;
    check(
        Reply::json(&json!({"data": "x", "workflow_runs": 7})),
        UpstreamError::Invalid,
    )
    .await;
}

#[tokio::test]
async fn a_server_that_limits_is_not_asked_again_before_its_time() {
    let peer = Peer::answering(|_| no(429, "slow down").header("retry-after", "30"));
    let server = server(&peer, "runs");
    for _ in 0..3 {
        let error = call(&server, "gitea.list_repos", json!({})).await.unwrap_err();
        assert!(matches!(error, UpstreamError::RateLimited(left) if left <= Duration::from_secs(30)));
    }
    assert_eq!(peer.asked().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_an_outcome_that_says_nothing_of_the_server() {
    let inner = "path /data/gitea/repositories/acme/site.git is broken";
    let check = async |status: u16, message: &'static str, says: &str| {
        let peer = Peer::answering(move |_| no(status, message));
        let answered = call(&server(&peer, "runs"), "gitea.list_repos", json!({}))
            .await
            .unwrap();
        assert!(answered.is_error && answered.text.contains(says), "{answered:?}");
        assert!(!answered.text.contains("gitea/repositories"), "{answered:?}");
    };
    check(
        403,
        "token does not have at least one of required scope(s): [read:repository]",
        "lacks read:repository",
    )
    .await;
    check(403, inner, "does not let the token").await;
    check(404, inner, "not found, or not visible").await;
    check(422, inner, "HTTP 422").await;
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in any::<Vec<u8>>()) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_answer_makes_reading_panic(row in row(), list in prop::sample::select(vec!["data", "workflow_runs", "statuses"])) {
        let answer = json!({"total_count": row, list: [row, null, 7, [row], {"repository": row}]});
        let _ = parse(answer.to_string().as_bytes());
    }
}

/// A row with known names and values of any kind.
fn row() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        Just(json!("0001-01-01T00:00:00Z")),
        Just(json!({"login": 5, "full_name": null})),
        Just(json!([])),
    ];
    let name = prop::sample::select(vec![
        "id",
        "name",
        "full_name",
        "owner",
        "private",
        "created_at",
        "topics",
        "status",
        "conclusion",
        "run_number",
        "path",
        "head_branch",
        "actor",
        "url",
        "html_url",
        "started_at",
        "index_in_repo",
        "context",
        "repository",
    ]);
    prop::collection::hash_map(name, value, 0..19).prop_map(|row| {
        row.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>()
            .into()
    })
}
