mod tls;

use serde_json::json;

use super::*;
use crate::upstream::{
    UpstreamError,
    reader::{
        Trust,
        peer::{Peer, Reply},
    },
};

fn get(target: &str) -> Request<'_> {
    Request {
        method: HttpMethod::Get,
        target,
        authorization: Some(HeaderValue::from_static("Bearer t")),
        content: Content::Nothing,
    }
}

async fn asked(peer: &Peer, target: &str) -> Result<Answer, Fault> {
    let client = Client::new(&peer.destination("/api"))?;
    client.send(get(target)).await
}

#[tokio::test]
async fn a_request_travels_as_it_was_made_and_its_connection_stays_warm() {
    let peer = Peer::answering(|_| Reply::json(&json!({"ok": true})));
    let client = Client::new(&peer.destination("/api")).unwrap();
    for _ in 0..3 {
        let request = Request {
            method: HttpMethod::Patch,
            target: "/a%2Fb%3Fc?q=x%20y",
            authorization: Some(HeaderValue::from_static("Bearer t")),
            content: Content::Json(Bytes::from_static(br#"{"n":9007199254740993}"#)),
        };
        assert_eq!(client.send(request).await.unwrap().status, 200);
    }
    let asked = peer.asked().remove(0);
    assert_eq!(
        (asked.method.as_str(), asked.path_and_query.as_str()),
        ("PATCH", "/api/a%2Fb%3Fc?q=x%20y")
    );
    assert_eq!(asked.body, br#"{"n":9007199254740993}"#);
    assert_eq!(asked.header("authorization"), "Bearer t");
    assert_eq!(asked.header("content-type"), "application/json");
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let peer = Peer::answering(|_| Reply::status(302).header("location", "/elsewhere"));
    assert_eq!(asked(&peer, "/x").await.unwrap().status, 302);
    assert_eq!(peer.asked().len(), 1);
}

#[tokio::test]
async fn what_is_no_sound_answer_has_its_reason() {
    let check = async |reply: Reply, expected: UpstreamError| {
        let peer = Peer::answering(move |_| reply.clone());
        assert_eq!(asked(&peer, "/x").await.unwrap_err().error, expected);
    };
    check(
        Reply::status(200)
            .header("content-encoding", "br")
            .with_body(*b"x"),
        UpstreamError::Invalid,
    )
    .await;
    check(
        Reply::status(200).with_body(vec![b'x'; 8 * 1024 * 1024 + 1]),
        UpstreamError::TooLarge,
    )
    .await;
    let gone = {
        let peer = Peer::answering(|_| Reply::status(200));
        peer.destination("/")
    };
    let fault = Client::new(&gone).unwrap().send(get("/x")).await.unwrap_err();
    assert_eq!(fault.error, UpstreamError::Unreachable, "{}", fault.detail);
}

#[tokio::test]
async fn of_what_is_no_success_only_the_beginning_is_read() {
    let peer = Peer::answering(|_| Reply::status(500).with_body(vec![b'x'; 1 << 20]));
    let answer = asked(&peer, "/x").await.unwrap();
    assert!(
        answer.more && answer.body.len() >= 4_096 && answer.body.len() < 1 << 19,
        "{answer:?}"
    );
}

#[tokio::test]
async fn no_address_is_dialled_that_the_target_does_not_allow() {
    let peer = Peer::answering(|_| Reply::status(200));
    let check = async |base: &str, allow: Allow| {
        let destination = Destination {
            base: Base::parse(base).unwrap(),
            trust: Trust::default(),
            allow,
        };
        let client = match Client::new(&destination) {
            Err(fault) => return fault,
            Ok(client) => client,
        };
        client.send(get("/x")).await.unwrap_err()
    };
    let plain = || Allow {
        http: true,
        ..Allow::default()
    };
    let port = peer.port();
    for base in [
        format!("http://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        format!("http://[::1]:{port}"),
        format!("http://[::ffff:127.0.0.1]:{port}"),
        "http://169.254.169.254".into(),
        "http://10.0.0.1".into(),
        "http://0x7f000001:80".into(),
    ] {
        let fault = check(&base, plain()).await;
        assert_eq!(fault.error, UpstreamError::Forbidden, "{base}: {}", fault.detail);
    }
    let fault = check("http://memory.example", Allow::default()).await;
    assert_eq!(fault.error, UpstreamError::Forbidden, "plain HTTP");
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_target_that_does_not_leave_its_base_is_asked_and_no_other() {
    let peer = Peer::answering(|_| Reply::status(200));
    let fault = asked(&peer, "/../../x").await.unwrap_err();
    assert_eq!(fault.error, UpstreamError::Invalid);
    assert!(peer.asked().is_empty());
}
