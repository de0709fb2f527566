use toolgate_contract::{ids::TokenId, v1::ErrorReason};

use std::time::Duration;

use super::{
    open::{KEPT, LIFE, MOST},
    *,
};
use crate::{
    changes::tests::ground::{Ground, NOW_US, detail},
    rfc3339,
};

/// The principal of the first sign-in code.
fn first_admin(ground: &Ground) -> By {
    By {
        principal: "admin".into(),
        ..ground.admin()
    }
}

/// An admin who asks for itself.
fn oneself(name: &str, profile: Option<String>) -> For {
    let person = Person {
        name: name.into(),
        role: Role::Admin,
        profile,
    };
    For { person, token: None }
}

#[tokio::test]
async fn a_code_becomes_a_session_of_its_principal() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());

    let session = sessions
        .sign_in(ground.first.sign_in_code.reveal(), "rest")
        .await
        .unwrap();

    assert!(session.token.reveal().starts_with("tgs_"));
    assert_eq!(session.expires_us, NOW_US + 12 * 3_600 * 1_000_000);
    let live = ground.live(session.token.reveal()).await.unwrap();
    assert_eq!(
        (live.kind, &*live.name, live.role),
        (Kind::Session, "admin", Role::Admin)
    );
    let record = ground.record().await;
    let row = record.last().unwrap();
    assert_eq!(
        (row.kind, &*row.principal, &*row.role, &*row.facade),
        (EventKind::SignedIn, "admin", "admin", "rest")
    );
    assert_eq!(detail(row)["id"], live.id.to_string());

    ground.clock.advance(LIFE);
    assert!(
        ground.live(session.token.reveal()).await.is_none(),
        "the session has no end"
    );
}

#[tokio::test]
async fn a_code_works_once_however_many_try_at_once() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let code = ground.first.sign_in_code.reveal();

    let tries = futures::future::join_all((0..50).map(|_| sessions.sign_in(code, "rest"))).await;

    let (good, bad): (Vec<_>, Vec<_>) = tries.into_iter().partition(Result::is_ok);
    assert_eq!((good.len(), bad.len()), (1, 49));
    assert!(
        bad.into_iter()
            .all(|it| it.unwrap_err().reason() == ErrorReason::CredentialInvalid)
    );
    assert_eq!(ground.since_start().await, ["session.signed_in"]);
}

#[tokio::test]
async fn what_is_no_open_code_lets_nobody_in() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let first = ground.first.sign_in_code.reveal().to_owned();
    let second = sessions
        .create_code(first_admin(&ground), oneself("admin", None))
        .await
        .unwrap()
        .code;
    let foreign = first.replace(ground.tenant().as_str(), TenantId::mint().as_str());
    let token = ground.first.admin_token.reveal().to_owned();
    for code in [
        "",
        "tgl_",
        "hello",
        &foreign,
        &token,
        &token.replace("tgk_", "tgl_"),
        &first,
    ] {
        let told = sessions.sign_in(code, "rest").await.unwrap_err();
        assert_eq!(told.reason(), ErrorReason::CredentialInvalid, "{code}");
    }
    ground.clock.advance(Duration::from_secs(15 * 60));
    assert!(
        sessions.sign_in(second.reveal(), "rest").await.is_err(),
        "the code has no end"
    );
    assert_eq!(ground.since_start().await, ["token.created"]);
}

#[tokio::test]
async fn a_code_signs_in_as_whoever_asked_for_it_and_replaces_only_their_own() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let pinned = || Some("infrastructure".to_owned());
    let stale = sessions
        .create_code(ground.admin(), oneself("ada", pinned()))
        .await
        .unwrap();
    let made = sessions
        .create_code(ground.admin(), oneself("ada", pinned()))
        .await
        .unwrap();

    assert_eq!(made.expires_us, NOW_US + 15 * 60 * 1_000_000);
    assert!(sessions.sign_in(stale.code.reveal(), "rest").await.is_err());
    let session = sessions.sign_in(made.code.reveal(), "rest").await.unwrap();
    let live = ground.live(session.token.reveal()).await.unwrap();
    assert_eq!(
        (&*live.name, live.role, live.profile.map(|it| it.name.to_string())),
        ("ada", Role::Admin, pinned())
    );
    let others = ground.first.sign_in_code.reveal();
    sessions.sign_in(others, "rest").await.unwrap();

    let record = ground.record().await;
    let row = &record[record.len() - 3];
    assert_eq!(
        (row.kind, &*row.principal, &*row.role, &*row.facade),
        (EventKind::TokenCreated, "ada", "admin", "rest")
    );
    assert_eq!(detail(row)["kind"], "sign_in");
    assert!(!row.detail.contains(made.code.reveal()), "{}", row.detail);
}

#[tokio::test]
async fn ended_sessions_are_forgotten() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    sessions
        .sign_in(ground.first.sign_in_code.reveal(), "rest")
        .await
        .unwrap();
    ground.clock.advance(LIFE + KEPT + Duration::from_secs(1));
    let made = sessions
        .create_code(ground.admin(), oneself("ada", None))
        .await
        .unwrap();
    sessions.sign_in(made.code.reveal(), "rest").await.unwrap();

    let tenant = ground.tenant().clone();
    let kept = ground.changes.read(ground.tenant(), move |tx| {
        Box::pin(async move {
            let count = "select count(*) from token where tenant_id = $1 and kind = 'session'";
            tx.query_opt(count, params![&tenant]).await?.unwrap().int(0)
        })
    });
    assert_eq!(kept.await.unwrap(), 1);
}

fn person(name: &str) -> Person {
    Person {
        name: name.into(),
        role: Role::Engineer,
        profile: None,
    }
}

#[tokio::test]
async fn whose_identity_is_proven_elsewhere_gets_a_session_of_its_own_kind() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let begun = sessions
        .begin(ground.tenant(), person("eva"), Method::Oidc, "web")
        .await
        .unwrap();

    let live = ground.live(begun.token.reveal()).await.unwrap();
    assert_eq!(
        (live.kind, &*live.name, live.role),
        (Kind::Session, "eva", Role::Engineer)
    );
    let method = sessions.method(ground.tenant(), live.id).await.unwrap();
    assert_eq!(method.as_deref(), Some("oidc"));
    let record = ground.record().await;
    let row = record.last().unwrap();
    assert_eq!(
        (row.kind, &*row.principal, &*row.facade),
        (EventKind::SignedIn, "eva", "web")
    );
    assert_eq!(detail(row)["method"], "oidc");
}

#[tokio::test]
async fn open_sessions_are_told_newest_first_and_only_to_whom_they_belong() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let stranger = ground.stranger().await;
    for name in ["eva", "ed", "eva"] {
        ground.clock.advance(Duration::from_secs(1));
        let person = person(name);
        sessions
            .begin(ground.tenant(), person, Method::Link, "web")
            .await
            .unwrap();
    }
    let names = |listed: Vec<Listed>| -> Vec<String> { listed.into_iter().map(|it| it.principal).collect() };
    let all = sessions.list(ground.tenant(), None).await.unwrap();
    assert_eq!(all[0].created_us, NOW_US + 3_000_000);
    assert_eq!(names(all), ["eva", "ed", "eva"]);
    assert_eq!(
        names(sessions.list(ground.tenant(), Some("ed")).await.unwrap()),
        ["ed"]
    );
    assert_eq!(sessions.list(&stranger.tenant, None).await.unwrap(), []);

    ground.clock.advance(LIFE);
    assert_eq!(sessions.list(ground.tenant(), None).await.unwrap(), []);
}

#[tokio::test]
async fn a_session_that_was_ended_opens_nothing_and_is_on_the_record_once() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let begun = sessions
        .begin(ground.tenant(), person("eva"), Method::Link, "web")
        .await
        .unwrap();
    let id = ground.live(begun.token.reveal()).await.unwrap().id;
    let eva = By {
        principal: "eva".into(),
        role: "engineer",
        ..ground.admin()
    };
    sessions.end(eva.clone(), id, Reach::Own).await.unwrap();
    assert!(ground.live(begun.token.reveal()).await.is_none());
    assert_eq!(sessions.list(ground.tenant(), None).await.unwrap(), []);
    sessions.end(eva, id, Reach::Own).await.unwrap();
    sessions.end(ground.admin(), id, Reach::All).await.unwrap();
    assert_eq!(
        ground.since_start().await,
        ["session.signed_in", "session.signed_out"]
    );
    let record = ground.record().await;
    let row = record.last().unwrap();
    let expected = serde_json::json!({"id": id.to_string(), "name": "eva"});
    assert_eq!((&*row.principal, detail(row)), ("eva", expected));
}

#[tokio::test]
async fn anothers_session_is_not_there_but_for_admins() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let begun = sessions
        .begin(ground.tenant(), person("eva"), Method::Link, "web")
        .await
        .unwrap();
    let id = ground.live(begun.token.reveal()).await.unwrap().id;
    let token = ground.live(ground.first.admin_token.reveal()).await.unwrap().id;
    let ed = By {
        principal: "ed".into(),
        ..ground.admin()
    };
    let stranger = ground.stranger().await;
    let none = sessions
        .end(ed.clone(), TokenId::mint(), Reach::Own)
        .await
        .unwrap_err();
    for (by, id, reach) in [
        (ed, id, Reach::Own),
        (stranger.clone(), id, Reach::All),
        // An API token is no session.
        (ground.admin(), token, Reach::All),
    ] {
        let refused = sessions.end(by, id, reach).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::ResourceNotFound);
        assert_eq!(refused.to_string(), none.to_string());
    }
    assert!(ground.live(begun.token.reveal()).await.is_some());
    sessions.end(ground.admin(), id, Reach::All).await.unwrap();
    assert!(ground.live(begun.token.reveal()).await.is_none());
}

#[tokio::test]
async fn one_session_too_many_ends_the_oldest_of_the_same_principal() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let begin = |name: &'static str| sessions.begin(ground.tenant(), person(name), Method::Oidc, "web");
    let others = begin("ed").await.unwrap();
    let first = begin("eva").await.unwrap();
    ground.clock.advance(Duration::from_secs(1));
    for _ in 1..MOST {
        begin("eva").await.unwrap();
    }
    assert!(ground.live(first.token.reveal()).await.is_some());
    ground.clock.advance(Duration::from_secs(1));
    let last = begin("eva").await.unwrap();
    assert!(ground.live(first.token.reveal()).await.is_none());
    for open in [&others, &last] {
        assert!(ground.live(open.token.reveal()).await.is_some());
    }
    let told = ground.since_start().await;
    assert_eq!(
        told[told.len() - 2..],
        ["session.signed_out", "session.signed_in"]
    );
    assert_eq!(
        sessions.list(ground.tenant(), Some("eva")).await.unwrap().len(),
        50
    );
}

/// A token of `eva`, an engineer, and a code for her by an admin.
async fn token_and_code(ground: &Ground, ends_at: Option<&str>) -> (crate::tokens::Token, SignInCode) {
    let wanted = crate::tokens::Wanted {
        name: "eva".into(),
        role: "engineer".into(),
        profile: Some("hosts".into()),
        expires_at: ends_at.map(str::to_owned),
    };
    let tokens = crate::tokens::Tokens::new(ground.changes.clone());
    let (token, _) = tokens.create(ground.admin(), wanted).await.unwrap();
    let code = Sessions::new(ground.changes.clone())
        .create_code(ground.admin(), for_eva(&token))
        .await
        .unwrap();
    (token, code)
}

fn for_eva(token: &crate::tokens::Token) -> For {
    For {
        person: Person {
            profile: token.profile.clone(),
            ..person(&token.name)
        },
        token: Some((token.id, token.expires_us)),
    }
}

#[tokio::test]
async fn a_code_for_a_token_signs_in_as_its_principal_and_says_who_made_it() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let (_, code) = token_and_code(&ground, None).await;
    let begun = sessions.sign_in(code.code.reveal(), "rest").await.unwrap();

    let live = ground.live(begun.token.reveal()).await.unwrap();
    let profile = live.profile.as_ref().map(|it| it.name.to_string());
    assert_eq!(
        (live.kind, &*live.name, live.role, profile.as_deref()),
        (Kind::Session, "eva", Role::Engineer, Some("hosts"))
    );
    let record = ground.record().await;
    let [.., made, signed_in] = &record[..] else {
        panic!("two rows")
    };
    assert_eq!((made.kind, &*made.principal), (EventKind::TokenCreated, "ada"));
    let told = detail(made);
    assert_eq!(
        (&told["kind"], &told["name"], &told["role"]),
        (&"sign_in".into(), &"eva".into(), &"engineer".into())
    );
    assert_eq!(
        (signed_in.kind, &*signed_in.principal),
        (EventKind::SignedIn, "eva")
    );
}

#[tokio::test]
async fn with_a_token_end_the_sessions_and_links_that_came_of_it_and_no_other() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let (token, code) = token_and_code(&ground, None).await;
    let begun = sessions.sign_in(code.code.reveal(), "rest").await.unwrap();
    let unused = sessions
        .create_code(ground.admin(), for_eva(&token))
        .await
        .unwrap();
    let others = sessions
        .begin(ground.tenant(), person("ed"), Method::Link, "web")
        .await
        .unwrap();
    // A provider vouches for this one.
    let vouched = sessions
        .begin(ground.tenant(), person("eva"), Method::Oidc, "web")
        .await
        .unwrap();

    let tokens = crate::tokens::Tokens::new(ground.changes.clone());
    tokens
        .revoke(ground.admin(), &token.id.to_string())
        .await
        .unwrap();

    assert!(ground.live(begun.token.reveal()).await.is_none());
    assert!(sessions.sign_in(unused.code.reveal(), "rest").await.is_err());
    for open in [&others, &vouched] {
        assert!(ground.live(open.token.reveal()).await.is_some());
    }
    let told = ground.since_start().await;
    assert_eq!(told[told.len() - 2..], ["token.revoked", "session.signed_out"]);
    let record = ground.record().await;
    assert_eq!(detail(record.last().unwrap())["why"], "token_revoked");

    // Whoever was let in just before makes none any more.
    let late = sessions.create_code(ground.admin(), for_eva(&token)).await;
    assert_eq!(late.unwrap_err().reason(), ErrorReason::ResourceNotFound);
}

#[tokio::test]
async fn nothing_that_came_of_a_token_outlives_it() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let end_us = NOW_US + 5 * 60 * 1_000_000;
    let (_, code) = token_and_code(&ground, Some(&rfc3339::format(end_us))).await;
    assert_eq!(code.expires_us, end_us);
    let begun = sessions.sign_in(code.code.reveal(), "rest").await.unwrap();
    assert_eq!(begun.expires_us, end_us);
}

#[tokio::test]
async fn the_admins_first_link_ends_with_the_first_token() {
    let ground = Ground::new().await;
    let sessions = Sessions::new(ground.changes.clone());
    let first = ground.first.sign_in_code.reveal();
    let begun = sessions.sign_in(first, "rest").await.unwrap();
    let tokens = crate::tokens::Tokens::new(ground.changes.clone());
    let other = crate::tokens::Wanted {
        name: "ada".into(),
        role: "admin".into(),
        ..Default::default()
    };
    tokens.create(ground.admin(), other).await.unwrap();
    let token = ground.live(ground.first.admin_token.reveal()).await.unwrap();
    tokens
        .revoke(ground.admin(), &token.id.to_string())
        .await
        .unwrap();
    assert!(ground.live(begun.token.reveal()).await.is_none());
}
