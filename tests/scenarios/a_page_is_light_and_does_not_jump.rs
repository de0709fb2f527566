//! The budget of a page: bytes and jumps are asserted, times are printed (`docs/performance.md` has those of a quiet machine).

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Browser, Gateway, Lab};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_light_and_does_not_jump() {
    let Some(browser) = Browser::here("a_page_is_light_and_does_not_jump") else {
        return;
    };
    let (gateway, lab) = (Gateway::start(&[]).await.unwrap(), Lab::start().await);
    lab.add_all(&gateway.admin()).await.unwrap();
    lab.github.pace(Duration::from_millis(400));

    let walked = browser
        .walk("pace.mjs", gateway.url(), &gateway.token(), json!({}))
        .await;

    let walked = walked.unwrap_or_else(|complaint| panic!("{complaint}"));
    println!("{}", walked.figures);
    assert_eq!(walked.steps.len(), 2, "{walked:?}");
}
