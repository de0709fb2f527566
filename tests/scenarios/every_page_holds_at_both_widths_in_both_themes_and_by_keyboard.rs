//! Every page of a gateway with targets and calls: no serious finding of axe, nothing sideways at 360 px, nothing that Tab
//! does not come by, nothing asked of another host. The screenshots stay in `target/screenshots`.

use serde_json::json;
use toolgate_test_support::{Browser, Gateway, Lab};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_holds_at_both_widths_in_both_themes_and_by_keyboard() {
    let Some(browser) = Browser::here("every_page_holds_at_both_widths_in_both_themes_and_by_keyboard")
    else {
        return;
    };
    let (gateway, lab) = (
        Gateway::start(&[
            "--limits-user-per-minute",
            "100000",
            "--limits-tenant-per-minute",
            "100000",
        ])
        .await
        .unwrap(),
        Lab::start().await,
    );
    let admin = gateway.admin();
    lab.add_all(&admin).await.unwrap();
    for tool in ["github.list_repos", "gitea.list_repos"] {
        admin.call(tool, json!({})).await.unwrap();
    }
    admin.add_project("shop", "read_only").await.unwrap();

    let walked = browser
        .walk("pages.mjs", gateway.url(), admin.token(), json!({}))
        .await;

    let walked = walked.unwrap_or_else(|complaint| panic!("{complaint}"));
    assert_eq!(walked.figures["pages"], 17, "{walked:?}");
}
