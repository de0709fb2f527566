use std::{path::Path, sync::Arc, time::Duration};

use data_encoding::BASE64URL_NOPAD;
use proptest::prelude::*;
use tempfile::TempDir;
use toolgate_contract::{ids::TenantId, v1::ErrorReason};

use super::*;
use crate::{identity::Role, keys::rotate_root};

const REVISION: &str = "2025-06-18";
const NOW_US: i64 = 1_780_000_000_000_000;

struct World {
    sessions: McpSessions,
    clock: Clock,
    ann: Principal,
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NOW_US);
        Self {
            sessions: instance(dir.path(), &clock),
            clock,
            ann: principal(TenantId::mint(), "ann"),
            dir,
        }
    }

    fn open(&self) -> String {
        self.sessions.open(&self.ann, REVISION).unwrap()
    }

    fn goes_on(&self, text: &str) -> bool {
        is_told(self.sessions.check(&self.ann, text))
    }
}

fn instance(dir: &Path, clock: &Clock) -> McpSessions {
    McpSessions::new(Arc::new(Keyring::open(dir).unwrap()), clock.clone())
}

fn principal(tenant: TenantId, name: &str) -> Principal {
    Principal {
        tenant,
        name: name.into(),
        role: Role::Engineer,
        pinned: None,
    }
}

/// True where the session goes on; every refusal is told the same.
fn is_told(checked: Result<(), Error>) -> bool {
    if let Err(error) = &checked {
        assert_eq!(error.reason(), ErrorReason::ResourceNotFound);
        assert_eq!(
            error.to_string(),
            "no such session of yours goes on; initialize a new one"
        );
    }
    checked.is_ok()
}

#[test]
fn a_session_goes_on_at_every_instance_with_the_keys_and_over_every_token_of_its_principal() {
    let world = World::new();
    let text = world.open();
    // What a credential is is no part of a principal.
    let renewed = Principal {
        role: Role::Admin,
        ..world.ann.clone()
    };
    assert!(is_told(world.sessions.check(&renewed, &text)));
    assert!(is_told(
        instance(world.dir.path(), &world.clock).check(&world.ann, &text)
    ));
}

#[test]
fn a_session_is_nobody_elses() {
    let world = World::new();
    let text = world.open();
    let tenant = || world.ann.tenant.clone();
    for other in [
        principal(tenant(), "bob"),
        principal(tenant(), "an"),
        principal(tenant(), "ann "),
        principal(TenantId::mint(), "ann"),
    ] {
        assert!(!is_told(world.sessions.check(&other, &text)), "{other:?}");
        assert!(!is_told(world.sessions.close(&other, &text)), "{other:?}");
    }
    let strangers = tempfile::tempdir().unwrap();
    assert!(!is_told(
        instance(strangers.path(), &world.clock).check(&world.ann, &text)
    ));
    assert!(world.goes_on(&text));
}

#[test]
fn a_session_of_one_revision_is_none_of_another() {
    let world = World::new();
    let text = world.open();
    assert!(text.starts_with("2025-06-18."));
    assert!(!world.goes_on(&text.replace("2025-06-18", "2025-11-25")));
    for revision in [
        "",
        "2025",
        "2025-06-1",
        "2025-06-18\n",
        "2025-06-1é",
        "DRAFT-2026",
    ] {
        let refused = world.sessions.open(&world.ann, revision).unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::RequestMalformed, "{revision}");
    }
}

#[test]
fn a_session_ends_after_a_day() {
    let world = World::new();
    let text = world.open();
    world.clock.advance(Duration::from_secs(LIFE_S - 1));
    assert!(world.goes_on(&text));
    world.clock.advance(Duration::from_secs(1));
    assert!(!world.goes_on(&text));
}

#[test]
fn a_closed_session_stays_closed_and_is_forgotten_when_it_would_have_ended() {
    let world = World::new();
    let (text, other) = (world.open(), world.open());
    assert!(is_told(world.sessions.close(&world.ann, &text)));
    assert!(!is_told(world.sessions.close(&world.ann, &text)));
    assert!(!world.goes_on(&text));
    assert!(world.goes_on(&other));
    world.clock.advance(Duration::from_secs(LIFE_S - 1));
    world.sessions.sweep();
    assert!(!world.goes_on(&text));
    world.clock.advance(Duration::from_secs(1));
    world.sessions.sweep();
    assert!(!world.goes_on(&text));
    assert_eq!(world.sessions.closed().len(), 0);
}

#[test]
fn a_new_root_key_ends_no_session() {
    let world = World::new();
    let before = world.open();
    rotate_root(world.dir.path()).unwrap();
    assert!(world.sessions.0.keys.take_up_newer().unwrap());
    let after = world.open();
    assert!(world.goes_on(&before) && world.goes_on(&after));
}

#[test]
fn an_id_is_short_visible_ascii_and_tells_nothing_of_its_principal() {
    let world = World::new();
    let somebody = principal(world.ann.tenant.clone(), &"ä".repeat(500));
    for text in [world.open(), world.sessions.open(&somebody, REVISION).unwrap()] {
        assert!(text.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{text}");
        assert_eq!(text.len(), 123);
        assert!(!text.contains(world.ann.tenant.as_str()));
    }
}

#[test]
fn a_hundred_thousand_opened_sessions_are_remembered_nowhere() {
    let world = World::new();
    for _ in 0..100_000 {
        drop(world.open());
    }
    assert_eq!(world.sessions.closed().len(), 0);
}

proptest! {
    #[test]
    fn no_change_of_any_byte_goes_on(at in 0_usize..123, byte in any::<u8>()) {
        let world = World::new();
        let text = world.open();
        let mut bytes = text.clone().into_bytes();
        bytes[at] = byte;
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert_eq!(world.goes_on(&changed), changed == text);
    }

    #[test]
    fn no_change_of_length_goes_on(cut in 0_usize..123, tail in "[!-~]{1,40}") {
        let world = World::new();
        let text = world.open();
        prop_assert!(!world.goes_on(&text[..cut]));
        let longer = format!("{text}{tail}");
        prop_assert!(!world.goes_on(&longer));
        let prefixed = format!("{tail}{text}");
        prop_assert!(!world.goes_on(&prefixed));
    }

    #[test]
    fn no_text_at_all_is_a_session(text in any::<String>(), payload in any::<[u8; 51]>(), mac in any::<[u8; 32]>()) {
        let world = World::new();
        prop_assert!(!world.goes_on(&text));
        let (payload, mac) = (BASE64URL_NOPAD.encode(&payload), BASE64URL_NOPAD.encode(&mac));
        let formed = format!("2025-06-18.{payload}.{mac}");
        prop_assert!(!world.goes_on(&formed));
        // A payload of ours under a MAC of someone else's.
        let ours = world.open();
        let (facts, _) = ours.rsplit_once('.').unwrap();
        let forged = format!("{facts}.{mac}");
        prop_assert!(!world.goes_on(&forged));
    }
}
