use serde_json::json;
use toolgate_contract::{registry::ALWAYS_ON, v1::ErrorReason};

use super::*;
use crate::{
    changes::tests::ground::{FIRST_ROWS, Ground, detail},
    profiles::Disclosure,
    tokens::{Tokens, Wanted},
};

fn wanted(name: &str, tools: &[&str]) -> Definition {
    Definition {
        name: name.into(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        ..Definition::default()
    }
}

fn rooms(ground: &Ground) -> (OwnProfiles, Tokens) {
    let changes = || ground.changes.clone();
    (OwnProfiles::new(changes()), Tokens::new(changes()))
}

fn pinned(name: &str, profile: &str) -> Wanted {
    Wanted {
        name: name.into(),
        role: "agent".into(),
        profile: Some(profile.into()),
        ..Wanted::default()
    }
}

fn with_always_on(tools: &[&str]) -> Vec<String> {
    let mut all: Vec<_> = tools
        .iter()
        .chain(ALWAYS_ON)
        .map(|tool| (*tool).to_owned())
        .collect();
    all.sort_unstable();
    all
}

#[tokio::test]
async fn a_made_profile_is_seen_by_the_next_call_and_its_change_is_on_the_record() {
    let ground = Ground::new().await;
    let (profiles, _) = rooms(&ground);
    assert_eq!(ground.snapshot().await.profile("nightly"), None);

    // By alias, twice, and beside one that is there anyway: one name each.
    let asked = Definition {
        description: "What runs at night".into(),
        disclosure: "search".into(),
        token_budget: Some(9_000),
        result_cap: Some(800),
        ..wanted(
            "nightly",
            &["ssh_run_whitelisted_command", "query", "query", "task_get"],
        )
    };
    let made = profiles.create(ground.admin(), asked).await.unwrap();
    let seen = ground.snapshot().await.profile("nightly").unwrap();
    assert_eq!(seen, made.profile);
    let tools = with_always_on(&["query", "ssh.run_whitelisted_command"]);
    assert!(seen.tools().eq(tools.iter().map(String::as_str)));
    assert_eq!(
        (seen.disclosure, seen.token_budget, seen.result_cap, seen.built_in),
        (Disclosure::Search, Some(9_000), Some(800), false)
    );

    profiles
        .update(ground.admin(), wanted("nightly", &["query"]))
        .await
        .unwrap();
    let seen = ground.snapshot().await.profile("nightly").unwrap();
    assert!(
        seen.tools()
            .eq(with_always_on(&["query"]).iter().map(String::as_str))
    );
    assert_eq!((seen.disclosure, seen.result_cap), (Disclosure::Direct, None));
    profiles.delete(ground.admin(), "nightly").await.unwrap();
    assert_eq!(ground.snapshot().await.profile("nightly"), None);

    let record = ground.record().await;
    let told: Vec<_> = record[FIRST_ROWS..]
        .iter()
        .map(|row| (row.kind, detail(row)))
        .collect();
    let first = json!({"description": "What runs at night", "tools": tools, "disclosure": "search",
        "token_budget": 9_000, "result_cap": 800});
    let then = json!({"description": "", "tools": with_always_on(&["query"]), "disclosure": "direct",
        "token_budget": null, "result_cap": null});
    let expected = [
        json!({"change": "created", "name": "nightly", "after": first}),
        json!({"change": "updated", "name": "nightly", "before": first, "after": then}),
        json!({"change": "deleted", "name": "nightly", "before": then}),
    ];
    assert_eq!(told, expected.map(|detail| (EventKind::ProfileChanged, detail)));
}

#[tokio::test]
async fn what_cannot_be_a_profile_is_refused_with_its_place() {
    let ground = Ground::new().await;
    let (profiles, _) = rooms(&ground);
    let long = "x".repeat(41);
    let many: Vec<_> = std::iter::repeat_n("query", 501).collect();
    let cases = [
        (wanted("", &[]), "name: must begin with a small letter"),
        (wanted("Mine", &[]), "name: must begin"),
        (wanted("1st", &[]), "name: must begin"),
        (wanted("my profile", &[]), "name: must begin"),
        (wanted("größe", &[]), "name: must begin"),
        (wanted(&long, &[]), "name: must begin"),
        (wanted("all", &[]), "name: must not be one of all, closed, none"),
        (wanted("closed", &[]), "name: must not be"),
        (wanted("none", &[]), "name: must not be"),
        (
            wanted("review", &[]),
            "name: is that of a profile of the contract",
        ),
        (
            wanted("mine", &["proxmox.list_vm", "query"]),
            "tools: no tool named proxmox.list_vm (the nearest is proxmox.list_vms)",
        ),
        (
            wanted("mine", &["query", "find_tools", "fetch_rest"]),
            "tools: the gateway offers fetch_rest, find_tools by itself",
        ),
        (wanted("mine", &many), "tools: must hold at most 500 names"),
        (
            Definition {
                disclosure: "lazy".into(),
                ..wanted("mine", &[])
            },
            "disclosure: must be one of direct, search",
        ),
        (
            Definition {
                description: "two\nlines".into(),
                ..wanted("mine", &[])
            },
            "description: must be one line",
        ),
        (
            Definition {
                description: "x".repeat(501),
                ..wanted("mine", &[])
            },
            "description: must have at most 500",
        ),
        (
            Definition {
                token_budget: Some(0),
                ..wanted("mine", &[])
            },
            "token_budget: must be at least 1",
        ),
        (
            Definition {
                result_cap: Some(0),
                ..wanted("mine", &[])
            },
            "result_cap: must be at least 1",
        ),
    ];
    for (asked, expected) in cases {
        let refused = profiles.create(ground.admin(), asked).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::ArgumentsInvalid);
        assert!(refused.to_string().starts_with(expected), "{refused}");
    }
    assert_eq!(profiles.list(ground.tenant()).await.unwrap(), []);
    assert_eq!(ground.since_start().await, [""; 0]);
    let longest = "x".repeat(40);
    profiles
        .create(ground.admin(), wanted(&longest, &["query"]))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_profile_over_its_budget_is_neither_made_nor_kept() {
    let ground = Ground::new().await;
    let (profiles, _) = rooms(&ground);
    let costly = || Definition {
        token_budget: Some(100),
        ..wanted("mine", &["query"])
    };
    let refused = profiles.create(ground.admin(), costly()).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::ArgumentsInvalid);
    assert!(refused.to_string().starts_with("token_budget: "), "{refused}");
    profiles
        .create(ground.admin(), wanted("mine", &["query"]))
        .await
        .unwrap();
    profiles.update(ground.admin(), costly()).await.unwrap_err();
    assert_eq!(
        ground.snapshot().await.profile("mine").unwrap().token_budget,
        None
    );
    assert_eq!(ground.since_start().await, ["profile.changed"]);
}

#[tokio::test]
async fn a_profile_is_made_once_and_what_changes_nothing_leaves_no_row() {
    let ground = Ground::new().await;
    let (profiles, _) = rooms(&ground);
    let asked = || wanted("mine", &["query"]);
    profiles.create(ground.admin(), asked()).await.unwrap();
    let again = profiles.create(ground.admin(), asked()).await.unwrap_err();
    assert_eq!(again.reason(), ErrorReason::Conflict);
    profiles
        .update(ground.admin(), wanted("mine", &["query", "query", "task_get"]))
        .await
        .unwrap();
    assert_eq!(ground.since_start().await, ["profile.changed"]);

    for name in ["theirs", "Not even a name"] {
        let missing = profiles.delete(ground.admin(), name).await.unwrap_err();
        assert_eq!(missing.reason(), ErrorReason::ResourceNotFound, "{name}");
    }
    let missing = profiles
        .update(ground.admin(), wanted("theirs", &[]))
        .await
        .unwrap_err();
    assert_eq!(missing.reason(), ErrorReason::ResourceNotFound);
    let built_in = profiles
        .update(ground.admin(), wanted("review", &[]))
        .await
        .unwrap_err();
    assert_eq!(built_in.reason(), ErrorReason::Conflict);
    let built_in = profiles.delete(ground.admin(), "review").await.unwrap_err();
    assert_eq!(built_in.reason(), ErrorReason::Conflict);
}

#[tokio::test]
async fn a_profile_that_live_credentials_pin_stays_until_they_are_revoked() {
    let ground = Ground::new().await;
    let (profiles, tokens) = rooms(&ground);
    profiles
        .create(ground.admin(), wanted("mine", &["query"]))
        .await
        .unwrap();
    let mut ids = Vec::new();
    for pod in 1..=7 {
        let (token, text) = tokens
            .create(ground.admin(), pinned(&format!("pod-{pod}"), "mine"))
            .await
            .unwrap();
        let live = ground.live(text.reveal()).await.unwrap();
        assert_eq!(live.profile.unwrap().name.as_ref(), "mine");
        ids.push(token.id.to_string());
    }
    let refused = profiles.delete(ground.admin(), "mine").await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::Conflict);
    let expected = "live credentials pin the profile mine: pod-1, pod-2, pod-3, pod-4, pod-5 and 2 more; revoke them first";
    assert_eq!(refused.to_string(), expected);

    // What it holds may change all the same, and the credentials hold to it.
    profiles
        .update(ground.admin(), wanted("mine", &["ssh.run_whitelisted_command"]))
        .await
        .unwrap();
    let first = ground.snapshot().await;
    let token = first.token_named("pod-1", ground.clock.wall_us()).unwrap();
    assert!(
        !token
            .profile
            .as_ref()
            .unwrap()
            .has(registry::tool("query").unwrap())
    );

    for id in ids {
        tokens.revoke(ground.admin(), &id).await.unwrap();
    }
    profiles.delete(ground.admin(), "mine").await.unwrap();
    let late = tokens
        .create(ground.admin(), pinned("late", "mine"))
        .await
        .unwrap_err();
    assert_eq!(late.reason(), ErrorReason::ArgumentsInvalid);
    assert!(
        late.to_string().starts_with("profile: no profile of this name"),
        "{late}"
    );
}

#[tokio::test]
async fn a_pinned_profile_that_is_gone_gives_no_access() {
    let ground = Ground::new().await;
    let (profiles, tokens) = rooms(&ground);
    profiles
        .create(ground.admin(), wanted("mine", &["query"]))
        .await
        .unwrap();
    let (_, text) = tokens
        .create(ground.admin(), pinned("pod", "mine"))
        .await
        .unwrap();
    let tenant = ground.tenant().clone();
    let gone: Result<u64, crate::store::StoreError> = ground
        .store
        .with_tenant(ground.tenant(), move |tx| {
            Box::pin(async move { tx.execute(REMOVE, params![&tenant, "mine"]).await })
        })
        .await;
    assert_eq!(gone.unwrap(), 1);
    ground.snapshots.refresh(ground.tenant()).await.unwrap();
    assert!(ground.live(text.reveal()).await.is_none());
}

#[tokio::test]
async fn a_tenant_has_a_hundred_of_them_and_never_anothers() {
    let ground = Ground::new().await;
    let (profiles, tokens) = rooms(&ground);
    let stranger = ground.stranger().await;
    profiles
        .create(stranger.clone(), wanted("theirs", &["query"]))
        .await
        .unwrap();
    let foreign = tokens
        .create(ground.admin(), pinned("pod", "theirs"))
        .await
        .unwrap_err();
    assert_eq!(foreign.reason(), ErrorReason::ArgumentsInvalid);
    assert!(!foreign.to_string().contains("theirs"), "{foreign}");
    assert_eq!(ground.snapshot().await.profile("theirs"), None);

    for n in 0..MOST {
        profiles
            .create(ground.admin(), wanted(&format!("p{n}"), &[]))
            .await
            .unwrap();
    }
    let full = profiles
        .create(ground.admin(), wanted("p", &[]))
        .await
        .unwrap_err();
    assert_eq!(full.reason(), ErrorReason::Conflict);
    assert_eq!(profiles.list(ground.tenant()).await.unwrap().len(), MOST);
    assert_eq!(profiles.list(&stranger.tenant).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_another_version_wrote_hides_more_and_never_less() {
    let ground = Ground::new().await;
    let tenant = ground.tenant().clone();
    let written: Result<u64, crate::store::StoreError> = ground
        .store
        .with_tenant(ground.tenant(), move |tx| {
            Box::pin(async move {
                let none = None::<i64>;
                let new = r#"["query","a_tool_of_tomorrow"]"#;
                tx.execute(INSERT, params![&tenant, "new", "", new, "direct", none, none, 1])
                    .await?;
                tx.execute(INSERT, params![&tenant, "bad", "", "{", "direct", none, none, 1])
                    .await
            })
        })
        .await;
    written.unwrap();
    ground.snapshots.refresh(ground.tenant()).await.unwrap();
    let snapshot = ground.snapshot().await;
    let tools = |name: &str| -> Vec<_> {
        snapshot
            .profile(name)
            .unwrap()
            .tools()
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(tools("new"), with_always_on(&["query"]));
    assert_eq!(tools("bad"), with_always_on(&[]));
}
