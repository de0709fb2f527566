//! GitHub's limits, its slowness and its faults.

use super::*;

const SECONDARY: &str =
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";

fn limited(seconds: u64) -> UpstreamError {
    UpstreamError::RateLimited(Duration::from_secs(seconds))
}

#[tokio::test]
async fn a_secondary_limit_is_a_limit_and_cools_the_credential_down() {
    let world = World::answering(|asked| match asked.path() {
        "/user/repos" => Reply::json(&json!([])),
        _ => said(403, SECONDARY).header("x-ratelimit-remaining", "4321"),
    });
    assert_eq!(world.runs(json!({})).await.unwrap_err(), limited(60));
    world.clock.advance(Duration::from_secs(20));
    assert_eq!(
        world.repos(json!({})).await.unwrap_err(),
        limited(40),
        "another path, the same credential"
    );
    assert_eq!(world.asked().len(), 1, "nothing is sent while it cools down");
    world.clock.advance(Duration::from_secs(40));
    assert!(world.repos(json!({})).await.is_ok());
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn a_secondary_limit_that_stays_is_waited_for_ever_longer() {
    let world = World::answering(|_| said(429, SECONDARY));
    for seconds in [60, 120, 240] {
        assert_eq!(world.repos(json!({})).await.unwrap_err(), limited(seconds));
        world.clock.advance(Duration::from_secs(seconds));
    }
}

#[tokio::test]
async fn retry_after_is_believed() {
    let world = World::answering(|_| said(403, SECONDARY).header("retry-after", "7"));
    assert_eq!(world.repos(json!({})).await.unwrap_err(), limited(7));
}

#[tokio::test]
async fn a_spent_quota_is_waited_for_until_it_is_reset() {
    for status in [403, 429] {
        let world = World::answering(move |_| {
            said(status, "API rate limit exceeded for user ID 1.")
                .header("x-ratelimit-remaining", "0")
                .header("x-ratelimit-reset", "1800000900")
        });
        assert_eq!(
            world.repos(json!({})).await.unwrap_err(),
            limited(900),
            "{status}"
        );
        assert_eq!(world.runs(json!({})).await.unwrap_err(), limited(900));
        assert_eq!(world.asked().len(), 1);
    }
}

#[tokio::test]
async fn limits_that_are_not_told_are_not_zero() {
    let world = World::answering(|asked| match asked.path() {
        "/user/repos" => Reply::json(&json!([])),
        _ => said(403, "Resource not accessible by personal access token"),
    });
    assert!(world.runs(json!({})).await.unwrap().is_error, "a no, not a limit");
    assert!(world.repos(json!({})).await.is_ok());
}

#[tokio::test]
async fn a_page_that_github_cannot_make_in_time_is_asked_for_once_more_and_smaller() {
    let world = World::answering(|asked| match asked.path_and_query.contains("per_page=100") {
        true => Reply::status(502).with_body(format!(
            "<html><h1>Server Error</h1>{}</html>",
            " ".repeat(55_000)
        )),
        false => {
            let next = format!(
                "<http://{}/repos/acme/site/actions/runs?per_page=25&page=2>; rel=\"next\"",
                asked.header("host")
            );
            Reply::json(&page_of(&[json!({"id": 1})])).header("link", &next)
        }
    });
    let told = world.runs(json!({"limit": 100})).await.unwrap();
    assert_eq!(told.structured["more"], true);
    let on = json!({"limit": 100, "cursor": told.structured["next_cursor"]});
    world.runs(on).await.unwrap();
    let sizes: Vec<_> = world
        .asked()
        .iter()
        .map(|path| path.split_once("per_page=").unwrap().1.to_owned())
        .collect();
    assert_eq!(
        sizes,
        ["100", "25", "25&page=2"],
        "the cursor goes on in the smaller size"
    );
}

#[tokio::test]
async fn slowness_that_stays_is_a_time_out_and_other_faults_are_githubs() {
    for (status, expected, contacts) in [
        (502, UpstreamError::Timeout, 2),
        (504, UpstreamError::Timeout, 2),
        (500, UpstreamError::Failed, 1),
        (503, UpstreamError::Failed, 1),
    ] {
        let world = World::answering(move |_| Reply::status(status).with_body("<html>Server Error"));
        assert_eq!(world.repos(json!({})).await.unwrap_err(), expected, "{status}");
        assert_eq!(world.asked().len(), contacts, "{status}");
        assert_eq!(
            world.run(1).await.unwrap_err(),
            expected,
            "one run has no smaller page"
        );
        assert_eq!(world.asked().len(), contacts + 1, "{status}");
    }
}

#[tokio::test]
async fn a_rejected_token_is_told_as_such() {
    let world = World::answering(|_| said(401, "Bad credentials"));
    assert_eq!(
        world.repos(json!({})).await.unwrap_err(),
        UpstreamError::CredentialRejected
    );
}
