use toolgate_contract::v1::ErrorReason;

use super::*;
use crate::changes::tests::ground::{Ground, NOW_US, detail};

/// The principal of the first sign-in code.
fn first_admin(ground: &Ground) -> By {
    By {
        principal: "admin".into(),
        ..ground.admin()
    }
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
        .create_code(first_admin(&ground), Role::Admin, None)
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
        .create_code(ground.admin(), Role::Admin, pinned())
        .await
        .unwrap();
    let made = sessions
        .create_code(ground.admin(), Role::Admin, pinned())
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
        .create_code(ground.admin(), Role::Admin, None)
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
