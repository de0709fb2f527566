//! The journal on the embedded store.

use std::sync::Arc;

use futures::{FutureExt, future::join_all};
use toolgate_contract::ids::TargetId;

use super::*;
use crate::{
    audit::{EventKind, Head, Outcome, chain::row_hash, decode},
    keys::Keyring,
    store::{StoreConfig, StoreError, params, suite},
};

struct World {
    dir: tempfile::TempDir,
    store: Store,
    journal: Journal,
    clock: Clock,
}

const START_US: i64 = 1_700_000_000_000_000;

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::in_dir(dir).await
    }

    async fn in_dir(dir: tempfile::TempDir) -> Self {
        let clock = Clock::manual(START_US);
        let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let journal = Journal::start(store.clone(), Sealer::new(keys), clock.clone());
        Self {
            dir,
            store,
            journal,
            clock,
        }
    }

    /// Ends everything without a word, as a crash would, and starts anew on the same file.
    async fn crash(self) -> Self {
        let Self {
            dir, store, journal, ..
        } = self;
        drop((journal, store));
        Self::in_dir(dir).await
    }

    async fn rows(&self, tenant: &TenantId) -> Vec<Event> {
        chain(&self.store, tenant).await
    }

    async fn intents(&self, tenant: &TenantId) -> i64 {
        self.count("select count(*) from intent where tenant_id = $1", tenant)
            .await
    }

    async fn count(&self, sql: &'static str, tenant: &TenantId) -> i64 {
        let owner = tenant.clone();
        let rows: Result<_, StoreError> = self
            .store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&owner]).await })
            })
            .await;
        rows.unwrap()[0].int(0).unwrap()
    }
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
async fn a_settled_call_has_a_row_and_no_intent() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    assert_eq!(world.intents(&tenant).await, 1);
    assert!(world.rows(&tenant).await.is_empty());

    let receipt = world.journal.settle(contact, event()).await.unwrap();

    assert_eq!((receipt.seq, receipt.event_id), (1, id));
    assert_eq!(world.intents(&tenant).await, 0);
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].result),
        (1, id, Outcome::Success)
    );
}

#[tokio::test]
async fn a_call_left_over_by_a_crash_becomes_unknown() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    std::mem::forget(contact);

    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();

    assert_eq!(world.intents(&tenant).await, 0);
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].result),
        (1, id, Outcome::Unknown)
    );
}

#[tokio::test]
async fn a_dropped_contact_becomes_unknown_without_a_restart() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    drop(world.journal.intend(&tenant, Intent::new(event())).await.unwrap());
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(
        results(&world.rows(&tenant).await),
        [Outcome::Unknown, Outcome::Success]
    );
}

#[tokio::test]
async fn an_intent_whose_caller_left_in_the_queue_is_never_written() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let busy = world.hold_the_writer(&tenant).await;
    let mut asking = Box::pin(world.journal.intend(&tenant, Intent::new(event())));
    assert!(poll_once(&mut asking).is_none());
    drop(asking);
    busy.release();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(world.rows(&tenant).await.len(), 1);
}

#[tokio::test]
async fn an_intent_that_nobody_took_is_withdrawn() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let mut asking = Box::pin(world.journal.intend(&tenant, Intent::new(event())));
    assert!(poll_once(&mut asking).is_none());
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(
        world.intents(&tenant).await,
        1,
        "the intent is durable, its caller does not know yet"
    );
    drop(asking);
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(
        results(&world.rows(&tenant).await),
        [Outcome::Success, Outcome::Success]
    );
}

#[tokio::test]
async fn a_settlement_is_carried_out_although_its_caller_left() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let busy = world.hold_the_writer(&tenant).await;
    let mut settling = Box::pin(world.journal.settle(contact, event()));
    assert!(poll_once(&mut settling).is_none());
    drop(settling);
    busy.release();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(world.rows(&tenant).await.len(), 2);
}

#[tokio::test]
async fn a_cancelled_read_is_closed_and_forgotten_after_a_day() {
    const CLOSED: &str = "select count(*) from intent_closed where tenant_id = $1";
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    world.journal.close_cancelled(contact).await.unwrap();
    assert_eq!(
        (world.intents(&tenant).await, world.count(CLOSED, &tenant).await),
        (0, 1)
    );
    assert!(world.rows(&tenant).await.is_empty());

    world.clock.advance(Duration::from_secs(24 * 3600));
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.count(CLOSED, &tenant).await, 1);
    world.clock.advance(Duration::from_secs(1));
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.count(CLOSED, &tenant).await, 0);
}

#[tokio::test]
async fn a_withdrawn_intent_leaves_nothing() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    world.journal.withdraw(contact).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert!(world.rows(&tenant).await.is_empty());
}

#[tokio::test]
async fn eight_writers_make_one_chain_without_gaps() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let writers = (0..8).map(|_| {
        let (journal, tenant) = (world.journal.clone(), tenant.clone());
        tokio::spawn(async move {
            let mut places = Vec::new();
            for _ in 0..20 {
                let rows = (0..100).map(|_| journal.record(&tenant, event()));
                places.extend(
                    join_all(rows)
                        .await
                        .into_iter()
                        .map(|receipt| receipt.unwrap().seq),
                );
            }
            places
        })
    });
    let mut places: Vec<i64> = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        places.extend(writer.await.unwrap());
    }
    places.sort_unstable();
    assert_eq!(places, (1..=16_000).collect::<Vec<_>>());
    assert_eq!(world.rows(&tenant).await.len(), 16_000);
}

#[tokio::test]
async fn chains_of_many_tenants_ride_together_and_stay_apart() {
    let world = World::new().await;
    let tenants: Vec<_> = join_all((0..20).map(|_| suite::tenant(&world.store))).await;
    let calls = (0..30).flat_map(|_| tenants.iter()).map(|tenant| async {
        let contact = world.journal.intend(tenant, Intent::new(event())).await?;
        world.journal.settle(contact, event()).await
    });
    for settled in join_all(calls).await {
        settled.unwrap();
    }
    for tenant in &tenants {
        assert_eq!(
            (world.rows(tenant).await.len(), world.intents(tenant).await),
            (30, 0)
        );
    }
}

#[tokio::test]
async fn a_repeated_event_is_recognised_and_harms_no_neighbour() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let first = event();
    let other = Event {
        capability: "other".to_owned(),
        ..first.clone()
    };
    let events = [first.clone(), event(), first.clone(), other, event()];
    let busy = world.hold_the_writer(&tenant).await;
    let mut asked: Vec<_> = events
        .into_iter()
        .map(|event| Box::pin(world.journal.record(&tenant, event)))
        .collect();
    assert!(asked.iter_mut().all(|asking| poll_once(asking).is_none()));
    busy.release();
    let places: Vec<_> = join_all(asked)
        .await
        .into_iter()
        .map(|ended| ended.map(|receipt| receipt.seq))
        .collect();
    assert_eq!(places, [Ok(1), Ok(2), Ok(1), Err(JournalError::Conflict), Ok(3)]);
    assert_eq!(world.journal.record(&tenant, first).await.unwrap().seq, 1);
    assert_eq!(world.rows(&tenant).await.len(), 3);
}

#[tokio::test]
async fn a_second_intent_with_the_same_id_is_refused() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let intent = Intent::new(event());
    let contact = world.journal.intend(&tenant, intent.clone()).await.unwrap();
    let again = world.journal.intend(&tenant, intent).await;
    assert_eq!(again.err(), Some(JournalError::Conflict));
    world.journal.settle(contact, event()).await.unwrap();
    assert_eq!(world.rows(&tenant).await.len(), 1);
}

#[tokio::test]
async fn texts_with_nul_go_on_the_record() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    world.journal.count_refusal(Refusal {
        principal: "a\0b".to_owned(),
        ..refusal(&tenant)
    });
    world
        .journal
        .record(
            &tenant,
            Event {
                capability: "rm\0".to_owned(),
                ..event()
            },
        )
        .await
        .unwrap();
    world.clock.advance(Duration::from_secs(120));
    world.journal.reconcile().await.unwrap();
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows[0].capability.as_str(), rows[1].principal.as_str()),
        ("rm\\u0000", "a\\u0000b")
    );
}

#[tokio::test]
async fn refusals_of_a_minute_become_one_row() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    for _ in 0..5 {
        world.journal.count_refusal(refusal(&tenant));
    }
    world.journal.count_refusal(Refusal {
        principal: "bob".to_owned(),
        ..refusal(&tenant)
    });
    assert_eq!(
        world.journal.reconcile().await.unwrap().counted,
        0,
        "the minute is not over"
    );
    world.clock.advance(Duration::from_secs(60));
    world.journal.count_refusal(refusal(&tenant));
    world.clock.advance(Duration::from_secs(3));
    world.journal.check().await.unwrap();

    world.journal.room.roll_minutes().await.unwrap();

    let mut rows: Vec<_> = world.rows(&tenant).await;
    rows.sort_by(|a, b| a.principal.cmp(&b.principal));
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.principal.as_str(), row.detail.as_str()))
        .collect();
    assert_eq!(told, [("ada", r#"{"count":5}"#), ("bob", r#"{"count":1}"#)]);
    assert!(
        rows.iter()
            .all(|row| row.kind == EventKind::RequestRefused && row.result == Outcome::Refused)
    );
    world.clock.advance(Duration::from_secs(60));
    world.journal.room.roll_minutes().await.unwrap();
    assert_eq!(world.rows(&tenant).await.len(), 3);
}

#[tokio::test]
async fn counted_refusals_outlive_a_crash() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    world.journal.count_refusal(refusal(&tenant));
    world.journal.record(&tenant, event()).await.unwrap();
    let world = world.crash().await;
    world.clock.advance(Duration::from_secs(120));
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.rows(&tenant).await[1].detail, r#"{"count":1}"#);
}

#[tokio::test]
async fn a_change_and_its_event_stand_or_fall_together() {
    const POLICY: &str = "select count(*) from policy where tenant_id = $1";
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let version = world.store.tenant(&tenant).await.unwrap().unwrap().version;
    let known = event();
    world.journal.record(&tenant, known.clone()).await.unwrap();

    let failed = world.change(&tenant, "a", Err(Trouble::OnPurpose), event()).await;
    assert_eq!(failed, Err(Trouble::OnPurpose));
    let clash = Event {
        capability: "other".to_owned(),
        ..known
    };
    let refused = world.change(&tenant, "a", Ok(()), clash).await;
    assert_eq!(refused, Err(Trouble::Journal(JournalError::Conflict)));
    assert_eq!(
        (
            world.count(POLICY, &tenant).await,
            world.rows(&tenant).await.len()
        ),
        (0, 1)
    );
    assert_eq!(
        world.store.tenant(&tenant).await.unwrap().unwrap().version,
        version
    );

    world.change(&tenant, "a", Ok(()), event()).await.unwrap();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(
        (
            world.count(POLICY, &tenant).await,
            world.rows(&tenant).await.len()
        ),
        (1, 3)
    );
    assert_eq!(
        world.store.tenant(&tenant).await.unwrap().unwrap().version,
        version + 1
    );
}

#[tokio::test]
async fn a_change_is_carried_out_although_its_caller_left() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let busy = world.hold_the_writer(&tenant).await;
    let mut changing = Box::pin(world.change(&tenant, "a", Ok(()), event()));
    assert!(poll_once(&mut changing).is_none());
    drop(changing);
    busy.release();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.rows(&tenant).await.len(), 2);
}

#[tokio::test]
async fn a_store_that_fails_is_told_in_time_and_what_ends_a_contact_is_tried_again() {
    let world = World::new().await;
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
    let world = World::new().await;
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
async fn a_record_that_takes_no_rows_keeps_nobody_else_from_theirs() {
    let world = World::new().await;
    let tenants = join_all((0..3).map(|_| suite::tenant(&world.store))).await;
    for tenant in &tenants {
        world.journal.record(tenant, event()).await.unwrap();
        std::mem::forget(world.journal.intend(tenant, Intent::new(event())).await.unwrap());
    }
    let world = world.crash().await;
    let behind = "delete from audit_head where tenant_id = ?1";
    world.outside().execute(behind, [tenants[0].as_str()]).unwrap();

    assert_eq!(world.journal.reconcile().await, Err(JournalError::Unavailable));
    assert_eq!(
        world.journal.record(&tenants[0], event()).await,
        Err(JournalError::Unavailable)
    );

    assert_eq!(
        world.intents(&tenants[0]).await,
        1,
        "kept until somebody has looked"
    );
    for tenant in &tenants[1..] {
        assert_eq!(
            (world.intents(tenant).await, world.rows(tenant).await.len()),
            (0, 2)
        );
    }
}

#[tokio::test]
async fn two_journals_on_one_store_make_one_chain() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let store = Store::open(StoreConfig::sqlite(world.dir.path().join("toolgate.db")))
        .await
        .unwrap();
    let keys = Arc::new(Keyring::open(world.dir.path()).unwrap());
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
async fn a_full_queue_is_overload() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let busy = world.hold_the_writer(&tenant).await;
    let room = &world.journal.room;
    let mut last = Ok(());
    for _ in 0..=waiting::ROOM {
        last = room.queue(Op::new(Work::Probe, Reply::Nobody));
    }
    assert_eq!(last, Err(JournalError::Overloaded));
    let refused = world.journal.record(&tenant, event()).await;
    assert_eq!(refused, Err(JournalError::Overloaded));
    busy.release();
    world.journal.close().await;
}

#[tokio::test]
async fn a_closed_journal_has_written_everything_and_takes_no_more() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let mut rows: Vec<_> = (0..1200)
        .map(|_| Box::pin(world.journal.record(&tenant, event())))
        .collect();
    assert!(
        rows.iter_mut()
            .all(|row| poll_once(row).is_none_or(|ended| ended.is_ok()))
    );
    world.journal.close().await;
    assert_eq!(world.rows(&tenant).await.len(), 1200);
    assert_eq!(
        world.journal.record(&tenant, event()).await,
        Err(JournalError::Unavailable)
    );
}

#[tokio::test]
async fn a_damaged_intent_is_still_told_of() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    std::mem::forget(contact);
    world
        .outside()
        .execute_batch("update intent set facts = x'ff'")
        .unwrap();
    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].detail.as_str()),
        (1, id, r#"{"intent":"damaged"}"#)
    );
    assert_eq!(world.intents(&tenant).await, 0);
}

/// Why a change failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    OnPurpose,
    Journal(JournalError),
}

impl From<JournalError> for Trouble {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// Keeps the store's writer busy until it is released.
struct Busy(std::sync::mpsc::Sender<()>);

impl Busy {
    fn release(self) {
        self.0.send(()).unwrap();
    }
}

impl World {
    async fn hold_the_writer(&self, tenant: &TenantId) -> Busy {
        let (started, has_started) = oneshot::channel();
        let (release, released) = std::sync::mpsc::channel();
        let (store, tenant) = (self.store.clone(), tenant.clone());
        let hold = tokio::spawn(async move {
            let held: Result<(), StoreError> = store
                .with_tenant(&tenant, move |_| {
                    Box::pin(async move {
                        started.send(()).unwrap();
                        released.recv().unwrap();
                        Ok(())
                    })
                })
                .await;
            held
        });
        has_started.await.unwrap();
        drop(hold);
        Busy(release)
    }

    /// Somebody else's connection to the file.
    fn outside(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.dir.path().join("toolgate.db")).unwrap()
    }

    async fn change(
        &self,
        tenant: &TenantId,
        tool: &'static str,
        ends: Result<(), Trouble>,
        event: Event,
    ) -> Result<(), Trouble> {
        const ADD: &str = "insert into policy (tenant_id, tool) values ($1, $2)";
        let owner = tenant.clone();
        self.journal
            .with(
                tenant,
                move |tx| {
                    Box::pin(async move {
                        tx.execute(ADD, params![&owner, tool])
                            .await
                            .map_err(JournalError::from)?;
                        ends
                    })
                },
                move |()| event,
            )
            .await
    }
}

fn results(rows: &[Event]) -> Vec<Outcome> {
    rows.iter().map(|row| row.result).collect()
}

fn refusal(tenant: &TenantId) -> Refusal {
    Refusal {
        tenant: tenant.clone(),
        kind: EventKind::RequestRefused,
        principal: "ada".to_owned(),
        reason: "RATE_LIMITED".to_owned(),
        role: "agent".to_owned(),
        facade: "rest".to_owned(),
        capability: String::new(),
    }
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    future.now_or_never()
}

/// Runs `sql` as somebody does who holds the file: the guards are dropped first.
fn tamper(world: &World, sql: &str) {
    let connection = rusqlite::Connection::open(world.dir.path().join("toolgate.db")).unwrap();
    let guards: Vec<String> = connection
        .prepare("select name from sqlite_master where type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for guard in guards {
        connection
            .execute_batch(&format!("drop trigger {guard}"))
            .unwrap();
    }
    connection.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn a_tenant_whose_head_is_broken_makes_no_contact_and_others_do() {
    const CUT: &str = "delete from audit_event where tenant_id = 'T' and seq = 3";
    const SET_BACK: &str = "update audit_head set seq = 2, hash = \
        (select hash from audit_event where tenant_id = 'T' and seq = 2) where tenant_id = 'T'";
    let cases = [
        ("the last row is gone", vec![CUT], true),
        ("the head is set back", vec![SET_BACK], true),
        (
            "the head is gone",
            vec!["delete from audit_head where tenant_id = 'T'"],
            true,
        ),
        (
            "the hash is another",
            vec!["update audit_head set hash = zeroblob(32) where tenant_id = 'T'"],
            true,
        ),
        (
            "the hash is no hash",
            vec!["update audit_head set hash = 'x' where tenant_id = 'T'"],
            true,
        ),
        // Only whoever appended the row can know; what a verifier cannot see needs a witness.
        (
            "the last row is gone and the head fits",
            vec![CUT, SET_BACK],
            false,
        ),
    ];
    for (name, tampering, also_after_a_crash) in cases {
        let world = World::new().await;
        let (tenant, other) = (
            suite::tenant(&world.store).await,
            suite::tenant(&world.store).await,
        );
        for _ in 0..3 {
            world.journal.record(&tenant, event()).await.unwrap();
        }
        let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
        world.journal.withdraw(contact).await.unwrap();
        for sql in tampering {
            tamper(&world, &sql.replace("'T'", &format!("'{tenant}'")));
        }
        let refused = async |world: &World| {
            let (broken, sound) = futures::join!(
                world.journal.intend(&tenant, Intent::new(event())),
                world.journal.intend(&other, Intent::new(event())),
            );
            assert!(sound.is_ok(), "{name}");
            broken.err() == Some(JournalError::Unavailable)
        };
        assert!(refused(&world).await, "{name}");
        let world = world.crash().await;
        assert_eq!(refused(&world).await, also_after_a_crash, "{name}");
    }
}

#[tokio::test]
async fn an_intent_may_follow_a_row_within_one_commit() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    for _ in 0..3 {
        let both = futures::join!(
            world.journal.record(&tenant, event()),
            world.journal.intend(&tenant, Intent::new(event())),
        );
        both.0.unwrap();
        let contact = both.1.unwrap();
        world.journal.settle(contact, event()).await.unwrap();
    }
    assert_eq!(world.rows(&tenant).await.len(), 6);
}

#[tokio::test]
async fn a_writer_that_panics_ends_the_record_and_tells_everyone() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let room = Arc::clone(&world.journal.room);
    let lent = world.store.lend_to_journal(move |_| {
        let turn = shift::Turn::new(&room);
        Box::pin(async move {
            let _turn = turn;
            panic!("a commit that panics");
        })
    });
    lent.unwrap();

    let told = tokio::time::timeout(Duration::from_secs(20), world.journal.ended());
    told.await.expect("whoever watches the record is told");
    assert_eq!(world.journal.check().await, Err(JournalError::Ended));
    assert_eq!(
        world.journal.record(&tenant, event()).await,
        Err(JournalError::Ended)
    );
    assert_eq!(
        world.journal.settle(contact, event()).await,
        Err(JournalError::Ended)
    );
    assert_eq!(world.rows(&tenant).await.len(), 0);

    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.rows(&tenant).await[0].result, Outcome::Unknown);
}

#[tokio::test]
async fn a_task_of_the_record_that_panics_ends_the_record() {
    let world = World::new().await;
    reconcile::watched(Arc::downgrade(&world.journal.room), async {
        panic!("the keeper")
    })
    .await;
    assert_eq!(world.journal.check().await, Err(JournalError::Ended));
}

#[tokio::test]
async fn a_store_that_takes_no_more_ends_the_record() {
    let world = World::new().await;
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
        let world = World::new().await;
        let tenant = suite::tenant(&world.store).await;
        world.journal.end_if_displaced();
        world.journal.record(&tenant, event()).await.unwrap();

        let path = world.dir.path().join("toolgate.db");
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
