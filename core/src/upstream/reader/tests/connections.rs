//! How connections are used again, and what happens when a target ends them.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_are_a_thousand_requests_over_the_connections_of_the_pool() {
    let peer = Peer::answering(|_| Reply::json(&json!({})));
    let reader = reader(&peer, "");
    let calls = (0..1_000).map(|_| {
        let reader = reader.clone();
        tokio::spawn(async move { get(&reader, &["x"]).await })
    });
    for answer in join_all(calls).await {
        assert_eq!(answer.unwrap().unwrap().status, 200);
    }
    let asked = peer.asked();
    assert_eq!(asked.len(), 1_000);
    assert!((1..=64).contains(&peer.connections()), "{}", peer.connections());
    assert!(
        asked
            .iter()
            .all(|asked| asked.method == "GET" && asked.body.is_empty())
    );
}

#[tokio::test]
async fn calls_one_after_another_share_one_connection() {
    let peer = Peer::answering(|_| Reply::json(&json!({})));
    let reader = reader(&peer, "");
    for _ in 0..100 {
        get(&reader, &["x"]).await.unwrap();
    }
    assert_eq!((peer.asked().len(), peer.connections()), (100, 1));
}

#[tokio::test]
async fn a_connection_that_the_target_ended_is_no_error() {
    for said in [true, false] {
        let peer = Peer::answering(move |_| match said {
            true => Reply::status(403).closing(),
            false => Reply::status(403).closing_unsaid(),
        });
        let reader = reader(&peer, "");
        for n in 1..=20 {
            assert_eq!(get(&reader, &["x"]).await.unwrap().status, 403);
            assert_eq!(peer.connections(), n);
        }
    }
}

#[tokio::test]
async fn a_connection_that_ends_under_a_request_is_made_anew_once() {
    // The second request finds the connection that rested, and it ends without an answer.
    let count = AtomicUsize::new(0);
    let peer = Peer::answering(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        1 => Reply::raw("", true),
        _ => Reply::json(&json!({})),
    });
    let reader = reader(&peer, "");
    get(&reader, &["x"]).await.unwrap();
    get(&reader, &["x"]).await.unwrap();
    assert_eq!((peer.asked().len(), peer.connections()), (3, 2));
}

#[tokio::test]
async fn a_target_that_ends_new_connections_is_asked_once() {
    let peer = Peer::answering(|_| Reply::raw("", true));
    let reader = reader(&peer, "");
    let fault = get(&reader, &["x"]).await.unwrap_err();
    assert_eq!(fault.error, UpstreamError::Unreachable);
    assert_eq!((peer.asked().len(), peer.connections()), (1, 1));
}

#[tokio::test]
async fn a_connection_with_half_an_answer_in_it_is_not_used_again() {
    let peer = Peer::answering(|asked| match asked.path() {
        "/large" => Reply::status(200).with_body(vec![b'x'; 9 * 1024 * 1024]),
        _ => Reply::json(&json!({"fits": true})),
    });
    let reader = reader(&peer, "");
    for _ in 0..3 {
        let fault = get(&reader, &["large"]).await.unwrap_err();
        assert_eq!(fault.error, UpstreamError::TooLarge);
        let answer = get(&reader, &["small"]).await.unwrap();
        assert_eq!(answer.json::<Value>().unwrap(), json!({"fits": true}));
    }
}

#[tokio::test]
async fn a_caller_who_leaves_closes_the_connection() {
    let (closed, mut seen) = tokio::sync::mpsc::channel(1);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        use tokio::io::AsyncReadExt;
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 4_096];
        let first = stream.read(&mut bytes).await.unwrap();
        closed.send(first).await.unwrap();
        let last = stream.read(&mut bytes).await.unwrap_or(0);
        closed.send(last).await.unwrap();
    });
    let destination = Destination {
        base: Base::parse(&format!("http://{address}")).unwrap(),
        trust: Trust::default(),
        allow: Allow {
            private: vec![],
            loopback: true,
            http: true,
        },
    };
    let reader = Reader::new(destination, headers()).unwrap();
    let call = tokio::spawn({
        let reader = reader.clone();
        async move { get(&reader, &["x"]).await }
    });
    assert!(seen.recv().await.unwrap() > 0, "the request arrived");
    call.abort();
    assert_eq!(seen.recv().await, Some(0), "the connection ended");
    drop(reader);
}
