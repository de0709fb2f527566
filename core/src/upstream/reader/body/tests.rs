use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use super::*;
use crate::upstream::{
    UpstreamError,
    reader::{
        Answer, ReadPath, Reader,
        peer::{Peer, Reply, contact},
    },
};

async fn read(reply: Reply) -> Result<Answer, Fault> {
    let peer = Peer::answering(move |_| reply.clone());
    let reader = Reader::new(peer.destination(""), HeaderMap::new()).unwrap();
    reader.get(&contact(), &ReadPath::of(["x"])).await
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[track_caller]
fn failed(answer: Result<Answer, Fault>, expected: UpstreamError) {
    assert_eq!(answer.unwrap_err().error, expected);
}

#[tokio::test]
async fn what_was_deflated_arrives_as_it_was() {
    let text = "a guest, and another. ".repeat(1_000);
    for name in ["gzip", "x-gzip", "GZip"] {
        let body = gzip(text.as_bytes());
        let reply = Reply::status(200)
            .header("content-encoding", name)
            .with_body(body);
        assert_eq!(read(reply).await.unwrap().body, text);
    }
    let plain = Reply::status(200)
        .header("content-encoding", "identity")
        .with_body(text.clone());
    assert_eq!(read(plain).await.unwrap().body, text);
    let nothing = Reply::status(200).header("content-encoding", "gzip");
    assert!(read(nothing).await.unwrap().body.is_empty());
}

#[tokio::test]
async fn a_body_of_8_mib_is_taken_and_not_a_byte_more() {
    let most = vec![b'x'; LONGEST];
    let more = vec![b'x'; LONGEST + 1];
    let zipped = |data: &[u8]| {
        Reply::status(200)
            .header("content-encoding", "gzip")
            .with_body(gzip(data))
    };
    assert_eq!(
        read(Reply::status(200).with_body(most.clone()))
            .await
            .unwrap()
            .body
            .len(),
        LONGEST
    );
    assert_eq!(read(zipped(&most)).await.unwrap().body.len(), LONGEST);
    failed(
        read(Reply::status(200).with_body(more.clone())).await,
        UpstreamError::TooLarge,
    );
    failed(read(zipped(&more)).await, UpstreamError::TooLarge);
}

#[tokio::test]
async fn a_body_that_says_no_length_is_held_against_the_limit_as_well() {
    let mut text = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    text.extend(vec![b'x'; LONGEST + 1]);
    failed(read(Reply::raw(text, true)).await, UpstreamError::TooLarge);
    let announced = "HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n";
    failed(read(Reply::raw(announced, false)).await, UpstreamError::TooLarge);
}

#[tokio::test]
async fn a_small_body_that_inflates_without_end_is_given_up_at_the_limit() {
    let bomb = gzip(&vec![0; 256 * 1024 * 1024]);
    assert!(bomb.len() < 512 * 1024);
    let reply = Reply::status(200)
        .header("content-encoding", "gzip")
        .with_body(bomb);
    failed(read(reply).await, UpstreamError::TooLarge);
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_refused() {
    for encodings in [
        vec!["br"],
        vec!["gzip, gzip"],
        vec!["gzip", "gzip"],
        vec!["deflate"],
        vec!["identity", "gzip"],
    ] {
        let mut reply = Reply::status(200).with_body(gzip(&gzip(b"x")));
        for encoding in &encodings {
            reply = reply.header("content-encoding", encoding);
        }
        failed(read(reply).await, UpstreamError::Invalid);
    }
}

#[tokio::test]
async fn what_says_gzip_and_is_none_is_refused() {
    let whole = gzip("a guest, and another. ".repeat(99).as_bytes());
    for body in [
        b"plain".to_vec(),
        whole[..whole.len() - 9].to_vec(),
        [&whole[..], b"rest"].concat(),
    ] {
        let reply = Reply::status(200)
            .header("content-encoding", "gzip")
            .with_body(body);
        failed(read(reply).await, UpstreamError::Invalid);
    }
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_no_body() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc";
    failed(read(Reply::raw(cut, true)).await, UpstreamError::Unreachable);
}
