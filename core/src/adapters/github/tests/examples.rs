//! A run as GitHub's own documents show one, shortened to what the tools read and what surrounds it.

use super::*;

#[tokio::test]
async fn a_page_that_mixes_whole_rows_and_rows_of_webhooks_is_read() {
    // Objects of webhooks lack path, display_title and actor, and have an empty name.
    let rows = [
        json!({"id": 30433642, "node_id": "MDEyOldvcmtmbG93IFJ1bjI2OTI4OQ==", "check_suite_id": 42, "name": "Build",
            "status": "queued", "conclusion": null, "repository": {"id": 1296269, "full_name": "acme/site"},
            "head_repository": {"id": 217723378, "full_name": "acme/site"}, "created_at": "2020-01-22T19:33:08Z"}),
        json!({"id": 289782451, "name": "", "head_branch": "main", "status": "requested", "pull_requests": []}),
    ];
    let world = World::answering(move |_| Reply::json(&page_of(&rows)));
    let told = world.runs(json!({})).await.unwrap();
    assert_eq!(
        told.structured["runs"],
        json!([
            {"id": 30433642, "name": "Build", "status": "queued", "head_repository": "acme/site", "created_at": "2020-01-22T19:33:08Z"},
            {"id": 289782451, "status": "requested", "head_branch": "main"}
        ])
    );
    assert_eq!(told.structured["total_count"], 2);
    assert_eq!(told.structured["repository"], "acme/site");
}
