use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use serde_json::json;

use super::*;
use crate::{
    adapters::agent::settings::Tokens as From,
    upstream::reader::{
        Base,
        peer::{Asked, Peer, Reply},
    },
};

const SECRET: &str = "s:e c/ret-CANARY";

fn tokens(peer: &Peer, from: impl FnOnce(Base) -> From) -> Tokens {
    let destination = peer.destination("/token");
    let settings = Settings {
        base: Base::parse("https://memory.example").unwrap(),
        tokens: Some(from(destination.base.clone())),
        scope: Some("read write".into()),
    };
    let credential = Credential::Client {
        id: "pod 7".into(),
        secret: SECRET.to_owned().into(),
    };
    Tokens::new(&settings, credential, &destination.trust, &destination.allow).unwrap()
}

/// Hands out `token-1`, `token-2` and so on, which last so long.
fn handing_out(seconds: u64) -> Peer {
    let count = AtomicUsize::new(0);
    Peer::answering(move |_| {
        let n = count.fetch_add(1, Ordering::SeqCst) + 1;
        Reply::json(
            &json!({"access_token": format!("token-{n}"), "token_type": "bearer", "expires_in": seconds}),
        )
    })
}

fn sent(token: &Token) -> String {
    token.header().to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_client_proves_itself_as_the_protocol_says() {
    let peer = handing_out(3_600);
    let token = tokens(&peer, From::At).current().await.unwrap();
    assert_eq!(sent(&token), "Bearer token-1");
    let asked = peer.asked().remove(0);
    assert_eq!((asked.method.as_str(), asked.path()), ("POST", "/token"));
    assert_eq!(asked.header("content-type"), "application/x-www-form-urlencoded");
    assert_eq!(asked.body, b"grant_type=client_credentials&scope=read%20write");
    // Each part is encoded as in a form before they are joined.
    let pair = data_encoding::BASE64.encode(b"pod%207:s%3Ae%20c%2Fret-CANARY");
    assert_eq!(asked.header("authorization"), format!("Basic {pair}"));
}

#[tokio::test]
async fn fifty_calls_at_once_ask_for_one_token() {
    let peer = handing_out(3_600);
    let tokens = tokens(&peer, From::At);
    let all = join_all((0..50).map(|_| tokens.current())).await;
    assert!(
        all.iter()
            .all(|got| sent(got.as_ref().unwrap()) == "Bearer token-1")
    );
    assert_eq!(peer.asked().len(), 1);
}

#[tokio::test]
async fn a_token_is_renewed_ahead_of_its_end_while_nobody_waits() {
    let peer = handing_out(3_600);
    let tokens = tokens(&peer, From::At);
    assert_eq!(sent(&tokens.current().await.unwrap()), "Bearer token-1");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2_879)).await;
    assert_eq!(sent(&tokens.current().await.unwrap()), "Bearer token-1");
    assert_eq!(peer.asked().len(), 1, "not yet");
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    // The former one is still good and is taken at once; the flight goes on behind it.
    let flight = {
        assert_eq!(sent(&tokens.current().await.unwrap()), "Bearer token-1");
        tokens.0.state().flight.clone()
    };
    if let Some(flight) = flight {
        assert_eq!(sent(&flight.await.unwrap()), "Bearer token-2");
    }
    assert_eq!(sent(&tokens.current().await.unwrap()), "Bearer token-2");
    assert_eq!(peer.asked().len(), 2);
}

#[tokio::test]
async fn a_rejected_token_is_replaced_once_for_all_who_sent_it() {
    let peer = handing_out(3_600);
    let tokens = tokens(&peer, From::At);
    let first = tokens.current().await.unwrap();
    let renewed = join_all((0..20).map(|_| tokens.after_rejected(&first))).await;
    for got in renewed {
        assert_eq!(sent(&got.expect("asked for").unwrap()), "Bearer token-2");
    }
    assert_eq!(peer.asked().len(), 2);
    // The new one is rejected as well a moment later: another would not help.
    let second = tokens.current().await.unwrap();
    assert!(tokens.after_rejected(&second).await.is_none());
    assert_eq!(peer.asked().len(), 2);
}

#[tokio::test]
async fn who_hands_out_no_token_is_told_apart_and_not_stormed() {
    let check = async |reply: Reply, expected: UpstreamError| {
        let peer = Peer::answering(move |_| reply.clone());
        let tokens = tokens(&peer, From::At);
        for _ in 0..10 {
            let fault = tokens.current().await.map(drop).unwrap_err();
            assert_eq!(fault.error, expected, "{}", fault.detail);
            assert!(!fault.detail.contains("CANARY"), "{}", fault.detail);
        }
        assert_eq!(peer.asked().len(), 1);
    };
    let invalid = Reply::json(&json!({"error": "invalid_client", "hint": SECRET}));
    check(
        invalid.clone().with_status(401),
        UpstreamError::CredentialRejected,
    )
    .await;
    check(
        invalid.clone().with_status(400),
        UpstreamError::CredentialRejected,
    )
    .await;
    check(invalid.with_status(503), UpstreamError::TokenUnavailable).await;
    check(
        Reply::status(302).header("location", "https://x"),
        UpstreamError::TokenUnavailable,
    )
    .await;
    check(
        Reply::json(&json!({"access_token": ""})),
        UpstreamError::TokenUnavailable,
    )
    .await;
    check(
        Reply::json(&json!({"access_token": "a", "token_type": "mac"})),
        UpstreamError::TokenUnavailable,
    )
    .await;
    check(
        Reply::status(200).with_body(*b"<html>"),
        UpstreamError::TokenUnavailable,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_endpoint_is_given_up_after_five_seconds() {
    let peer = Peer::answering(|_| Reply::never());
    let tokens = tokens(&peer, From::At);
    let began = Instant::now();
    let fault = tokens.current().await.map(drop).unwrap_err();
    assert_eq!(fault.error, UpstreamError::TokenUnavailable);
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn an_issuer_says_where_its_tokens_are() {
    let describing = |path: &'static str, issuer: &'static str| {
        Peer::answering(move |asked: &Asked| {
            let origin = format!("http://{}", asked.header("host"));
            match asked.path() {
                known if known == path => Reply::json(&json!({
                    "issuer": if issuer.is_empty() { format!("{origin}/token") } else { issuer.to_owned() },
                    "token_endpoint": format!("{origin}/given"),
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                })),
                "/given" => Reply::json(&json!({"access_token": "t"})),
                _ => Reply::status(404),
            }
        })
    };
    for path in [
        "/token/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server/token",
    ] {
        let peer = describing(path, "");
        let token = tokens(&peer, From::Of).current().await.unwrap();
        assert_eq!(sent(&token), "Bearer t");
        let asked = peer.asked().pop().unwrap();
        let form = String::from_utf8(asked.body.clone()).unwrap();
        assert!(
            form.ends_with("&client_id=pod%207&client_secret=s%3Ae%20c%2Fret-CANARY"),
            "{form}"
        );
        assert_eq!(asked.header("authorization"), "");
    }
    let other = describing("/token/.well-known/openid-configuration", "https://other.example");
    let fault = tokens(&other, From::Of).current().await.map(drop).unwrap_err();
    assert!(fault.detail.contains("another issuer"), "{}", fault.detail);
    assert!(other.asked().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn settings_and_credential_have_to_belong_together() {
    let settings = Settings {
        base: Base::parse("https://memory.example").unwrap(),
        tokens: None,
        scope: None,
    };
    let client = Credential::Client {
        id: "a".into(),
        secret: "b".to_owned().into(),
    };
    let fault = Tokens::new(&settings, client, &Trust::default(), &Allow::default()).unwrap_err();
    assert!(
        fault.detail.contains("set tokenUrl or issuer"),
        "{}",
        fault.detail
    );
    let token = Credential::Token("t".to_owned().into());
    let fault = Tokens::new(&settings, token, &Trust::default(), &Allow::default()).unwrap_err();
    assert!(fault.detail.contains("a token is no client"), "{}", fault.detail);
}
