//! Renames, and everything that GitHub refuses: outcomes with a text that helps.

use super::*;

#[tokio::test]
async fn a_renamed_repository_is_found_and_its_new_name_told() {
    let world = World::answering(|asked| match asked.path() {
        "/repos/acme/site/actions/runs" => said(301, "Moved Permanently").header(
            "location",
            &format!(
                "http://{}/repositories/1000/actions/runs?per_page=10",
                asked.header("host")
            ),
        ),
        "/repositories/1000/actions/runs" => Reply::json(&page_of(&[
            json!({"id": 1, "repository": {"full_name": "acme/website"}}),
        ])),
        _ => Reply::status(404),
    });
    let told = world.runs(json!({})).await.unwrap();
    assert_eq!(told.structured["repository"], "acme/website");
    assert!(
        told.text
            .contains("The repository acme/site is now called acme/website."),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn a_renamed_repository_without_runs_is_looked_up_by_its_id() {
    let world = World::answering(|asked| match asked.path() {
        "/repos/acme/site/actions/runs" => {
            said(301, "Moved Permanently").header("location", "/repositories/1000/actions/runs")
        }
        "/repositories/1000/actions/runs" => Reply::json(&page_of(&[])),
        "/repositories/1000" => Reply::json(&json!({"full_name": "acme/website"})),
        _ => Reply::status(404),
    });
    let told = world.runs(json!({})).await.unwrap();
    assert_eq!(told.structured["repository"], "acme/website");
}

#[tokio::test]
async fn a_move_to_another_host_is_not_followed_and_the_token_not_sent() {
    let foreign = Peer::answering(|_| Reply::json(&page_of(&[])));
    let place = foreign.base();
    let world = World::answering(move |_| {
        said(301, "Moved Permanently").header("location", &format!("{place}/repositories/1000/actions/runs"))
    });
    assert_eq!(world.runs(json!({})).await.unwrap_err(), UpstreamError::Invalid);
    assert!(foreign.asked().is_empty());
}

#[tokio::test]
async fn what_github_refuses_is_an_outcome_that_says_what_to_do() {
    let check = |reply: fn() -> Reply, expected: &'static str| async move {
        let world = World::answering(move |_| reply());
        let told = world.runs(json!({})).await.unwrap();
        assert!(told.is_error && told.text.contains(expected), "{}", told.text);
        assert!(
            !told.text.contains("://") && !told.text.contains("SECRET"),
            "{}",
            told.text
        );
    };
    check(|| said(404, "Not Found"), "no repository acme/site is visible").await;
    check(
        || {
            said(403, "Resource not accessible by personal access token")
                .header("x-accepted-github-permissions", "actions=read")
        },
        "GitHub asks for actions: read",
    )
    .await;
    check(
        || {
            Reply::json(&json!({"message": "Repository access blocked", "block": {"reason": "dmca"}}))
                .with_status(451)
        },
        "(dmca)",
    )
    .await;
    check(|| said(403, "Repository access blocked"), "GitHub has blocked").await;
    check(
        || {
            said(403, "Resource protected by organization SAML enforcement.").header(
                "x-github-sso",
                "required; url=https://github.com/orgs/acme/sso?authorization_request=SECRET",
            )
        },
        "single sign-on",
    )
    .await;
    check(|| said(422, "Validation Failed"), "Validation Failed").await;
    check(|| Reply::status(400).with_body("<html>"), "(400)").await;
}

#[tokio::test]
async fn a_missing_run_says_which_number_is_meant() {
    let world = World::answering(|_| said(404, "Not Found"));
    let told = world.run(562).await.unwrap();
    assert!(
        told.is_error && told.text.contains("not the numbers shown on pages"),
        "{}",
        told.text
    );
    let told = world.repos(json!({"org": "nobody"})).await.unwrap();
    assert!(
        told.is_error && told.text.contains("no organisation nobody"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn many_calls_at_once_share_what_carries_them() {
    let world = World::answering(|asked| {
        let id: u64 = asked.path().rsplit('/').next().unwrap().parse().unwrap();
        Reply::json(&json!({"id": id}))
    });
    let calls = (1..=40).map(|id| world.run(id));
    let told = futures::future::join_all(calls).await;
    for (n, told) in (1_u64..).zip(told) {
        assert_eq!(
            told.unwrap().structured["run"]["id"],
            n,
            "each call has its own answer"
        );
    }
}

#[tokio::test]
async fn a_caller_who_leaves_keeps_nobody_else_from_asking() {
    let world = World::answering(|asked| match asked.path().ends_with("/1") {
        true => Reply::never(),
        false => Reply::json(&json!({"id": 2})),
    });
    for _ in 0..100 {
        let mut left = Box::pin(world.run(1));
        // Polled once, so that the request is on its way, and dropped.
        assert!(futures::poll!(&mut left).is_pending());
    }
    assert_eq!(world.run(2).await.unwrap().structured["run"]["id"], 2);
}
