//! Lists over several pages, and cursors that lead nowhere else.

use super::*;

/// Two pages of runs; `Link` is below this path, the former page first.
fn two_pages(below: &'static str) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| {
        let at = |page: u8, rel: &str| {
            format!(
                "<http://{}{below}?per_page=1&page={page}>; rel=\"{rel}\"",
                asked.header("host")
            )
        };
        match asked.path_and_query.contains("page=2") {
            true => Reply::json(&json!({"total_count": 61, "workflow_runs": [{"id": 2}]}))
                .header("link", &format!("{}, {}", at(1, "prev"), at(1, "first"))),
            false => Reply::json(&json!({"total_count": 61, "workflow_runs": [{"id": 1}]}))
                .header("link", &format!("{}, {}", at(1, "prev"), at(2, "next"))),
        }
    }
}

#[tokio::test]
async fn the_first_page_is_not_taken_for_everything() {
    let world = World::answering(two_pages("/repositories/1000/actions/runs"));
    let first = world.runs(json!({"limit": 1})).await.unwrap();
    assert_eq!(
        (&first.structured["more"], &first.structured["total_count"]),
        (&json!(true), &json!(61))
    );
    assert!(
        first.text.contains("1 of 61 runs")
            && first
                .text
                .contains(first.structured["next_cursor"].as_str().unwrap()),
        "{}",
        first.text
    );
    let second = world
        .runs(json!({"limit": 1, "cursor": first.structured["next_cursor"]}))
        .await
        .unwrap();
    assert_eq!(second.structured["runs"], json!([{"id": 2}]));
    assert_eq!(second.structured["more"], false);
    assert_eq!(second.structured.get("next_cursor"), None);
    let asked = "/repos/acme/site/actions/runs?exclude_pull_requests=true&per_page=1";
    assert_eq!(world.asked(), [asked.to_owned(), format!("{asked}&page=2")]);
}

#[tokio::test]
async fn a_cursor_of_another_question_is_told_and_asks_nobody() {
    let world = World::answering(two_pages("/user/repos"));
    let first = world.runs(json!({"limit": 1})).await.unwrap();
    let cursor = first.structured["next_cursor"].clone();
    let before = world.asked().len();
    for other in [
        json!({"limit": 2, "cursor": cursor}),
        json!({"limit": 1, "branch": "main", "cursor": cursor}),
        json!({"limit": 1, "repo": "other", "cursor": cursor}),
        json!({"limit": 1, "cursor": "cGFnZT0y"}),
        json!({"limit": 1, "cursor": "https://evil.example/"}),
    ] {
        let told = world.runs(other.clone()).await.unwrap();
        assert!(
            told.is_error && told.text.contains("cursor"),
            "{other}: {}",
            told.text
        );
    }
    let told = world.repos(json!({"limit": 1, "cursor": cursor})).await.unwrap();
    assert!(told.is_error, "another tool");
    assert_eq!(world.asked().len(), before);
}

#[tokio::test]
async fn a_default_that_is_said_aloud_is_the_same_question() {
    let world = World::answering(two_pages("/x"));
    let first = world.runs(json!({})).await.unwrap();
    let on = json!({"limit": 10, "cursor": first.structured["next_cursor"]});
    assert!(!world.runs(on).await.unwrap().is_error);
}

#[tokio::test]
async fn a_next_page_at_another_place_is_told_and_not_followed() {
    let world = World::answering(|_| {
        Reply::json(&json!([{"id": 1}]))
            .header("link", "<https://evil.example/user/repos?page=2>; rel=\"next\"")
    });
    let told = world.repos(json!({})).await.unwrap();
    assert_eq!(told.structured, json!({"repos": [{"id": 1}], "more": true}));
    assert!(
        told.text.contains("not followed") && !told.text.contains("evil"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn single_sign_on_that_withheld_rows_is_told_without_its_address() {
    let world = World::answering(|_| {
        Reply::json(&json!([{"id": 1}]))
            .header("x-github-sso", "partial-results; organizations=21955855,20582480")
    });
    let told = world.repos(json!({})).await.unwrap();
    assert_eq!(
        told.structured,
        json!({"repos": [{"id": 1}], "more": false, "partial": true})
    );
    assert!(
        told.text.contains("left out repositories of 2 organisations"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn a_server_of_ones_own_keeps_its_base_path() {
    for base in ["/api/v3", "/api/v3/", "/api/v3//"] {
        let world = World::below(base, |asked| {
            let next = format!(
                "<http://{}/api/v3/user/repos?page=2>; rel=\"next\"",
                asked.header("host")
            );
            Reply::json(&json!([])).header("link", &next)
        });
        let told = world.repos(json!({})).await.unwrap();
        assert!(told.structured["next_cursor"].is_string());
        world.runs(json!({})).await.unwrap_err();
        assert_eq!(world.asked()[0], "/api/v3/user/repos?per_page=30");
        assert!(
            world.asked()[1].starts_with("/api/v3/repos/acme/site/actions/runs?"),
            "{:?}",
            world.asked()
        );
    }
}
