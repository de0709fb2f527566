//! Reading from peers on loopback.

mod connections;
mod deadlines;
mod egress;
mod redirects;

use std::{io, net::IpAddr, sync::Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    peer::{Peer, Reply, contact},
    *,
};
use crate::upstream::UpstreamError;

const CANARY: &str = "canary-8c1f5d0e7a42";

fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {CANARY}").parse().unwrap());
    headers
}

fn reader(peer: &Peer, path: &str) -> Reader {
    Reader::new(peer.destination(path), headers()).unwrap()
}

async fn get(reader: &Reader, segments: &[&str]) -> Result<Answer, Fault> {
    reader
        .get(&contact(), &ReadPath::of(segments.iter().copied()))
        .await
}

/// A name service that answers from a list, turn by turn; the last answer stays.
struct Names(Mutex<Vec<Vec<IpAddr>>>);

impl Names {
    fn saying(answers: &[&[&str]]) -> Arc<Self> {
        let addresses = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(addresses).collect())))
    }

    fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut answers = self.0.lock().unwrap();
        let answer = match answers.len() {
            1 => answers[0].clone(),
            _ => answers.remove(0),
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[tokio::test]
async fn a_path_is_read_with_the_credential_and_by_get_alone() {
    let peer = Peer::answering(|asked| Reply::json(&json!({"path": asked.path_and_query})));
    let path = ReadPath::of(["a b", "c/d"]).with("q", "1&2");
    let answer = reader(&peer, "/base").get(&contact(), &path).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.json::<Value>().unwrap(),
        json!({"path": "/base/a%20b/c%2Fd?q=1%262"})
    );
    let asked = &peer.asked()[0];
    assert_eq!(asked.method, "GET");
    assert_eq!(asked.header("authorization"), format!("Bearer {CANARY}"));
    assert_eq!(asked.header("host"), peer.base().trim_start_matches("http://"));
    assert_eq!(asked.header("accept-encoding"), "gzip");
    assert!(asked.body.is_empty());
    for carried in ["content-length", "transfer-encoding", "content-type", "cookie"] {
        assert!(!asked.headers.contains_key(carried), "{carried}");
    }
}

#[tokio::test]
async fn an_answer_of_any_status_is_an_answer_with_what_stands_behind_it() {
    let peer = Peer::answering(|asked| match asked.path() {
        "/403" => Reply::status(403)
            .reason("Permission check failed (/vms/100, VM.Audit)")
            .with_body("{\"data\":null}"),
        "/595" => Reply::status(595).reason("Errors during connection establishment"),
        "/404" => Reply::status(404),
        _ => Reply::status(500).reason(""),
    });
    let reader = reader(&peer, "");
    let answer = get(&reader, &["403"]).await.unwrap();
    assert_eq!(answer.status, 403);
    assert_eq!(
        answer.status_text.as_deref(),
        Some("Permission check failed (/vms/100, VM.Audit)")
    );
    assert_eq!(answer.body, "{\"data\":null}");
    let answer = get(&reader, &["595"]).await.unwrap();
    assert_eq!(answer.status.as_u16(), 595);
    assert_eq!(
        answer.status_text.as_deref(),
        Some("Errors during connection establishment")
    );
    assert_eq!(get(&reader, &["404"]).await.unwrap().status_text, None);
    assert_eq!(get(&reader, &["500"]).await.unwrap().status_text, None);
}

#[tokio::test]
async fn what_does_not_speak_http_is_told_apart_from_what_is_too_large() {
    let peer = Peer::answering(|asked| match asked.path() {
        "/ssh" => Reply::raw("SSH-2.0-OpenSSH_9.2\r\n", true),
        "/folded" => Reply::raw("HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n", true),
        "/name" => Reply::raw("HTTP/1.1 200 OK\r\nx y: a\r\ncontent-length: 0\r\n\r\n", true),
        "/long" => Reply::status(200).header("x", &"y".repeat(70_000)),
        "/many" => (0..200).fold(Reply::status(200), |reply, n| {
            reply.header(&format!("x-{n}"), "y")
        }),
        _ => Reply::raw("", true),
    });
    let reader = reader(&peer, "");
    let mut faults = Vec::new();
    for path in ["ssh", "folded", "name", "long", "many", "gone"] {
        faults.push(get(&reader, &[path]).await.unwrap_err().error);
    }
    assert_eq!(
        faults,
        [
            UpstreamError::Invalid,
            UpstreamError::Invalid,
            UpstreamError::Invalid,
            UpstreamError::TooLarge,
            UpstreamError::TooLarge,
            UpstreamError::Unreachable,
        ]
    );
}

#[test]
fn headers_that_carry_a_body_or_mean_another_verb_are_refused() {
    let base = Base::parse("https://git.example").unwrap();
    for name in [
        "content-length",
        "transfer-encoding",
        "X-HTTP-Method-Override",
        "x-method-override",
        "host",
        "connection",
        "cookie",
    ] {
        let mut headers = headers();
        headers.insert(
            http::HeaderName::try_from(name).unwrap(),
            http::HeaderValue::from_static("DELETE"),
        );
        assert!(Head::new(&base, headers).is_err(), "{name}");
    }
}

#[test]
fn no_text_of_a_reader_holds_the_credential() {
    let peer = Destination {
        base: Base::parse("https://git.example/x").unwrap(),
        trust: Trust {
            authorities: None,
            fingerprints: vec![[7; 32]],
        },
        allow: Allow::default(),
    };
    let reader = Reader::new(peer, headers()).unwrap();
    assert_eq!(format!("{reader:?}"), "Reader(https://git.example/x)");
    let url = reader.0.base.url().clone();
    let request = reader.0.head.request(&url).unwrap();
    assert!(!format!("{request:?}").contains(CANARY));
}
