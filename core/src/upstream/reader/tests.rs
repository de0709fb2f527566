//! Reading from peers on loopback.

use serde_json::{Value, json};

use super::{
    peer::{Peer, Reply, contact},
    *,
};

fn reader(peer: &Peer, path: &str) -> Reader {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer canary".parse().unwrap());
    Reader::new(peer.destination(path), headers).unwrap()
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
    assert_eq!(asked.header("authorization"), "Bearer canary");
    assert_eq!(asked.header("host"), peer.base().trim_start_matches("http://"));
    assert_eq!(asked.header("accept-encoding"), "gzip");
    assert!(asked.body.is_empty() && asked.headers.get("content-length").is_none());
}
