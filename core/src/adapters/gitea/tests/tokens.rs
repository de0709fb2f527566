//! Validation against servers of every version that judges tokens in its own way.

use super::*;
use crate::adapters::Verdict;

/// A server as far as tokens are concerned.
#[derive(Clone)]
struct Of {
    version: &'static str,
    /// Scopes of the token; `None` for one that is limited by none.
    scopes: Option<&'static str>,
    /// Whether refusals tell the token's scopes.
    tells: bool,
}

impl Of {
    fn answer(&self, asked: &Asked) -> Reply {
        if asked.header("authorization") != format!("token {TOKEN}") {
            return match asked.path() {
                "/api/v1/version" => Reply::json(&json!({"version": self.version})),
                _ => no(401, "token is required"),
            };
        }
        match asked.path() {
            "/api/v1/version" => Reply::json(&json!({"version": self.version})),
            "/api/v1/repos/search" => self.behind(
                "repository",
                json!({"ok": true, "data": [{"id": 1, "owner": {"login": "acme"}}]}),
            ),
            "/api/v1/user" => self.behind("user", json!({"login": "me"})),
            "/api/v1/notifications/new" => self.behind("notification", json!({"new": 0})),
            "/api/v1/user/orgs" => self.behind("organization", json!([])),
            "/api/v1/orgs/acme" => self.behind("organization", json!({"id": 1})),
            "/api/v1/repos/issues/search" => self.behind("issue", json!([])),
            "/api/v1/packages/acme" => self.behind("package", json!([])),
            "/api/v1/admin/cron" => match self.scopes {
                None => no(
                    403,
                    "user should be an owner or a collaborator with admin write of a repository",
                ),
                Some(_) => self.behind("admin", json!([])),
            },
            _ => no(404, "not found"),
        }
    }

    fn behind(&self, kind: &str, body: Value) -> Reply {
        let Some(scopes) = self.scopes else {
            return Reply::json(&body);
        };
        let has = |scope: &str| {
            scope == format!("read:{kind}") || scope == format!("write:{kind}") || scope == "all"
        };
        if scopes.split(',').any(has) {
            return Reply::json(&body);
        }
        match self.tells {
            true => no(
                403,
                &format!(
                    "token does not have at least one of required scope(s), required=[read:{kind}], token scope={scopes}"
                ),
            ),
            false => no(
                403,
                &format!("token does not have at least one of required scope(s): [read:{kind}]"),
            ),
        }
    }
}

async fn validated(peer: &Peer) -> Validation {
    let found = at(&peer.base(), &json!({})).validate(&contact()).await;
    asked(peer);
    assert!(!format!("{found:?}").contains(TOKEN));
    found
}

/// Stages that ran, with a mark at the one that failed.
fn stages(found: &Validation) -> String {
    let each = found.stages.iter().map(|stage| match &stage.failed {
        None => stage.name.to_owned(),
        Some(_) => format!("{}!", stage.name),
    });
    each.collect::<Vec<_>>().join(" ")
}

const ALL_STAGES: &str = "reach authenticate privileges version sample";

#[tokio::test]
async fn a_token_is_judged_by_what_its_server_lets_see() {
    let check = async |version, tells, scopes, expected: Result<&str, &str>| {
        let of = Of {
            version,
            scopes,
            tells,
        };
        let peer = Peer::answering(move |asked| of.answer(asked));
        let found = validated(&peer).await;
        let what = format!("{version} {scopes:?}: {found:?}");
        match (&found.verdict, expected) {
            (Verdict::Passed, Ok(open)) => {
                assert_eq!(found.not_provable.join(","), open, "{what}");
                assert!(
                    found.proven.iter().any(|scope| scope == "read:repository"),
                    "{what}"
                );
                assert_eq!(
                    (stages(&found).as_str(), &found.facts["version"]),
                    (ALL_STAGES, &json!(version)),
                    "{what}"
                );
            }
            (Verdict::Violation(violation), Err(wider)) => {
                assert_eq!(
                    (found.wider.join(","), violation.wider),
                    (wider.to_owned(), !wider.is_empty()),
                    "{what}"
                );
                assert_eq!(stages(&found), "reach authenticate privileges!", "{what}");
            }
            _ => panic!("{what}"),
        }
    };
    let exact = Some("read:repository");
    let open = "scopes of the token,write:repository";
    for version in [
        "1.23.8",
        "1.24.7",
        "1.25.0-rc0",
        "1.28.0+dev-12-gabcdef",
        "d64e081bf6",
    ] {
        check(version, true, exact, Ok("")).await;
        check(version, true, Some("public-only,read:repository"), Ok("")).await;
        check(version, true, Some("write:repository"), Err("write:repository")).await;
        check(version, true, Some("read:repository,read:user"), Err("read:user")).await;
        check(version, true, Some("read:issue"), Err("read:issue")).await;
        check(version, true, Some("public-only"), Err("")).await;
    }
    for version in [
        "1.23.8",
        "1.25.4",
        "1.22.6",
        "11.0.3+gitea-1.22.0",
        "15.0.9+gitea-1.22.0",
    ] {
        check(version, false, Some("all"), Err("all")).await;
        check(version, false, None, Err("all")).await;
    }
    for version in [
        "1.22.6",
        "1.22.0-rc0",
        "11.0.3+gitea-1.22.0",
        "15.0.9+gitea-1.22.0",
        "b5757a6",
    ] {
        check(version, false, exact, Ok("write:repository")).await;
        check(version, false, Some("write:repository"), Ok("write:repository")).await;
        check(
            version,
            false,
            Some("read:repository,read:package"),
            Err("read:package"),
        )
        .await;
        check(
            version,
            false,
            Some("read:repository,write:user,read:organization"),
            Err("read:user,read:organization"),
        )
        .await;
        check(version, false, Some("read:misc"), Err("")).await;
    }
    for version in ["1.19.4", "1.20.6", "1.21.11"] {
        check(version, false, None, Ok(open)).await;
        check(version, false, exact, Ok(open)).await;
        check(version, false, Some("read:user"), Err("read:user")).await;
        check(version, false, Some("read:misc"), Err("")).await;
    }
    check("b5757a6", false, None, Ok(open)).await;
}

#[tokio::test]
async fn what_was_learned_names_product_version_and_the_best_source_of_runs() {
    for (version, product, source) in [
        ("1.22.6", "gitea", "statuses"),
        ("1.24.7", "gitea", "tasks"),
        ("1.25.4", "gitea", "runs"),
        ("11.0.3+gitea-1.22.0", "forgejo", "tasks"),
        ("15.0.9+gitea-1.22.0", "forgejo", "runs"),
    ] {
        let of = Of {
            version,
            scopes: Some("read:repository"),
            tells: version == "1.24.7",
        };
        let found = validated(&Peer::answering(move |asked| of.answer(asked))).await;
        let expected = json!({"product": product, "version": version, "ciSource": source});
        assert_eq!(Value::Object(found.facts), expected);
    }
}

#[tokio::test]
async fn a_newer_server_tells_the_scopes_in_three_questions() {
    let of = Of {
        version: "1.25.4",
        scopes: Some("read:repository"),
        tells: true,
    };
    let peer = Peer::answering(move |asked| of.answer(asked));
    validated(&peer).await;
    assert_eq!(
        asked(&peer),
        ["/api/v1/version", "/api/v1/user", "/api/v1/repos/search?limit=1"]
    );
}

#[tokio::test]
async fn a_version_behind_a_scope_is_asked_for_anonymously_and_says_nothing_against_the_token() {
    let of = Of {
        version: "1.20.0",
        scopes: Some("read:repository"),
        tells: false,
    };
    let peer = Peer::answering(move |asked| match (asked.path(), asked.header("authorization")) {
        ("/api/v1/version", "") => of.answer(asked),
        ("/api/v1/version", _) => no(
            403,
            "token does not have at least one of required scope(s): [read:misc]",
        ),
        _ => of.answer(asked),
    });
    let found = validated(&peer).await;
    assert_eq!(
        (&found.verdict, &found.facts["version"]),
        (&Verdict::Passed, &json!("1.20.0"))
    );
    // The same where nobody may ask anonymously: unknown, and judged strictly.
    let of = Of {
        version: "",
        scopes: Some("read:repository"),
        tells: false,
    };
    let peer = Peer::answering(move |asked| match (asked.path(), asked.header("authorization")) {
        ("/api/v1/version", "") => no(403, "Only signed in user is allowed to call APIs."),
        ("/api/v1/version", _) => of.behind("misc", json!({})),
        _ => of.answer(asked),
    });
    let found = validated(&peer).await;
    assert_eq!(
        (&found.verdict, &found.facts["version"]),
        (&Verdict::Passed, &json!("unknown"))
    );
    assert_eq!(found.not_provable.first().unwrap(), "write:repository");
}

#[tokio::test]
async fn a_token_that_the_server_does_not_know_is_refused_on_every_version() {
    let refused = async |answer: fn(&Asked) -> Reply| {
        let found = validated(&Peer::answering(answer)).await;
        let Verdict::Violation(violation) = &found.verdict else {
            panic!("{found:?}")
        };
        assert!(
            !violation.wider && violation.what.contains("does not accept the token"),
            "{found:?}"
        );
        assert_eq!(stages(&found), "reach authenticate!");
    };
    // From 1.20 on, whatever is asked.
    refused(|_| no(401, "invalid username, password or token")).await;
    // 1.19 takes it for nobody's and answers what anyone may read.
    refused(|asked| match asked.path() {
        "/api/v1/version" => Reply::json(&json!({"version": "1.19.3"})),
        "/api/v1/repos/search" => Reply::json(&json!({"ok": true, "data": []})),
        _ => no(401, "token is required"),
    })
    .await;
    // The same where nobody's questions are not answered at all.
    refused(|_| no(403, "Only signed in user is allowed to call APIs.")).await;
}

#[tokio::test]
async fn an_account_that_may_do_nothing_is_told_apart_from_a_token() {
    let found = validated(&Peer::answering(|_| no(403, "You must change your password."))).await;
    let Verdict::Violation(violation) = &found.verdict else {
        panic!("{found:?}")
    };
    assert!(violation.what.contains("account"), "{violation:?}");
}

#[tokio::test]
async fn what_is_no_gitea_or_gives_no_answer_is_no_fault_of_the_token() {
    let check = async |answer: fn(&Asked) -> Reply, error: UpstreamError, failed: &str| {
        let found = validated(&Peer::answering(answer)).await;
        assert_eq!(found.verdict, Verdict::Unknown(error), "{found:?}");
        assert_eq!(stages(&found), failed);
    };
    check(
        |_| no(404, "nothing here"),
        UpstreamError::Invalid,
        "reach authenticate!",
    )
    .await;
    check(
        |_| Reply::status(200).with_body("<html>"),
        UpstreamError::Invalid,
        "reach authenticate!",
    )
    .await;
    check(
        |_| Reply::status(503),
        UpstreamError::Failed,
        "reach authenticate!",
    )
    .await;
    check(
        |asked| match asked.path() {
            "/api/v1/version" => Reply::json(&json!({"version": "1.25.4"})),
            "/api/v1/user" => no(403, "required scope(s), token scope=read:repository"),
            _ => Reply::json(&json!({"ok": false, "error": "x"})),
        },
        UpstreamError::Invalid,
        "reach authenticate privileges version sample!",
    )
    .await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let found = at(&format!("http://{closed}"), &json!({}))
        .validate(&contact())
        .await;
    assert_eq!(
        (found.verdict.clone(), stages(&found).as_str()),
        (Verdict::Unknown(UpstreamError::Unreachable), "reach!")
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_ends_a_validation_within_ten_seconds() {
    let peer = Peer::answering(|_| Reply::never());
    let began = tokio::time::Instant::now();
    let found = validated(&peer).await;
    assert_eq!(found.verdict, Verdict::Unknown(UpstreamError::Timeout));
    assert!(began.elapsed() <= Duration::from_secs(10));
}
