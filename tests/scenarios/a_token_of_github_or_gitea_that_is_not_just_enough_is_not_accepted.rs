//! Gate J1-4, 025-027. Tokens of GitHub that lack what is needed, may do more, or are of a kind that cannot be narrowed
//! are refused, as are tokens of Gitea with other scopes; nothing is stored.

use serde_json::json;
use toolgate_test_support::{Lab, World};
use toolgate_upstream_sim::{gitea, github::Token};

#[tokio::test]
async fn a_token_of_github_that_is_not_just_enough_is_not_accepted() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    let classic = Token {
        scopes: Some("repo, workflow"),
        ..Token::least()
    };
    let cases = [
        ("github_pat_11lacks_metadata_00000", Token::with(&["actions"])),
        ("github_pat_11lacks_actions_000000", Token::with(&["metadata"])),
        (
            "github_pat_11reads_contents_00000",
            Token::with(&["metadata", "actions", "contents"]),
        ),
        (
            "github_pat_11reads_secrets_000000",
            Token::with(&["metadata", "actions", "secrets"]),
        ),
        ("github_pat_11has_oauth_scopes_000", classic.clone()),
        ("ghp_classic0000000000000000000000", classic.clone()),
        ("gho_oauth000000000000000000000000", classic.clone()),
        ("ghs_installation00000000000000000", classic),
    ];

    for (secret, token) in cases {
        lab.github.token(secret, token);
        let before = lab.github.seen().count();
        let refusal = world
            .admin()
            .add_target("github", "acme", lab.github_settings(), json!({"token": secret}))
            .await
            .unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (422, "SCOPE_VIOLATION"),
            "{secret}: {:?}",
            refusal.problem
        );
        assert_eq!(refusal.problem["type"], "urn:toolgate:error:scope-violation");
        assert!(
            !refusal.problem.to_string().contains(secret),
            "{:?}",
            refusal.problem
        );
        let asked = lab.github.seen().count() > before;
        assert_eq!(asked, secret.starts_with("github_pat_"), "{secret}");
    }

    let targets = world.admin().get("/api/mcp/adapter?type=github").await.json();
    assert_eq!(targets["targets"], json!([]), "{targets}");
    assert_eq!(world.audit_of("adapter.configuration_refused").await.len(), 8);
    assert_eq!(lab.github.seen().writes(), [""; 0]);
    assert_eq!(secrets_kept(world).await, 0);
}

#[tokio::test]
async fn a_token_of_gitea_with_other_scopes_is_not_accepted() {
    let (world, lab) = (World::new().start().await, Lab::start().await);

    for scopes in [
        &["all"][..],
        &["write:repository"],
        &["read:repository", "read:user"],
        &["read:user"],
    ] {
        lab.gitea.token(
            "0000111122223333444455556666777788889999",
            gitea::Token::with(scopes),
        );
        let credential = json!({"token": "0000111122223333444455556666777788889999"});
        let refusal = world
            .admin()
            .add_target("gitea", "forge", lab.gitea_settings(), credential)
            .await
            .unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (422, "SCOPE_VIOLATION"),
            "{scopes:?}: {:?}",
            refusal.problem
        );
    }

    let targets = world.admin().get("/api/mcp/adapter?type=gitea").await.json();
    assert_eq!(targets["targets"], json!([]), "{targets}");
    assert_eq!(lab.gitea.seen().writes(), [""; 0]);
    assert_eq!(secrets_kept(world).await, 0);
}

async fn secrets_kept(world: World) -> i64 {
    let folder = world.stop().await;
    let store = rusqlite::Connection::open(folder.path().join("toolgate.db")).unwrap();
    store
        .query_row("select count(*) from secret", [], |row| row.get(0))
        .unwrap()
}
