//! The journal alone, without a gateway around it: how many calls and rows a second it makes durable.
//!
//! It runs in this process, on both cores; a PostgreSQL shares them.

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use toolgate_contract::ids::{CallId, EventId, TargetId, TenantId};
use toolgate_core::{
    audit::{Event, EventKind, Outcome, Sealer},
    clock::Clock,
    journal::{Intent, Journal, JournalError},
    keys::Keyring,
    store::{Store, StoreConfig},
};

use crate::{measure::cpu_time, place::Place};

/// Whose rows they are, and how many callers append at once.
const MODES: [(Tenants, usize); 5] = [
    (Tenants::Many(1), 1),
    (Tenants::Many(1), 256),
    (Tenants::Many(100), 256),
    (Tenants::Many(1_000), 1_024),
    (Tenants::OneHot(1_000), 1_024),
];

/// How rows fall on tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tenants {
    /// Evenly on so many.
    Many(usize),
    /// Nine of ten on the first of so many.
    OneHot(usize),
}

/// What each caller does over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// An intent, then its settlement: two commits, one row.
    Call,
    /// A row without an intent: one commit.
    Row,
}

/// One measurement.
#[derive(Debug)]
pub(crate) struct Appends {
    pub(crate) store: &'static str,
    pub(crate) load: Load,
    pub(crate) tenants: Tenants,
    pub(crate) callers: usize,
    pub(crate) per_second: f64,
    /// Processor time of this process for each; a server's is not in it.
    pub(crate) cpu: Duration,
}

/// Measures every mode on one store.
pub(crate) async fn all(place: &Place, span: Duration) -> Result<Vec<Appends>, Box<dyn Error>> {
    let mut found = Vec::new();
    for (tenants, callers) in MODES {
        for load in [Load::Row, Load::Call] {
            let appends = run(place, load, tenants, callers, span).await?;
            eprintln!(
                "{} {load:?} {tenants:?} {callers}: {:.0}/s",
                appends.store, appends.per_second
            );
            found.push(appends);
        }
    }
    Ok(found)
}

async fn run(
    place: &Place,
    load: Load,
    tenants: Tenants,
    callers: usize,
    span: Duration,
) -> Result<Appends, Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    // What is dropped last: the database outlives the store on it.
    let database = place.database().await?;
    let config = match &database {
        None => StoreConfig::sqlite(dir.path().join("toolgate.db")),
        Some(database) => StoreConfig::postgres(database.url().parse()?),
    };
    let store = Store::open(config).await?;
    let sealer = Sealer::new(Arc::new(Keyring::open(dir.path())?));
    let journal = Journal::start(store, sealer, Clock::system());
    let (Tenants::Many(many) | Tenants::OneHot(many)) = tenants;
    let ids: Arc<[TenantId]> = (0..many).map(|_| TenantId::mint()).collect();
    let (started, before) = (Instant::now(), cpu_time(std::process::id())?);
    let work = (0..callers).map(|caller| {
        let (journal, ids) = (journal.clone(), Arc::clone(&ids));
        tokio::spawn(async move {
            let mut done = 0_usize;
            while started.elapsed() < span {
                let turn = caller + done * callers;
                let hot = tenants == Tenants::OneHot(many) && !turn.is_multiple_of(10);
                let tenant = &ids[if hot { 0 } else { turn % many }];
                once(&journal, tenant, load).await?;
                done += 1;
            }
            Ok::<_, JournalError>(done)
        })
    });
    let mut done = 0;
    for caller in join_all(work).await {
        done += caller??;
    }
    let took = started.elapsed();
    let cpu = cpu_time(std::process::id())?.saturating_sub(before);
    journal.close().await;
    Ok(Appends {
        store: place.name(),
        load,
        tenants,
        callers,
        per_second: done as f64 / took.as_secs_f64(),
        cpu: cpu / u32::try_from(done).unwrap_or(u32::MAX).max(1),
    })
}

async fn once(journal: &Journal, tenant: &TenantId, load: Load) -> Result<(), JournalError> {
    let event = event();
    match load {
        Load::Row => journal.record(tenant, event).await?,
        Load::Call => {
            let contact = journal.intend(tenant, Intent::new(event.clone())).await?;
            journal.settle(contact, event).await?
        }
    };
    Ok(())
}

fn event() -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: 1_700_000_000_000_000,
        principal: "ada@example.test".to_owned(),
        role: "engineer".to_owned(),
        facade: "rest".to_owned(),
        adapter_type: "ssh".to_owned(),
        target_id: Some(TargetId::mint()),
        capability: "ssh.run_whitelisted_command".to_owned(),
        params_hash: Some([7; 32]),
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 12,
        correlation_id: Some(CallId::mint()),
        detail: String::new(),
    }
}
