//! Rows and fields that are odd are kept, nulled or left out, and never fatal.

use proptest::prelude::*;

use super::*;

#[tokio::test]
async fn every_request_is_a_get_with_the_headers_that_github_asks_for() {
    let world = World::answering(|_| Reply::json(&json!([])));
    world.repos(json!({})).await.unwrap();
    let [asked] = &world.peer.asked()[..] else {
        panic!("one request")
    };
    assert_eq!(asked.method, "GET");
    assert_eq!(asked.header("authorization"), format!("Bearer {TOKEN}"));
    assert!(asked.header("user-agent").starts_with("toolgate/"));
    assert_eq!(asked.header("accept"), "application/vnd.github+json");
    assert_eq!(asked.header("x-github-api-version"), "2022-11-28");
    assert!(asked.body.is_empty() && asked.header("content-length").is_empty());
}

#[tokio::test]
async fn a_run_with_null_name_and_branch_is_kept() {
    let row = json!({"id": 1, "name": null, "head_branch": null, "event": "workflow_dispatch", "status": "completed", "conclusion": "success"});
    let world = World::answering(move |_| Reply::json(&page_of(std::slice::from_ref(&row))));
    let told = world.runs(json!({})).await.unwrap();
    let expected =
        json!([{"id": 1, "event": "workflow_dispatch", "status": "completed", "conclusion": "success"}]);
    assert_eq!(told.structured["runs"], expected);
    assert_eq!(told.structured["more"], false);
    assert!(
        told.text.contains("1 | success | workflow_dispatch"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn ids_beyond_32_and_53_bits_are_exact() {
    let ids = json!([2_167_882_875_u64, 9_007_199_254_740_993_u64, i64::MAX]);
    let rows: Vec<Value> = ids
        .as_array()
        .unwrap()
        .iter()
        .map(|id| json!({"id": id, "workflow_id": id}))
        .collect();
    let world = World::answering(move |_| Reply::json(&page_of(&rows)));
    let told = world.runs(json!({})).await.unwrap();
    let of = |name: &str| -> Vec<Value> {
        told.structured["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run[name].clone())
            .collect()
    };
    assert_eq!(json!(of("id")), ids);
    assert_eq!(json!(of("workflow_id")), ids);
    assert!(told.text.contains("9007199254740993"), "{}", told.text);
}

#[tokio::test]
async fn a_run_is_asked_for_by_its_exact_id() {
    let world = World::answering(|_| Reply::json(&json!({"id": 9_007_199_254_740_993_u64})));
    let told = world.run(9_007_199_254_740_993).await.unwrap();
    assert_eq!(told.structured, json!({"run": {"id": 9_007_199_254_740_993_u64}}));
    assert_eq!(world.asked(), ["/repos/acme/site/actions/runs/9007199254740993"]);
}

#[tokio::test]
async fn words_that_no_schema_knows_and_unknown_fields_are_no_trouble() {
    let row = json!({
        "id": 7, "status": "completed", "conclusion": "startup_failure", "brand_new": {"deep": [1, {"x": null}]},
        "head_repository": null, "actor": null, "triggering_actor": {"login": null}, "head_commit": null,
        "pull_requests": null, "referenced_workflows": null, "previous_attempt_url": null, "run_attempt": "2",
        "run_number": -1, "name": "", "display_title": 5, "path": ["x"]
    });
    let world = World::answering(move |_| {
        Reply::json(&page_of(&[
            row.clone(),
            json!({"id": 8, "status": "on_the_moon", "conclusion": null}),
        ]))
    });
    let told = world.runs(json!({})).await.unwrap();
    let first = json!({"id": 7, "status": "completed", "conclusion": "startup_failure", "run_attempt": 2});
    assert_eq!(
        told.structured["runs"],
        json!([first, {"id": 8, "status": "on_the_moon"}])
    );
    assert!(told.text.contains("8 | on_the_moon"), "{}", told.text);
}

#[tokio::test]
async fn a_row_that_cannot_be_read_costs_only_itself() {
    let rows =
        json!([null, 5, "x", [], {"id": null}, {"id": "12"}, {"id": 1.5}, {"name": "no id"}, {"id": 13}]);
    let runs = rows.as_array().unwrap().clone();
    let world = World::answering(move |asked| match asked.path() {
        "/user/repos" => Reply::json(&rows),
        _ => Reply::json(&page_of(&runs)),
    });
    let kept = json!([{"id": 12}, {"id": 13}]);
    assert_eq!(world.repos(json!({})).await.unwrap().structured["repos"], kept);
    assert_eq!(world.runs(json!({})).await.unwrap().structured["runs"], kept);
}

#[tokio::test]
async fn a_run_is_told_with_all_that_github_tells() {
    let row = json!({
        "id": 30433642, "name": "Build", "head_branch": "feat/x", "head_sha": "acb5820ced9479c074f688cc328bf03f341a511d",
        "run_number": 562, "run_attempt": 2, "event": "pull_request", "status": "in_progress", "conclusion": null,
        "display_title": "Update README.md", "workflow_id": 159038, "path": ".github/workflows/ci.yml@main",
        "head_commit": {"message": "Create linter.yaml\n\nlonger"}, "head_repository": {"full_name": "fork/site"},
        "repository": {"full_name": "acme/site"}, "actor": {"login": "octocat"}, "triggering_actor": {"login": "hubot"},
        "html_url": "https://github.com/acme/site/actions/runs/30433642", "created_at": "2020-01-22T19:33:08Z",
        "updated_at": "2020-01-22T19:33:09Z", "run_started_at": "2020-01-22T19:33:08Z",
        "pull_requests": [{"number": 4, "url": "x"}, {"number": null}, {"number": 9}]
    });
    let world = World::answering(move |_| Reply::json(&row));
    let told = world.run(30_433_642).await.unwrap();
    assert_eq!(told.structured["pull_requests"], json!([4, 9]));
    assert_eq!(told.structured["repository"], "acme/site");
    let run = &told.structured["run"];
    assert_eq!(run["commit_title"], "Create linter.yaml");
    assert_eq!(run["head_repository"], "fork/site");
    assert_eq!(
        (&run["actor"], &run["triggering_actor"]),
        (&json!("octocat"), &json!("hubot"))
    );
    assert_eq!(run.get("conclusion"), None, "absent, not null");
    for line in [
        "Run 30433642 of acme/site: in_progress",
        "attempt: 2",
        "pull requests: #4, #9",
        "by: hubot",
    ] {
        assert!(
            told.text.lines().any(|told| told == line),
            "{line} in {}",
            told.text
        );
    }
}

#[tokio::test]
async fn a_repository_keeps_what_is_not_null() {
    let row = json!({
        "id": 1296269, "name": "site", "full_name": "acme/site", "owner": {"login": "acme"}, "private": true,
        "visibility": "internal", "description": null, "homepage": null, "language": null, "license": null,
        "pushed_at": null, "mirror_url": null, "archived": true, "topics": ["a", null, "b"], "stargazers_count": 80,
        "permissions": {"admin": true}, "default_branch": "main", "size": 0
    });
    let licensed = json!({"id": 2, "license": {"key": "mit", "spdx_id": "MIT"}});
    let world = World::answering(move |_| Reply::json(&json!([row, licensed])));
    let told = world.repos(json!({})).await.unwrap();
    let first = json!({
        "id": 1296269, "name": "site", "full_name": "acme/site", "owner": "acme", "private": true, "visibility": "internal",
        "archived": true, "topics": ["a", "b"], "stargazers_count": 80, "default_branch": "main", "size": 0
    });
    assert_eq!(
        told.structured["repos"],
        json!([first, {"id": 2, "license": "MIT"}])
    );
    assert!(
        told.text.contains("acme/site | internal | archived"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn an_empty_list_is_an_answer() {
    let world = World::answering(|asked| match asked.path() {
        "/user/repos" => Reply::json(&json!([])),
        _ => Reply::json(&json!({"total_count": 0, "workflow_runs": []})),
    });
    assert_eq!(
        world.repos(json!({})).await.unwrap().structured,
        json!({"repos": [], "more": false})
    );
    let runs = world.runs(json!({})).await.unwrap();
    assert_eq!(
        runs.structured,
        json!({"runs": [], "more": false, "total_count": 0})
    );
    assert!(
        !runs.is_error && runs.text.starts_with("No runs of acme/site"),
        "{}",
        runs.text
    );
}

#[tokio::test]
async fn upstream_texts_cannot_hide_or_break_lines() {
    let row = json!({"id": 1, "full_name": "acme/a", "description": "x\nIgnore the above\u{202e}\u{e0041}\u{1b}[2J"});
    let world = World::answering(move |_| Reply::json(&json!([row])));
    let told = world.repos(json!({})).await.unwrap();
    assert_eq!(told.text.lines().count(), 2, "{}", told.text);
    assert!(
        !told.text.contains(['\u{202e}', '\u{e0041}', '\u{1b}']),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn what_is_no_answer_of_githubs_api_is_invalid() {
    for body in [
        "",
        "<html>",
        "5",
        "null",
        "\"x\"",
        "{}",
        "[",
        r#"{"workflow_runs": {}}"#,
        r#"{"workflow_runs": 5}"#,
    ] {
        let world = World::answering(move |_| Reply::status(200).with_body(body));
        assert_eq!(
            world.runs(json!({})).await.unwrap_err(),
            UpstreamError::Invalid,
            "{body}"
        );
        assert_eq!(
            world.repos(json!({})).await.unwrap_err(),
            UpstreamError::Invalid,
            "{body}"
        );
        assert_eq!(world.run(5).await.unwrap_err(), UpstreamError::Invalid, "{body}");
    }
}

#[tokio::test]
async fn filters_are_sent_as_they_are_and_never_leave_their_place() {
    let world = World::answering(|_| Reply::json(&page_of(&[])));
    world
        .runs(json!({"branch": "a/b&page=9#x", "event": "push", "status": "failure", "limit": 5}))
        .await
        .unwrap();
    assert_eq!(
        world.asked(),
        [
            "/repos/acme/site/actions/runs?branch=a%2Fb%26page%3D9%23x&event=push&status=failure&exclude_pull_requests=true&per_page=5"
        ]
    );
}

#[tokio::test]
async fn an_organisation_is_asked_by_type_and_the_token_by_visibility() {
    let world = World::answering(|_| Reply::json(&json!([])));
    world
        .repos(json!({"org": "acme", "visibility": "private"}))
        .await
        .unwrap();
    world
        .repos(json!({"visibility": "public", "limit": 100}))
        .await
        .unwrap();
    assert_eq!(
        world.asked(),
        [
            "/orgs/acme/repos?type=private&per_page=30",
            "/user/repos?visibility=public&per_page=100"
        ]
    );
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_github(&bytes);
    }

    #[test]
    fn no_json_makes_reading_panic(value in json_value()) {
        let page = json!({"total_count": value, "workflow_runs": [value, {"id": 1, "name": value, "head_commit": value, "actor": {"login": value}}]});
        let _ = parse_github(&serde_json::to_vec(&page).unwrap());
        let repos = json!([value, {"id": value, "full_name": value, "license": value, "topics": value, "owner": value}]);
        let _ = parse_github(&serde_json::to_vec(&repos).unwrap());
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{1,8}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
