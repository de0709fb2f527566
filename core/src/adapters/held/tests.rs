use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use serde_json::json;

use super::*;
use crate::{
    adapters::Validation,
    journal::Contact,
    secrets::SecretValue,
    snapshot::RelayStanding,
    upstream::{ToolResult, Upstream, UpstreamCall},
};

/// An adapter that is only held, never asked.
#[derive(Debug)]
struct Idle;

impl Upstream for Idle {
    fn call<'a>(
        &'a self,
        _: &'a Contact,
        _: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(std::future::pending())
    }
}

impl Adapter for Idle {
    fn validate<'a>(&'a self, _: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(std::future::pending())
    }
}

#[derive(Default)]
struct Room {
    held: Held,
    opened: AtomicUsize,
}

impl Room {
    fn get(&self, target: &Target, lease: &Lease, at: u64) -> Arc<dyn Adapter> {
        let open = || {
            self.opened.fetch_add(1, Ordering::SeqCst);
            Ok(Arc::new(Idle) as Arc<dyn Adapter>)
        };
        self.held
            .get(target, lease, Duration::from_secs(at), open)
            .unwrap()
    }

    fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }
}

fn target(id: TargetId) -> Target {
    Target {
        id,
        adapter: "gitea",
        name: "forge".into(),
        disabled: false,
        relay: RelayStanding::default(),
        relay_key: None,
        secret: None,
        settings: json!({"baseUrl": "https://git.example"}),
        validation: json!({"facts": {"version": "1.23"}}),
        version: 1,
    }
}

fn lease(tenant: &TenantId, secret: &[u8]) -> Lease {
    Lease::for_tests(tenant, SecretValue::new(secret).unwrap())
}

#[test]
fn an_adapter_is_opened_once_for_a_target_its_version_and_its_credential() {
    let (room, id, tenant) = (Room::default(), TargetId::mint(), TenantId::mint());
    let first = room.get(&target(id), &lease(&tenant, b"one"), 0);
    let again = room.get(&target(id), &lease(&tenant, b"one"), 1);
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!(room.opened(), 1);
    room.get(&target(TargetId::mint()), &lease(&tenant, b"one"), 1);
    assert_eq!(room.opened(), 2);
}

#[test]
fn whatever_changes_about_a_target_opens_another_adapter_in_its_place() {
    let tenant = TenantId::mint();
    let check = |changed: fn(&mut Target), secret: &[u8], owner: &TenantId| {
        let (room, id) = (Room::default(), TargetId::mint());
        let former = room.get(&target(id), &lease(&tenant, b"one"), 0);
        let mut after = target(id);
        changed(&mut after);
        let latter = room.get(&after, &lease(owner, secret), 1);
        assert!(!Arc::ptr_eq(&former, &latter));
        assert_eq!(room.held.lock().len(), 1);
        // Only those who still use it keep the former one.
        assert_eq!(Arc::strong_count(&former), 1);
    };
    check(|target| target.version = 2, b"one", &tenant);
    check(
        |target| target.settings = json!({"baseUrl": "https://other.example"}),
        b"one",
        &tenant,
    );
    check(
        |target| target.validation = json!({"facts": {"version": "1.24"}}),
        b"one",
        &tenant,
    );
    check(|_| {}, b"two", &tenant);
    check(|_| {}, b"one", &TenantId::mint());
}

#[test]
fn an_adapter_that_cannot_be_opened_is_tried_again_by_the_next_call() {
    let (room, id, tenant) = (Room::default(), TargetId::mint(), TenantId::mint());
    let lease = lease(&tenant, b"one");
    let fails = || Err(UpstreamError::Tls);
    let failed = room.held.get(&target(id), &lease, Duration::ZERO, fails);
    assert_eq!(failed.unwrap_err(), UpstreamError::Tls);
    room.get(&target(id), &lease, 0);
    assert_eq!(room.opened(), 1);
}

#[test]
fn idle_adapters_and_those_of_targets_that_changed_or_are_gone_are_closed() {
    let (room, tenant, other) = (Room::default(), TenantId::mint(), TenantId::mint());
    let ids: Vec<TargetId> = (0..4).map(|_| TargetId::mint()).collect();
    room.get(&target(ids[0]), &lease(&tenant, b"one"), 0);
    for id in &ids[1..] {
        room.get(&target(*id), &lease(&tenant, b"one"), IDLE.as_secs());
    }
    let elsewhere = TargetId::mint();
    room.get(&target(elsewhere), &lease(&other, b"one"), IDLE.as_secs());
    room.held.sweep(&tenant, IDLE, |id| {
        // The second stays as it is, the third changed, the fourth is gone.
        [(ids[1], 1), (ids[2], 2)]
            .into_iter()
            .find(|(known, _)| *known == id)
            .map(|(_, version)| version)
    });
    let mut kept: Vec<TargetId> = room.held.lock().keys().copied().collect();
    kept.sort_unstable();
    assert_eq!(kept, [ids[1], elsewhere]);
}

#[test]
fn there_are_only_so_many_and_the_least_recently_used_is_closed() {
    let (room, tenant) = (Room::default(), TenantId::mint());
    let first = TargetId::mint();
    room.get(&target(first), &lease(&tenant, b"one"), 0);
    for n in 0..u64::try_from(MOST).unwrap() {
        room.get(&target(TargetId::mint()), &lease(&tenant, b"one"), n + 1);
    }
    let slots = room.held.lock();
    assert_eq!(slots.len(), MOST);
    assert!(!slots.contains_key(&first));
}

#[test]
fn nothing_of_a_credential_is_shown() {
    let (room, tenant) = (Room::default(), TenantId::mint());
    room.get(&target(TargetId::mint()), &lease(&tenant, b"canary"), 0);
    assert_eq!(format!("{:?}", room.held), "Held(1 open)");
}
