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

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_nobodys() {
    let forged = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged";
    let peer = Peer::answering(move |asked| {
        let body = asked.path().to_owned();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        match asked.path() {
            "/twice" => Reply::raw(format!("{head}{body}{forged}"), false),
            _ => Reply::status(200).with_body(body),
        }
    });
    let reader = reader(&peer, "");
    for _ in 0..20 {
        assert_eq!(get(&reader, &["twice"]).await.unwrap().body, "/twice");
        assert_eq!(get(&reader, &["once"]).await.unwrap().body, "/once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_who_leave_at_any_moment_leave_no_answer_to_another() {
    let peer = Peer::answering(|asked| Reply::status(200).with_body(asked.path()));
    let reader = reader(&peer, "");
    let mut calls = Vec::new();
    for n in 0..600_u64 {
        let reader = reader.clone();
        calls.push(tokio::spawn(async move {
            let own = n.to_string();
            let path = ReadPath::of([own.as_str()]);
            let contact = contact();
            let call = reader.get(&contact, &path);
            match n % 3 {
                0 => Some((own.clone(), call.await.unwrap())),
                // Given up after so many looks at it, each at another place.
                _ => given_up_after(call, n % 17)
                    .await
                    .map(|answer| (own.clone(), answer.unwrap())),
            }
        }));
    }
    let mut answered = 0;
    for call in join_all(calls).await {
        if let Some((own, answer)) = call.unwrap() {
            assert_eq!(answer.body, format!("/{own}"));
            answered += 1;
        }
    }
    assert!(answered >= 200, "{answered}");
}

/// What a future comes to within so many polls.
async fn given_up_after<F: Future>(future: F, polls: u64) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    let mut left = polls;
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending if left == 0 => std::task::Poll::Ready(None),
        std::task::Poll::Pending => {
            left -= 1;
            std::task::Poll::Pending
        }
    })
    .await
}
