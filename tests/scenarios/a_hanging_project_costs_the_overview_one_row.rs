//! Gate C11. `aggregate_pipeline_status` asks all projects at once: what hangs, is gone or answers nonsense costs a row that
//! says why, and the others' counts and blocked or failing items are there within five seconds.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_test_support::{Does, World, project::WHO};

const STATUS: &str =
    r#"{"name":"get_pipeline_status","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_project_costs_the_overview_one_row() {
    let world = World::new()
        .unlimited()
        .project_with("alpha", &[STATUS])
        .project_with("beta", &[STATUS])
        .project_with("hangs", &[STATUS])
        .project_with("nonsense", &[STATUS])
        .project_with("without", &[WHO])
        .silent_project("gone")
        .start()
        .await;
    let status = |todo: u32, item: &str| {
        Does::structured(&format!(
            r#"{{"stages":{{"todo":{todo},"review":2}},"items":[{item},{{"id":"9","title":"fine","stage":"todo","state":"ok"}}]}}"#
        ))
    };
    let blocked = r#"{"id":"1208","title":"Cross-project","stage":"review","state":"blocked"}"#;
    let failing = r#"{"id":"7","title":"Flaky","stage":"todo","state":"failing"}"#;
    world
        .project("alpha")
        .when("get_pipeline_status", status(3, blocked));
    world
        .project("beta")
        .when("get_pipeline_status", status(4, failing));
    world.project("hangs").when("get_pipeline_status", Does::Hangs);
    world
        .project("nonsense")
        .when("get_pipeline_status", Does::Garbage(b"\0{".to_vec()));

    let began = Instant::now();
    let outcome = world.call("aggregate_pipeline_status", json!({})).await.unwrap();
    assert!(
        began.elapsed() < Duration::from_millis(5_500),
        "{:?}",
        began.elapsed()
    );
    let told = outcome.structured();
    let rows = told["projects"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["alpha", "beta", "gone", "hangs", "nonsense", "without"]);
    let ok: Vec<bool> = rows.iter().map(|row| row["ok"] == true).collect();
    assert_eq!(ok, [true, true, false, false, false, false], "{told}");
    for row in &rows[2..] {
        assert!(row["why"].as_str().is_some_and(|why| !why.is_empty()), "{row}");
    }
    let item = json!({"id": "1208", "title": "Cross-project", "stage": "review", "state": "blocked"});
    assert_eq!(rows[0]["attention"], json!([item]));
    let item = json!({"id": "7", "title": "Flaky", "stage": "todo", "state": "failing"});
    assert_eq!(rows[1]["attention"], json!([item]));
    let totals = told["totals"].as_array().unwrap();
    let total = |stage: &str| {
        totals
            .iter()
            .find(|total| total["stage"] == stage)
            .map(|total| &total["count"])
    };
    assert_eq!(
        (total("todo"), total("review")),
        (Some(&json!(7)), Some(&json!(4))),
        "{told}"
    );
    assert!(
        outcome.text().contains("1208") && outcome.text().contains("hangs"),
        "{}",
        outcome.text()
    );

    // What was not waited for is taken back.
    let seen = world
        .project("hangs")
        .wait(Duration::from_secs(5), |seen| seen.cancelled > 0)
        .await;
    assert_eq!(seen.cancelled, 1);
}
