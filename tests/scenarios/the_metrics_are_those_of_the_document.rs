//! `/metrics` of a running gateway shows exactly what `docs/metrics.md` lists: names, kinds, labels, units and words. So
//! does that of a tailer.

use std::time::Duration;

use toolgate_test_support::{Gateway, Tailer, until};

use crate::metrics_page::{listed, shown};

#[tokio::test]
async fn the_metrics_are_those_of_the_document() {
    let listed = listed(None);
    assert!(listed.len() > 10, "the table is found");
    let gateway = Gateway::start(&[]).await.unwrap();
    let admin = gateway.admin();
    let called = until(Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    });
    called.await.expect("this host answers");
    admin.run("rm -rf /").await.unwrap_err();
    admin.post("/api/audit/verify", serde_json::json!({})).await;

    admin.get("/api/mcp/tools").await;

    let text = admin.get("/metrics").await.text;
    assert_eq!(shown(&text), listed, "{text}");
}

#[tokio::test]
async fn the_metrics_of_a_tailer_are_those_of_the_document() {
    let listed = listed(Some("`toolgate transcript tail`"));
    let folder = tempfile::tempdir().unwrap();
    let tailer = Tailer::start(folder.path(), &["transcript.jsonl"]).await.unwrap();
    let text = tailer.metrics().await.unwrap();
    assert_eq!(shown(&text), listed, "{text}");
}
