//! How many calls and rows a second the journal makes durable, and what a row costs the writer's processor.
//!
//! `cargo bench -p toolgate-core --bench journal [-- SECONDS [DIR]]`, on the embedded store and, where a server is
//! found, on PostgreSQL on the same cores. Figures depend on the disk, so the time of one fsync there is printed first.
//! Nothing is asserted.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use toolgate_contract::ids::{CallId, EventId, TargetId, TenantId};
use toolgate_core::{
    audit::{Event, EventKind, Outcome, Sealer},
    clock::Clock,
    journal::{Intent, Journal},
    keys::Keyring,
    store::{Store, StoreConfig},
};
use toolgate_test_postgres::{Cluster, Database};

type Anything = Box<dyn std::error::Error + Send + Sync>;

/// What each caller does over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// An intent, then its settlement: two commits.
    Call,
    /// A row without an intent: one commit.
    Row,
}

fn main() -> Result<(), Anything> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let root = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = tempfile::tempdir_in(root)?;
    println!(
        "one fsync of 4 KiB: {:.2} ms (median of 100)",
        fsync_ms(dir.path())?
    );
    println!(
        "{:>9} {:>5} {:>8} {:>8} {:>10} {:>9} {:>13}",
        "store", "load", "tenants", "callers", "per s", "ms each", "CPU µs each"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let span = Duration::from_secs_f64(seconds);
    let server = match toolgate_test_postgres::missing() {
        None => Some(runtime.block_on(Cluster::own())),
        Some(why) => {
            println!("without PostgreSQL: {why}");
            None
        }
    };
    for place in [Place::Embedded]
        .into_iter()
        .chain(server.as_ref().map(Place::Postgres))
    {
        for (tenants, callers) in [
            (1, 1),
            (1, 16),
            (1, 64),
            (1, 256),
            (100, 256),
            (1000, 256),
            (1000, 1024),
        ] {
            for load in [Load::Call, Load::Row] {
                runtime.block_on(run(&place, load, tenants, callers, span))?;
            }
        }
    }
    Ok(())
}

/// Where the record lies.
enum Place<'a> {
    Embedded,
    Postgres(&'a Cluster),
}

impl Place<'_> {
    /// A fresh store, and what must live as long.
    async fn open(&self, dir: &Path) -> Result<(Store, Option<Database>), Anything> {
        match self {
            Self::Embedded => Ok((
                Store::open(StoreConfig::sqlite(dir.join("toolgate.db"))).await?,
                None,
            )),
            Self::Postgres(server) => {
                let database = server.database().await;
                migrate(&database).await?;
                let url = database.url_as("toolgate_app").parse()?;
                Ok((Store::open(StoreConfig::postgres(url)).await?, Some(database)))
            }
        }
    }
}

async fn migrate(database: &Database) -> Result<(), Anything> {
    database
        .execute(include_str!("../migrations/postgres/bootstrap.sql"))
        .await?;
    let record = include_str!("../migrations/postgres/0001_record.sql");
    Ok(database.execute(&format!("begin;{record};commit")).await?)
}

async fn run(
    place: &Place<'_>,
    load: Load,
    tenants: usize,
    callers: usize,
    span: Duration,
) -> Result<(), Anything> {
    let dir = tempfile::tempdir()?;
    let (store, _database) = place.open(dir.path()).await?;
    let sealer = Sealer::new(Arc::new(Keyring::open(dir.path())?));
    let journal = Journal::start(store.clone(), sealer, Clock::system());
    let tenants: Vec<_> = (0..tenants).map(|_| TenantId::mint()).collect();
    let (started, before) = (Instant::now(), own_cpu()?);
    let work = (0..callers).map(|caller| {
        let (journal, tenants) = (journal.clone(), tenants.clone());
        tokio::spawn(async move {
            let mut done = 0_usize;
            while started.elapsed() < span {
                let tenant = &tenants[(caller + done * callers) % tenants.len()];
                once(&journal, tenant, load).await?;
                done += 1;
            }
            Ok::<_, Anything>(done)
        })
    });
    let mut done = 0;
    for caller in join_all(work).await {
        done += caller??;
    }
    let (took, busy) = (started.elapsed().as_secs_f64(), own_cpu()? - before);
    println!(
        "{:>9} {:>5} {:>8} {:>8} {:>10.0} {:>9.2} {:>13.1}",
        match place {
            Place::Embedded => "SQLite",
            Place::Postgres(_) => "PostgreSQL",
        },
        format!("{load:?}").to_lowercase(),
        tenants.len(),
        callers,
        done as f64 / took,
        took * 1e3 * callers as f64 / done as f64,
        busy * 1e6 / done as f64,
    );
    journal.close().await;
    Ok(())
}

async fn once(journal: &Journal, tenant: &TenantId, load: Load) -> Result<(), Anything> {
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

fn fsync_ms(dir: &Path) -> Result<f64, Anything> {
    let mut file = fs::File::create(dir.join("fsync"))?;
    let mut times = Vec::new();
    for _ in 0..100 {
        file.write_all(&[1; 4096])?;
        let started = Instant::now();
        file.sync_data()?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Seconds of processor time this process has taken; a server of its own is not in it.
fn own_cpu() -> Result<f64, Anything> {
    let mut nanoseconds = 0.0;
    for thread in fs::read_dir("/proc/self/task")?.flatten() {
        // A thread may have ended since.
        let told = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        nanoseconds += told
            .split_whitespace()
            .next()
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0);
    }
    Ok(nanoseconds / 1e9)
}
