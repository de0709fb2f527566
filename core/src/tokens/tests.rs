use std::time::Duration;

use toolgate_contract::v1::ErrorReason;

use super::*;
use crate::changes::tests::ground::{FIRST_ROWS, Ground, detail};

fn wanted(name: &str, role: &str) -> Wanted {
    Wanted {
        name: name.into(),
        role: role.into(),
        ..Wanted::default()
    }
}

fn first_page() -> Page<2> {
    Page::asked(None, None).unwrap()
}

#[tokio::test]
async fn a_made_token_opens_the_gate_at_once_and_is_on_the_record() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());

    let expires_at = Some("2026-02-01T00:00:00Z".to_owned());
    let asked = Wanted {
        expires_at,
        ..wanted("ci", "engineer")
    };
    let (token, text) = tokens.create(ground.admin(), asked).await.unwrap();

    let live = ground.live(text.reveal()).await.unwrap();
    assert_eq!(
        (live.id, &*live.name, live.role),
        (token.id, "ci", Role::Engineer)
    );
    let record = ground.record().await;
    let row = &record[FIRST_ROWS];
    assert_eq!(
        (row.kind, &*row.principal, &*row.role, &*row.facade),
        (EventKind::TokenCreated, "ada", "admin", "rest")
    );
    let expected = serde_json::json!({
        "id": token.id.to_string(), "name": "ci", "role": "engineer", "profile": null,
        "expires_at": "2026-02-01T00:00:00.000000Z",
    });
    assert_eq!(detail(row), expected);
    assert!(
        record
            .iter()
            .all(|row| !row.detail.contains(&text.reveal()[31..])),
        "the secret is on the record"
    );
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused_with_its_place() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    let cases = [
        (wanted("", "admin"), "name: "),
        (wanted("a\u{7}", "admin"), "name: "),
        (wanted(&"x".repeat(65), "admin"), "name: "),
        (
            wanted("x", "root"),
            "role: must be one of admin, engineer, auditor, agent",
        ),
        (wanted("x", "Admin"), "role: "),
        (wanted("jwt:ci", "agent"), "name: must not begin with jwt:"),
        (wanted("OIDC:eve", "agent"), "name: must not begin with oidc:"),
        (
            Wanted {
                profile: Some("no-such".into()),
                ..wanted("x", "agent")
            },
            "profile: no profile of this name; the known ones are ",
        ),
        (
            Wanted {
                expires_at: Some("tomorrow".into()),
                ..wanted("x", "agent")
            },
            "expires_at: not a time",
        ),
        (
            Wanted {
                expires_at: Some("2026-01-01T00:00:00Z".into()),
                ..wanted("x", "agent")
            },
            "expires_at: must be in the future",
        ),
    ];
    for (asked, place) in cases {
        let told = tokens.create(ground.admin(), asked.clone()).await.unwrap_err();
        assert_eq!(told.reason(), ErrorReason::ArgumentsInvalid, "{asked:?}");
        assert!(told.to_string().starts_with(place), "{told}");
    }
    assert_eq!(ground.since_start().await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_name_belongs_to_one_live_token() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    let ending = Wanted {
        expires_at: Some("2026-01-01T00:00:10Z".into()),
        ..wanted("ci", "agent")
    };
    tokens.create(ground.admin(), ending).await.unwrap();

    let taken = tokens
        .create(ground.admin(), wanted("ci", "agent"))
        .await
        .unwrap_err();
    assert_eq!(taken.reason(), ErrorReason::Conflict);

    ground.clock.advance(Duration::from_secs(10));
    let (token, _) = tokens
        .create(ground.admin(), wanted("ci", "agent"))
        .await
        .unwrap();
    tokens
        .revoke(ground.admin(), &token.id.to_string())
        .await
        .unwrap();
    tokens
        .create(ground.admin(), wanted("ci", "agent"))
        .await
        .unwrap();
}

#[tokio::test]
async fn of_many_who_want_a_name_at_once_one_gets_it() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    let tries = (0..20).map(|_| tokens.create(ground.admin(), wanted("ci", "agent")));
    let made = futures::future::join_all(tries).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
    assert_eq!(ground.since_start().await, ["token.created"]);
}

#[tokio::test]
async fn a_revoked_token_opens_nothing_from_then_on() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    let (token, text) = tokens
        .create(ground.admin(), wanted("ci", "agent"))
        .await
        .unwrap();
    assert!(ground.live(text.reveal()).await.is_some());

    tokens
        .revoke(ground.admin(), &token.id.to_string())
        .await
        .unwrap();
    assert!(ground.live(text.reveal()).await.is_none());

    tokens
        .revoke(ground.admin(), &token.id.to_string())
        .await
        .unwrap();
    assert_eq!(ground.since_start().await, ["token.created", "token.revoked"]);
}

#[tokio::test]
async fn the_last_live_admin_token_stays() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    let (listed, _) = tokens.list(&ground.admin(), first_page()).await.unwrap();
    let first = listed[0].id.to_string();
    let refused = tokens.revoke(ground.admin(), &first).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::Conflict);

    let ending = Wanted {
        expires_at: Some("2026-01-01T00:00:10Z".into()),
        ..wanted("second", "admin")
    };
    tokens.create(ground.admin(), ending).await.unwrap();
    ground.clock.advance(Duration::from_secs(10));
    assert!(
        tokens.revoke(ground.admin(), &first).await.is_err(),
        "an ended token is no live admin"
    );

    tokens
        .create(ground.admin(), wanted("third", "admin"))
        .await
        .unwrap();
    tokens.revoke(ground.admin(), &first).await.unwrap();
    assert!(ground.live(ground.first.admin_token.reveal()).await.is_none());
}

#[tokio::test]
async fn tokens_of_others_and_no_tokens_are_not_found_alike() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    let stranger = ground.stranger().await;
    let (token, _) = tokens
        .create(ground.admin(), wanted("ci", "agent"))
        .await
        .unwrap();

    let foreign = tokens
        .revoke(stranger.clone(), &token.id.to_string())
        .await
        .unwrap_err();
    let none = tokens.revoke(stranger.clone(), "no-id").await.unwrap_err();
    assert_eq!(foreign.reason(), ErrorReason::ResourceNotFound);
    assert_eq!(foreign.to_string(), none.to_string());
    assert_eq!(tokens.list(&stranger, first_page()).await.unwrap().0, []);
    // A session or a sign-in code is no API token.
    assert_eq!(
        tokens.list(&ground.admin(), first_page()).await.unwrap().0.len(),
        2
    );
}

#[tokio::test]
async fn a_list_goes_on_where_its_page_ended() {
    let ground = Ground::new().await;
    let tokens = Tokens::new(ground.changes.clone());
    for n in 0..4 {
        if n == 2 {
            ground.clock.advance(Duration::from_secs(1));
        }
        tokens
            .create(ground.admin(), wanted(&format!("t{n}"), "agent"))
            .await
            .unwrap();
    }
    let mut names = Vec::new();
    let mut next = None;
    loop {
        let page = Page::asked(Some(2), next.as_deref()).unwrap();
        let (listed, token) = tokens.list(&ground.admin(), page).await.unwrap();
        assert!(listed.len() <= 2);
        names.extend(listed.into_iter().map(|token| token.name));
        if token.is_empty() {
            break;
        }
        next = Some(token);
    }
    assert_eq!(names, ["t3", "t2", "t1", "t0", "admin"]);
}
