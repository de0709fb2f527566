use serde_json::json;

use super::*;
use crate::{
    adapters::github::tests::{World, said},
    upstream::reader::peer::{Asked, Reply},
};

/// A GitHub where the token has these permissions and sees a private repository, if it does.
fn github(
    permissions: &'static [&'static str],
    sees_private: bool,
) -> impl Fn(&Asked) -> Reply + Send + Sync {
    move |asked| {
        let private = json!({"id": 1, "full_name": "acme/secret", "private": true, "size": 5, "default_branch": "main", "permissions": {"admin": true}});
        let public = json!({"id": 2, "full_name": "acme/open", "private": false, "size": 5, "permissions": {"admin": true}});
        let needed = match asked
            .path()
            .strip_prefix("/repos/acme/")
            .and_then(|path| path.split_once('/'))
        {
            None => match asked.path() {
                "/user" => return user(),
                "/user/repos" if asked.path_and_query.contains("visibility=private") && !sees_private => {
                    return Reply::json(&json!([]));
                }
                "/user/repos" if sees_private => return Reply::json(&json!([private, public])),
                "/user/repos" => return Reply::json(&json!([public])),
                _ => return said(404, "Not Found"),
            },
            Some((_, "actions/runs")) => "actions",
            Some((_, "commits")) => "contents",
            Some((_, "commits/main/status")) => "statuses",
            Some((_, "issues")) => "issues",
            Some((_, "pulls")) => "pull_requests",
            Some((_, "deployments")) => "deployments",
            Some((_, "hooks")) => "repository_hooks",
            Some((_, "actions/secrets")) => "secrets",
            Some((_, "actions/variables")) => "variables",
            Some((_, "actions/permissions")) => "administration",
            Some(_) => return said(404, "Not Found"),
        };
        match permissions.contains(&needed) {
            true if needed == "actions" => Reply::json(&json!({"total_count": 0, "workflow_runs": []})),
            true => Reply::json(&json!([])),
            false => said(403, "Resource not accessible by personal access token")
                .header("x-accepted-github-permissions", &format!("{needed}=read")),
        }
    }
}

fn user() -> Reply {
    Reply::json(&json!({"login": "octocat", "name": null})).header(
        "github-authentication-token-expiration",
        "2027-10-12 09:00:00 UTC",
    )
}

async fn validated(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Validation {
    let world = World::answering(answer);
    let found = validate(&world.github, &world.contact).await;
    assert!(world.peer.asked().iter().all(|asked| asked.method == "GET"));
    found
}

fn stages(found: &Validation) -> Vec<&'static str> {
    found.stages.iter().map(|stage| stage.name).collect()
}

#[track_caller]
fn violation(found: &Validation, stage: &str, wider: bool, what: &str) {
    let Verdict::Violation(violation) = &found.verdict else {
        panic!("{:?}", found.verdict)
    };
    assert_eq!(
        (violation.of, violation.wider),
        (Grants::Scopes, wider),
        "{}",
        violation.what
    );
    assert!(violation.what.contains(what), "{}", violation.what);
    let last = found.stages.last().unwrap();
    assert_eq!((last.name, last.failed.is_some()), (stage, true));
}

#[track_caller]
fn unknown(found: &Validation, stage: &str, error: UpstreamError) {
    assert_eq!(found.verdict, Verdict::Unknown(error), "{found:?}");
    let last = found.stages.last().unwrap();
    assert_eq!((last.name, last.failed.is_some()), (stage, true));
}

#[tokio::test]
async fn the_least_token_passes_and_what_cannot_be_proven_is_listed() {
    let found = validated(github(&["actions"], true)).await;
    assert_eq!(found.verdict, Verdict::Passed);
    assert_eq!(stages(&found), ["reach", "authenticate", "privileges", "sample"]);
    assert_eq!(found.proven, ["metadata:read", "actions:read"]);
    assert_eq!(found.wider, [""; 0]);
    assert_eq!(found.not_provable, NEVER_PROVABLE);
    assert_eq!(
        Value::Object(found.facts),
        json!({"login": "octocat", "apiVersion": "2022-11-28", "expiresAt": "2027-10-12T09:00:00.000000Z", "privateRepositories": true})
    );
}

#[tokio::test]
async fn each_permission_beyond_that_is_found() {
    macro_rules! each {
        ($($permission:literal),+) => {$(
            let found = validated(github(&["actions", $permission], true)).await;
            assert_eq!(found.wider, [$permission]);
            violation(&found, "privileges", true, concat!("can also read ", $permission));
        )+};
    }
    each!(
        "contents",
        "issues",
        "pull_requests",
        "deployments",
        "statuses",
        "repository_hooks",
        "secrets",
        "variables",
        "administration"
    );
}

#[tokio::test]
async fn too_much_and_too_little_at_once_is_too_much() {
    let found = validated(github(&["contents", "issues"], true)).await;
    violation(
        &found,
        "privileges",
        true,
        "contents, issues; and it lacks `actions: read`",
    );
}

#[tokio::test]
async fn a_token_without_actions_is_too_little() {
    let found = validated(github(&[], true)).await;
    violation(&found, "privileges", false, "lacks `actions: read`");
    assert_eq!(found.proven, ["metadata:read"]);
}

#[tokio::test]
async fn a_token_without_metadata_is_too_little() {
    let found = validated(|asked| match asked.path() {
        "/user" => user(),
        _ => said(403, "Resource not accessible by personal access token"),
    })
    .await;
    violation(&found, "privileges", false, "lacks `metadata: read`");
}

#[tokio::test]
async fn a_token_that_sees_only_public_repositories_is_accepted_and_proves_no_actions() {
    let found = validated(github(&["actions", "contents"], false)).await;
    assert_eq!(found.verdict, Verdict::Passed);
    assert_eq!(found.proven, ["metadata:read"]);
    for open in [
        "actions:read",
        "contents",
        "issues",
        "pull_requests",
        "deployments",
        "statuses",
        "actions:write",
    ] {
        assert!(
            found.not_provable.iter().any(|listed| listed == open),
            "{open} in {:?}",
            found.not_provable
        );
    }
    assert_eq!(found.facts["privateRepositories"], false);
}

#[tokio::test]
async fn what_is_never_public_is_found_in_public_repositories_too() {
    let found = validated(github(&["actions", "secrets"], false)).await;
    violation(&found, "privileges", true, "can also read secrets");
}

#[tokio::test]
async fn a_token_without_any_repository_is_accepted_and_everything_is_listed() {
    let found = validated(|asked| match asked.path() {
        "/user" => user(),
        _ => Reply::json(&json!([])),
    })
    .await;
    assert_eq!(found.verdict, Verdict::Passed);
    assert_eq!(found.not_provable.len(), PRIVATE.len() + NEVER_PROVABLE.len());
}

#[tokio::test]
async fn an_answer_that_tells_scopes_is_of_a_kind_that_is_never_taken() {
    for status in [200, 403] {
        let found = validated(move |_| user().with_status(status).header("x-oauth-scopes", "")).await;
        violation(&found, "authenticate", true, "classic or an OAuth token");
        assert_eq!(stages(&found), ["reach", "authenticate"]);
    }
}

#[tokio::test]
async fn probes_that_tell_nothing_are_listed_and_do_not_fail_it() {
    let least = github(&["actions"], true);
    let found = validated(move |asked| match asked.path() {
        "/repos/acme/secret/issues" => said(410, "Issues are disabled for this repo"),
        "/repos/acme/secret/commits" => said(409, "Git Repository is empty."),
        "/repos/acme/secret/hooks" => said(404, "Not Found"),
        "/repos/acme/secret/pulls" => Reply::status(500),
        _ => least(asked),
    })
    .await;
    assert_eq!(found.verdict, Verdict::Passed);
    assert_eq!(
        found.not_provable[..4],
        ["contents", "issues", "pull_requests", "repository_hooks"]
    );
}

#[tokio::test]
async fn another_private_repository_is_tried_where_actions_are_off() {
    let least = github(&["actions"], true);
    let found = validated(move |asked| match asked.path() {
        "/user/repos" => Reply::json(&json!([
            {"id": 1, "full_name": "acme/off", "private": true, "size": 9, "permissions": {"admin": true}},
            {"id": 2, "full_name": "acme/secret", "private": true, "size": 9}
        ])),
        "/repos/acme/off/actions/runs" => said(404, "Not Found"),
        _ => least(asked),
    })
    .await;
    assert_eq!(found.verdict, Verdict::Passed);
    assert_eq!(found.proven, ["metadata:read", "actions:read"]);
}

#[tokio::test]
async fn a_rejected_token_is_a_violation_and_never_drift() {
    let found = validated(|_| said(401, "Bad credentials")).await;
    violation(&found, "authenticate", false, "does not accept the token");
}

#[tokio::test]
async fn what_is_not_github_is_no_verdict_on_the_token() {
    let found = validated(|_| Reply::status(200).with_body("<html>sign in</html>")).await;
    unknown(&found, "authenticate", UpstreamError::Invalid);
    let found = validated(|_| said(404, "Not Found")).await;
    unknown(&found, "authenticate", UpstreamError::Invalid);
    assert!(
        found
            .stages
            .last()
            .unwrap()
            .failed
            .as_ref()
            .unwrap()
            .contains("/api/v3")
    );
    let found = validated(|_| Reply::status(503)).await;
    unknown(&found, "authenticate", UpstreamError::Failed);
}

#[tokio::test]
async fn a_limit_on_the_way_is_no_verdict_on_the_token() {
    let least = github(&["actions"], true);
    let found = validated(move |asked| match asked.path() {
        "/repos/acme/secret/issues" => {
            said(403, "You have exceeded a secondary rate limit.").header("retry-after", "30")
        }
        _ => least(asked),
    })
    .await;
    assert!(
        matches!(found.verdict, Verdict::Unknown(UpstreamError::RateLimited(_))),
        "{:?}",
        found.verdict
    );
}

#[tokio::test]
async fn a_target_that_is_not_there_fails_at_reach() {
    let world = World::answering(|_| Reply::status(200));
    let gone = world.peer.base();
    drop(world);
    let stored = json!({"baseUrl": gone, "allowLoopback": true, "allowHttp": true});
    let clock = crate::clock::Clock::system();
    let github = Github::open(&stored, crate::adapters::github::tests::TOKEN, clock).unwrap();
    let found = validate(&github, &crate::upstream::reader::peer::contact()).await;
    unknown(&found, "reach", UpstreamError::Unreachable);
}

#[tokio::test]
async fn a_refusal_of_what_only_admins_read_proves_nothing_where_the_person_is_none() {
    for sees_private in [true, false] {
        let least = github(&["actions"], sees_private);
        let found = validated(move |asked| match asked.path() {
            "/user/repos" if asked.path_and_query.contains("visibility=private") && !sees_private => {
                Reply::json(&json!([]))
            }
            "/user/repos" => Reply::json(&json!([{
                "id": 1, "full_name": "acme/secret", "private": sees_private, "size": 5, "default_branch": "main",
                "permissions": {"admin": false, "pull": true}
            }])),
            _ => least(asked),
        })
        .await;
        assert_eq!(found.verdict, Verdict::Passed);
        for probe in ADMINISTRATIVE {
            let listed = found.not_provable.iter().any(|listed| listed == probe.permission);
            assert!(listed, "{} in {:?}", probe.permission, found.not_provable);
        }
    }
}

#[tokio::test]
async fn while_the_token_is_left_alone_nobody_is_asked() {
    let world = World::answering(|_| user());
    world
        .github
        .cool_down
        .begin(crate::adapters::github::cool_down::Limit::For(
            Duration::from_secs(30),
        ));
    let found = validate(&world.github, &world.contact).await;
    unknown(
        &found,
        "reach",
        UpstreamError::RateLimited(Duration::from_secs(30)),
    );
    assert!(world.asked().is_empty());
}

#[tokio::test]
async fn probes_are_few_at_once_and_at_most_one_a_permission() {
    let world = World::answering(github(&["actions"], true));
    validate(&world.github, &world.contact).await;
    assert_eq!(world.asked().len(), 3 + PRIVATE.len());
    assert!(
        world.peer.connections() <= AT_ONCE,
        "{}",
        world.peer.connections()
    );
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_silent_is_given_up_in_time() {
    let world = World::answering(|_| Reply::never());
    let began = Instant::now();
    let found = validate(&world.github, &world.contact).await;
    unknown(&found, "reach", UpstreamError::Timeout);
    assert!(
        began.elapsed() <= LONGEST + Duration::from_millis(100),
        "{:?}",
        began.elapsed()
    );
}
