use std::time::Duration;

use futures::{FutureExt, StreamExt};
use http_body_util::BodyExt;

use super::*;

fn messages(said: &[&'static str]) -> Messages {
    let said: Vec<_> = said
        .iter()
        .map(|text| Bytes::from_static(text.as_bytes()))
        .collect();
    Box::pin(futures::stream::iter(said).chain(futures::stream::pending()))
}

async fn piece(body: &mut Events) -> String {
    let frame = body.frame().await.unwrap().unwrap();
    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
}

/// Report #40: what is quiet for long is taken for dead by proxies.
#[tokio::test(start_paused = true)]
async fn a_stream_with_nothing_to_say_tells_every_15_seconds_that_it_is_there() {
    let mut body = Events::new(messages(&["{}"]), None);
    assert_eq!(piece(&mut body).await, "event: message\ndata: {}\n\n");
    let began = Instant::now();
    assert!(body.frame().now_or_never().is_none());
    for n in 1..=3 {
        assert_eq!(piece(&mut body).await, ":\n\n");
        assert_eq!(began.elapsed(), n * KEEP_ALIVE);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_puts_the_next_comment_off() {
    let (tell, told) = futures::channel::mpsc::unbounded();
    let mut body = Events::new(Box::pin(told), None);
    assert!(body.frame().now_or_never().is_none());
    tokio::time::advance(Duration::from_secs(14)).await;
    tell.unbounded_send(Bytes::from_static(b"1")).unwrap();
    assert_eq!(piece(&mut body).await, "event: message\ndata: 1\n\n");
    let began = Instant::now();
    assert_eq!(piece(&mut body).await, ":\n\n");
    assert_eq!(began.elapsed(), KEEP_ALIVE);
    drop(tell);
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn the_first_event_comes_before_any_message() {
    let mut body = Events::new(messages(&["1"]), Some(Bytes::from_static(b"id: x\ndata: \n\n")));
    assert_eq!(piece(&mut body).await, "id: x\ndata: \n\n");
    assert_eq!(piece(&mut body).await, "event: message\ndata: 1\n\n");
}

#[tokio::test]
async fn a_message_in_pieces_knows_its_length_and_leaves_empty_ones_out() {
    let check = async |pieces: [&'static str; 3]| {
        let mut body = Pieces::new(pieces.map(|piece| Bytes::from_static(piece.as_bytes())));
        let whole = pieces.concat();
        assert_eq!(
            http_body::Body::size_hint(&body).exact(),
            Some(whole.len() as u64)
        );
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            assert!(!data.is_empty());
            read.extend_from_slice(&data);
        }
        assert!(http_body::Body::is_end_stream(&body));
        assert_eq!(read, whole.as_bytes());
    };
    check(["a", "bc", "d"]).await;
    check(["abc", "", ""]).await;
    check(["", "", "x"]).await;
    check(["", "", ""]).await;
}
