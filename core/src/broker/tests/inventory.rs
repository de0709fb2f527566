//! Inventory reads: kept for a minute, one contact however many wait, and nobody's but their tenant's.

use std::sync::atomic::Ordering;

use super::{
    stand_in::{LIST, Reading, STATUS, meta, told, until},
    *,
};

const INTENTS: &str = "select count(*) from intent where tenant_id = $1";
const CLOSED: &str = "select count(*) from intent_closed where tenant_id = $1";

impl World {
    fn seats(&self) -> usize {
        self.broker.rooms().flights.seats()
    }

    /// That many wait for one read, which is under way.
    async fn seated(&self, seats: usize) {
        until(async || self.seats() == seats && self.cluster.under_way.load(Ordering::SeqCst) == 1).await;
    }
}

#[tokio::test]
async fn a_read_within_a_minute_is_answered_with_its_age_and_without_contact() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    let first = world.list().await.unwrap();
    assert_eq!(meta(&first).get("toolgate/cachedAt"), None);
    assert_eq!(meta(&first).get("toolgate/ageSeconds"), None);

    world.clock.advance(Duration::from_millis(59_999));
    let second = world.list().await.unwrap();
    assert_eq!(meta(&second)["toolgate/cachedAt"], "2027-01-15T08:00:00.000000Z");
    assert_eq!(meta(&second)["toolgate/ageSeconds"], 59);
    assert_eq!(meta(&second)["toolgate/target"], meta(&first)["toolgate/target"]);
    assert_eq!(told(&second), told(&first));
    assert_eq!(world.cluster.reads(), 1);

    world.clock.advance(Duration::from_millis(1));
    let third = world.list().await.unwrap();
    assert_eq!(meta(&third).get("toolgate/cachedAt"), None);
    assert_eq!(world.cluster.reads(), 2);
    assert_eq!(
        world.rows().await,
        vec![row("adapter.capability_invoked", "success"); 3].concat()
    );
    assert_eq!(world.count(INTENTS).await, 0);
}

#[tokio::test]
async fn a_kept_answer_can_be_watched_like_any_other() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.list().await.unwrap();
    let asked = ask(Some(&world.admin));
    let call = world.broker.invoke(&asked, wish(LIST, "{}")).await.unwrap();
    let caller = world.broker.caller(&asked, Action::UseTools).await.unwrap();
    let results = &world.broker.rooms().results;
    let watched = results.watch(&call.to_string(), None, caller.principal());
    assert!(watched.is_ok());
    until(async || world.rows().await.len() == 2).await;
    assert_eq!(world.cluster.reads(), 1);
}

#[tokio::test]
async fn a_live_read_is_read_each_time() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    for _ in 0..2 {
        let settled = world.status().await.unwrap();
        assert_eq!(meta(&settled).get("toolgate/cachedAt"), None);
    }
    assert_eq!(world.cluster.reads(), 2);
    assert!(world.broker.rooms().cache.tenants().is_empty());
}

#[tokio::test]
async fn other_arguments_are_another_read_and_their_spelling_is_not() {
    let world = World::at_hand().await;
    let target = world.proxmox("lab").await;
    let named = format!(r#"{{ "target_id": "{target}", "type" : "qemu","node":"a" }}"#);
    for arguments in [r#"{"node":"a","type":"qemu"}"#, &named, r#"{"node":"b"}"#] {
        world.call(&world.admin, LIST, arguments).await.unwrap();
    }
    assert_eq!(world.cluster.reads(), 2);
}

#[tokio::test]
async fn kept_answers_are_limited_and_recorded_like_any_other() {
    let limits = Limits {
        user_per_minute: 2,
        ..Limits::default()
    };
    let world = World::new(limits).await;
    world.proxmox("lab").await;
    world.list().await.unwrap();
    world.list().await.unwrap();
    assert_eq!(world.list().await.unwrap_err(), ErrorReason::RateLimited);
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test]
async fn twenty_calls_at_once_are_one_read_and_twenty_rows() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.cluster.hold();
    let callers: Vec<_> = (0..20).map(|_| world.caller(LIST)).collect();
    world.seated(20).await;
    assert_eq!(world.count(INTENTS).await, 20);
    world.cluster.release();
    for caller in callers {
        assert_eq!(told(&caller.await.unwrap().unwrap()), "lab");
    }
    assert_eq!(world.cluster.reads(), 1);
    assert_eq!(world.rows().await.len(), 20);
    assert_eq!(world.count(INTENTS).await, 0);
}

#[tokio::test]
async fn the_others_have_their_answer_and_the_intent_of_the_starter_stays_open_until_then() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.cluster.hold();
    let starter = world.caller(LIST);
    world.seated(1).await;
    let others = [world.caller(LIST), world.caller(LIST)];
    world.seated(3).await;
    starter.abort();
    world.seated(2).await;
    assert_eq!(world.count(INTENTS).await, 3);

    world.cluster.release();
    for other in others {
        assert_eq!(told(&other.await.unwrap().unwrap()), "lab");
    }
    until(async || world.count(INTENTS).await == 0).await;
    assert_eq!(world.count(CLOSED).await, 1);
    assert_eq!(world.cluster.reads(), 1);
    assert_eq!(
        world.rows().await,
        vec![row("adapter.capability_invoked", "success"); 2].concat()
    );
}

#[tokio::test]
async fn with_the_last_who_waits_the_read_is_cancelled_and_nothing_is_kept() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.cluster.hold();
    let callers = [world.caller(LIST), world.caller(LIST)];
    world.seated(2).await;
    for caller in &callers {
        caller.abort();
    }
    until(async || world.cluster.under_way.load(Ordering::SeqCst) == 0).await;
    until(async || world.count(INTENTS).await == 0).await;
    assert_eq!(world.count(CLOSED).await, 2);
    assert!(world.rows().await.is_empty());
    world.cluster.release();
    world.list().await.unwrap();
    assert_eq!(world.cluster.reads(), 2);
}

#[tokio::test]
async fn a_hurried_starter_is_told_in_time_and_on_the_record_while_the_read_goes_on() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.cluster.hold();
    let hurried = world.caller_within(LIST, Some(Duration::from_millis(400)));
    world.seated(1).await;
    let patient = world.caller(LIST);
    world.seated(2).await;
    let failed = hurried.await.unwrap().unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::DeadlineExceeded);
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "failure"));
    assert_eq!(world.count(INTENTS).await, 1);

    world.cluster.release();
    assert_eq!(told(&patient.await.unwrap().unwrap()), "lab");
    assert_eq!(world.cluster.reads(), 1);
    assert_eq!(world.rows().await.len(), 2);
    assert_eq!(world.count(INTENTS).await, 0);
    assert_eq!(world.count(CLOSED).await, 0);
}

#[tokio::test]
async fn what_went_wrong_is_told_to_all_who_wait_and_kept_for_nobody() {
    for (reading, reason) in [
        (
            Reading::Fail(UpstreamError::Unreachable),
            Some(ErrorReason::UpstreamUnreachable),
        ),
        (
            Reading::Fail(UpstreamError::Timeout),
            Some(ErrorReason::UpstreamTimeout),
        ),
        (Reading::SayNo, None),
    ] {
        let world = World::at_hand().await;
        world.proxmox("lab").await;
        *world.cluster.reading.lock().unwrap() = reading.clone();
        world.cluster.hold();
        let callers = [world.caller(LIST), world.caller(LIST)];
        world.seated(2).await;
        world.cluster.release();
        for caller in callers {
            let failed = caller.await.unwrap();
            assert_eq!(failed.err().map(|failed| failed.error.reason()), reason);
        }
        assert_eq!(world.list().await.err(), reason);
        assert_eq!(world.cluster.reads(), 2, "{reading:?}");
        assert_eq!(
            world.rows().await,
            vec![row("adapter.capability_invoked", "failure"); 3].concat()
        );
    }
}

#[tokio::test]
async fn a_read_that_began_before_a_change_is_not_told_after_it() {
    let world = World::at_hand().await;
    let target = world.proxmox("old").await;
    for change in [
        "update target set updated_us = updated_us + 1 where tenant_id = $1 and id = $2",
        "update target set config = '{}' where tenant_id = $1 and id = $2",
    ] {
        world.clock.advance(Duration::from_secs(60));
        let before = world.cluster.reads();
        world.cluster.hold();
        let early = world.caller(LIST);
        world.seated(1).await;
        world.give(target, "new").await;
        execute(
            &world.store,
            &world.tenant,
            change,
            vec![text(&world.tenant), text(target)],
        )
        .await;
        world.refresh().await;
        world.cluster.release();
        early.await.unwrap().unwrap();
        let late = world.list().await.unwrap();
        assert_eq!(told(&late), "new", "{change}");
        assert_eq!(meta(&late).get("toolgate/cachedAt"), None, "{change}");
        assert_eq!(world.cluster.reads(), before + 2, "{change}");
    }
}

#[tokio::test]
async fn what_is_held_for_a_target_goes_with_it() {
    let world = World::at_hand().await;
    let target = world.proxmox("lab").await;
    let rooms = world.broker.rooms();
    world.list().await.unwrap();
    rooms.tidy().await.unwrap();
    assert_eq!(rooms.cache.tenants().len() + rooms.adapters.tenants().len(), 2);
    let sql = "delete from target where tenant_id = $1 and id = $2";
    execute(
        &world.store,
        &world.tenant,
        sql,
        vec![text(&world.tenant), text(target)],
    )
    .await;
    world.refresh().await;
    rooms.tidy().await.unwrap();
    assert!(rooms.cache.tenants().is_empty() && rooms.adapters.tenants().is_empty());
    assert_eq!(world.list().await.unwrap_err(), ErrorReason::TargetNotFound);
}

#[tokio::test]
async fn an_adapter_is_opened_once_and_anew_for_a_credential_that_was_rotated() {
    let world = World::at_hand().await;
    let target = world.proxmox("old").await;
    for _ in 0..3 {
        world.status().await.unwrap();
    }
    assert_eq!(*world.cluster.opened.lock().unwrap(), ["old"]);
    // By another instance: this one's snapshot does not know yet, and is told so by the target.
    world.give(target, "new").await;
    *world.cluster.accepts.lock().unwrap() = Some("new");
    assert_eq!(told(&world.status().await.unwrap()), "new");
    assert_eq!(told(&world.status().await.unwrap()), "new");
    assert_eq!(*world.cluster.opened.lock().unwrap(), ["old", "new"]);
    assert_eq!(world.cluster.reads(), 6, "rejected once");
}

#[tokio::test]
async fn calls_under_way_keep_their_adapter_while_the_credential_is_rotated() {
    let world = World::at_hand().await;
    let target = world.proxmox("old").await;
    world.cluster.hold();
    let early = world.caller(STATUS);
    until(async || world.cluster.under_way.load(Ordering::SeqCst) == 1).await;
    world.give(target, "new").await;
    world.refresh().await;
    let late = world.caller(STATUS);
    until(async || world.cluster.under_way.load(Ordering::SeqCst) == 2).await;
    world.cluster.release();
    assert_eq!(told(&early.await.unwrap().unwrap()), "old");
    assert_eq!(told(&late.await.unwrap().unwrap()), "new");
}

// The wall between tenants: same tool, same arguments, callers who leave at any moment, answers of any age.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tenant_ever_gets_an_answer_of_another() {
    let world = World::at_hand().await;
    let neighbour = world.neighbour().await;
    world.proxmox("acme").await;
    neighbour.proxmox("umbrella").await;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut calls = Vec::new();
    let mut answered = 0;
    for round in 0..600 {
        let (asker, expected) = [(&world, "acme"), (&neighbour, "umbrella")][dice.roll(2)];
        let caller = asker.caller(if dice.roll(4) == 0 { STATUS } else { LIST });
        calls.push((caller, expected));
        match dice.roll(8) {
            0 => world.cluster.hold(),
            1 | 2 => world.cluster.release(),
            3 => world.clock.advance(Duration::from_secs(20)),
            4 => calls[dice.roll(calls.len())].0.abort(),
            _ => tokio::task::yield_now().await,
        }
        if round % 50 == 49 {
            world.cluster.release();
            for (caller, expected) in calls.drain(..) {
                if let Ok(settled) = caller.await {
                    assert_eq!(told(&settled.unwrap()), expected);
                    answered += 1;
                }
            }
        }
    }
    assert!(answered > 300, "{answered}");
    assert!(world.cluster.reads() < answered, "some were shared or kept");
    until(async || world.count(INTENTS).await + neighbour.count(INTENTS).await == 0).await;
    assert_eq!(world.seats(), 0);
}

/// The same rolls each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }
}
