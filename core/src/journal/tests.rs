//! What the journal promises: on both back ends in `behaviours`, here what only the embedded one can meet.

mod behaviours;
mod world;

use std::sync::Arc;

use futures::{FutureExt, future::join_all};
use toolgate_contract::ids::TargetId;

use super::*;
use crate::{
    audit::{EventKind, Head, Outcome, chain::row_hash, decode},
    keys::Keyring,
    store::{StoreConfig, StoreError, params, suite},
};
use world::{Trouble, World, poll_once, refusal, results};

const START_US: i64 = 1_700_000_000_000_000;

/// Behaviours as tests, each in a world of its own on either back end.
macro_rules! on_both_back_ends {
    ($($behaviour:ident)+) => {
        mod embedded {
            $(#[tokio::test]
            async fn $behaviour() {
                super::behaviours::$behaviour(super::World::embedded().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
            async fn $behaviour() {
                if let Some(world) = super::World::on_postgres(stringify!($behaviour)).await {
                    super::behaviours::$behaviour(world).await;
                }
            })+
        }
    };
}

on_both_back_ends! {
    a_settled_call_has_a_row_and_no_intent
    a_call_left_over_by_a_crash_becomes_unknown
    a_dropped_contact_becomes_unknown_without_a_restart
    an_intent_whose_caller_left_in_the_queue_is_never_written
    an_intent_that_nobody_took_is_withdrawn
    a_settlement_is_carried_out_although_its_caller_left
    a_cancelled_read_is_closed_and_forgotten_after_a_day
    a_withdrawn_intent_leaves_nothing
    eight_writers_make_one_chain_without_gaps
    chains_of_many_tenants_ride_together_and_stay_apart
    a_repeated_event_is_recognised_and_harms_no_neighbour
    a_second_intent_with_the_same_id_is_refused
    texts_with_nul_go_on_the_record
    refusals_of_a_minute_become_one_row
    counted_refusals_outlive_a_crash
    a_change_and_its_event_stand_or_fall_together
    a_change_is_carried_out_although_its_caller_left
    a_record_that_takes_no_rows_keeps_nobody_else_from_theirs
    a_full_queue_is_overload
    a_closed_journal_has_written_everything_and_takes_no_more
    a_damaged_intent_is_still_told_of
    a_tenant_whose_head_is_broken_makes_no_contact_and_others_do
    an_intent_may_follow_a_row_within_one_commit
    a_writer_that_panics_ends_the_record_and_tells_everyone
    a_task_of_the_record_that_panics_ends_the_record
    a_head_at_hand_that_is_behind_is_read_anew
    rows_that_follow_do_not_hide_a_broken_chain
}

/// A tenant's events in order; asserts that the chain has no gap and every link and hash holds.
async fn chain(store: &Store, tenant: &TenantId) -> Vec<Event> {
    const ROWS: &str =
        "select seq, prev, bytes, hash, algorithm from audit_event where tenant_id = $1 order by seq";
    const HEAD: &str = "select seq, hash from audit_head where tenant_id = $1";
    let owner = tenant.clone();
    let read: Result<_, StoreError> = store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move {
                Ok((
                    tx.query(ROWS, params![&owner]).await?,
                    tx.query_opt(HEAD, params![&owner]).await?,
                ))
            })
        })
        .await;
    let (rows, stored) = read.unwrap();
    let mut head = Head::genesis(tenant);
    let mut events = Vec::new();
    for row in rows {
        assert_eq!(row.int(0).unwrap(), head.seq + 1);
        assert_eq!(row.array::<32>(1).unwrap(), head.hash);
        let bytes = row.blob(2).unwrap();
        let hash = row_hash(row.int(4).unwrap(), tenant, head.seq + 1, &head.hash, bytes);
        assert_eq!(row.array::<32>(3).unwrap(), hash);
        head = Head {
            seq: head.seq + 1,
            hash,
        };
        events.push(decode(bytes).unwrap());
    }
    let stored = stored.map_or(Head::genesis(tenant), |row| Head {
        seq: row.int(0).unwrap(),
        hash: row.array(1).unwrap(),
    });
    assert_eq!(stored, head);
    events
}

fn event() -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: START_US,
        principal: "ada".to_owned(),
        role: "engineer".to_owned(),
        facade: "rest".to_owned(),
        adapter_type: "ssh".to_owned(),
        target_id: Some(TargetId::mint()),
        capability: "ssh.run_whitelisted_command".to_owned(),
        params_hash: Some([7; 32]),
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 12,
        correlation_id: None,
        detail: String::new(),
    }
}

#[tokio::test]
async fn a_store_that_fails_is_told_in_time_and_what_ends_a_contact_is_tried_again() {
    let world = World::embedded().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    let outside = world.outside();
    outside
        .execute_batch("alter table audit_event rename to hidden")
        .unwrap();

    let asked = std::time::Instant::now();
    assert_eq!(
        world.journal.settle(contact, event()).await,
        Err(JournalError::Unavailable)
    );
    assert_eq!(
        world.journal.record(&tenant, event()).await,
        Err(JournalError::Unavailable)
    );
    assert!(asked.elapsed() < Duration::from_secs(4));

    outside
        .execute_batch("alter table hidden rename to audit_event")
        .unwrap();
    world.journal.room.try_again();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert!(
        world
            .rows(&tenant)
            .await
            .iter()
            .any(|row| row.id == id && row.result == Outcome::Success)
    );
}

#[tokio::test]
async fn a_locked_store_is_told_within_two_seconds_and_recovers() {
    let world = World::embedded().await;
    let tenant = suite::tenant(&world.store).await;
    let outside = world.outside();
    outside.execute_batch("begin immediate").unwrap();
    let asked = std::time::Instant::now();
    let refused = world.journal.intend(&tenant, Intent::new(event())).await;
    assert_eq!(refused.err(), Some(JournalError::Unavailable));
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    world.clock.advance(DOUBT);
    assert_eq!(world.journal.check().await, Err(JournalError::Unavailable));

    outside.execute_batch("rollback").unwrap();
    // Whether the probe above gave up before the lock did is the scheduler's to decide: if so, its failure is doubted
    // for as long again.
    let mut recovered = world.journal.check().await;
    for _ in 0..2 {
        world.clock.advance(DOUBT);
        recovered = world.journal.check().await;
    }
    recovered.unwrap();
    world.journal.room.try_again();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(world.rows(&tenant).await.len(), 1);
}

#[tokio::test]
async fn two_journals_on_one_store_make_one_chain() {
    let world = World::embedded().await;
    let tenant = suite::tenant(&world.store).await;
    let store = Store::open(StoreConfig::sqlite(world.file())).await.unwrap();
    let keys = Arc::new(Keyring::open(world.dir()).unwrap());
    let other = Journal::start(store, Sealer::new(keys), world.clock.clone());
    for round in 1..=5 {
        assert_eq!(
            world.journal.record(&tenant, event()).await.unwrap().seq,
            2 * round - 1
        );
        assert_eq!(other.record(&tenant, event()).await.unwrap().seq, 2 * round);
    }
    assert_eq!(world.rows(&tenant).await.len(), 10);
}

#[tokio::test]
async fn a_store_that_takes_no_more_ends_the_record() {
    let world = World::embedded().await;
    let tenant = suite::tenant(&world.store).await;
    world.store.abandon_writer();
    assert_eq!(
        world.journal.record(&tenant, event()).await,
        Err(JournalError::Ended)
    );
    world.journal.ended().await;
}

#[tokio::test]
async fn a_database_file_that_is_removed_or_replaced_ends_the_record() {
    for replaced in [false, true] {
        let world = World::embedded().await;
        let tenant = suite::tenant(&world.store).await;
        world.journal.end_if_displaced();
        world.journal.record(&tenant, event()).await.unwrap();

        let path = world.file();
        std::fs::remove_file(&path).unwrap();
        if replaced {
            std::fs::write(&path, "").unwrap();
        }
        assert!(matches!(
            world.store.check().await,
            Err(StoreError::Displaced { .. })
        ));
        world.journal.end_if_displaced();
        world.journal.ended().await;
        assert_eq!(
            world.journal.record(&tenant, event()).await,
            Err(JournalError::Ended)
        );
    }
}
