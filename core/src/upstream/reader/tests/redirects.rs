//! Redirects, followed and not followed, at peers on loopback.

use super::*;

#[tokio::test]
async fn a_redirect_below_the_base_is_followed_and_told() {
    let peer = Peer::answering(|asked| match asked.path() {
        "/api/v3/repos/old/name/actions/runs" => Reply::status(301)
            .header("location", "/api/v3/repositories/1000/actions/runs?page=1")
            .with_body("{\"message\":\"Moved Permanently\"}"),
        "/api/v3/repositories/1000/actions/runs" => Reply::json(&json!({"total_count": 0})),
        _ => Reply::status(404),
    });
    let reader = reader(&peer, "/api/v3");
    let answer = get(&reader, &["repos", "old", "name", "actions", "runs"])
        .await
        .unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.moved_to.as_deref(),
        Some("/repositories/1000/actions/runs")
    );
    let asked = peer.asked();
    assert_eq!(
        asked[1].path_and_query,
        "/api/v3/repositories/1000/actions/runs?page=1"
    );
    assert_eq!(asked[1].header("authorization"), format!("Bearer {CANARY}"));
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn three_redirects_are_followed_and_a_fourth_is_not() {
    let peer = Peer::answering(|asked| {
        let left: u32 = asked.path()[1..].parse().unwrap();
        match left {
            0 => Reply::json(&json!({})),
            left => Reply::status(307).header("location", &format!("/{}", left - 1)),
        }
    });
    let reader = reader(&peer, "");
    let answer = get(&reader, &["3"]).await.unwrap();
    assert_eq!(answer.moved_to.as_deref(), Some("/0"));
    let before = peer.asked().len();
    let fault = get(&reader, &["99"]).await.unwrap_err();
    assert_eq!(fault.error, UpstreamError::Invalid);
    assert_eq!(peer.asked().len() - before, 4);
}

#[tokio::test]
async fn the_credential_is_taken_to_no_other_place() {
    let other = Peer::answering(|_| Reply::json(&json!({})));
    let elsewhere = other.base();
    let inner = other.base();
    let peer = Peer::answering(move |asked| {
        let location = match asked.path() {
            "/base/port" => format!("{elsewhere}/base/x"),
            "/base/scheme" => "https://127.0.0.1/base/x".to_owned(),
            "/base/user" => elsewhere.replace("http://", "http://user:pass@"),
            "/base/metadata" => "http://169.254.169.254/latest".to_owned(),
            "/base/relative" => elsewhere.trim_start_matches("http:").to_owned(),
            "/base/out" => "/x".to_owned(),
            _ => "../../x".to_owned(),
        };
        Reply::status(302).header("location", &location)
    });
    let reader = reader(&peer, "/base");
    for path in ["port", "scheme", "user", "metadata", "relative", "out", "up"] {
        let fault = get(&reader, &[path]).await.unwrap_err();
        assert_eq!(fault.error, UpstreamError::Invalid, "{path}");
        assert!(!fault.detail.contains(CANARY), "{fault:?}");
    }
    assert_eq!(peer.asked().len(), 7);
    assert_eq!(other.connections(), 0, "{inner}");
}

#[tokio::test]
async fn a_redirect_that_names_no_place_is_an_answer() {
    let peer = Peer::answering(|_| Reply::status(301));
    assert_eq!(get(&reader(&peer, ""), &["x"]).await.unwrap().status, 301);
}
