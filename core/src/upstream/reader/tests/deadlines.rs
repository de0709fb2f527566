//! What is told when the time is up, by where it was up.

use std::net::TcpListener;

use super::*;

const SHORT: Duration = Duration::from_secs(1);

fn within_short(destination: Destination) -> Reader {
    Reader::over(destination, headers(), resolve::system(), SHORT).unwrap()
}

async fn told(reader: &Reader) -> (UpstreamError, String) {
    let fault = get(reader, &["x"]).await.unwrap_err();
    (fault.error, fault.detail)
}

#[tokio::test]
async fn silence_is_told_by_where_it_began() {
    let peer = Peer::answering(|_| Reply::never());
    let (error, detail) = told(&within_short(peer.destination(""))).await;
    assert_eq!(error, UpstreamError::Timeout);
    assert!(
        detail.contains("within 1 s: the request was sent and nothing came back"),
        "{detail}"
    );
    let peer = Peer::answering(|_| Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", false));
    let (error, detail) = told(&within_short(peer.destination(""))).await;
    assert_eq!(error, UpstreamError::Timeout);
    assert!(detail.contains("its answer began and did not end"), "{detail}");
}

#[tokio::test]
async fn a_listener_that_never_accepts_has_no_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let destination = Destination {
        base: Base::parse(&format!("https://{}", listener.local_addr().unwrap())).unwrap(),
        trust: Trust {
            authorities: None,
            fingerprints: vec![[0; 32]],
        },
        allow: Allow {
            private: vec![],
            loopback: true,
            http: false,
        },
    };
    let (error, detail) = told(&within_short(destination)).await;
    assert_eq!(error, UpstreamError::Timeout);
    assert!(detail.contains("no TLS session"), "{detail}");
}

#[tokio::test]
async fn redirects_share_one_deadline() {
    let peer = Peer::answering(|asked| match asked.path() {
        "/x" => Reply::status(302).header("location", "/y"),
        _ => Reply::never(),
    });
    let began = tokio::time::Instant::now();
    let (error, _) = told(&within_short(peer.destination(""))).await;
    assert_eq!(error, UpstreamError::Timeout);
    assert!(began.elapsed() < SHORT * 5, "{:?}", began.elapsed());
}

#[tokio::test]
async fn whoever_waits_for_a_connection_too_long_is_told_so() {
    let peer = Peer::answering(|_| Reply::never());
    let reader = within_short(peer.destination(""));
    let progress = Progress::default();
    let mut turns = Vec::new();
    for _ in 0..64 {
        turns.push(reader.0.pool.turn(&progress).await.unwrap());
    }
    let (error, detail) = told(&reader).await;
    assert_eq!(error, UpstreamError::Overloaded, "{detail}");
    assert!(peer.asked().is_empty());
}

#[tokio::test]
async fn a_port_without_a_listener_is_told_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let destination = Destination {
        base: Base::parse(&format!("http://{address}")).unwrap(),
        trust: Trust::default(),
        allow: Allow {
            private: vec![],
            loopback: true,
            http: true,
        },
    };
    let (error, detail) = told(&within_short(destination)).await;
    assert_eq!(error, UpstreamError::Unreachable);
    assert!(
        detail.contains(&address.to_string()) && detail.contains("nothing listens"),
        "{detail}"
    );
}
