//! How many calls and rows a second the journal makes durable, and what a row costs the writer's processor.
//!
//! `cargo bench -p toolgate-core --bench journal [-- SECONDS [DIR]]`. Figures depend on the disk, so the time of one
//! fsync there is printed first. Nothing is asserted.

use std::{
    collections::HashMap,
    ffi::OsString,
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
        "{:>7} {:>8} {:>8} {:>10} {:>9} {:>14}",
        "load", "tenants", "callers", "per s", "ms each", "writer µs each"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for (tenants, callers) in [(1, 1), (1, 16), (1, 64), (1, 256), (1000, 256), (1000, 1024)] {
        for load in [Load::Call, Load::Row] {
            runtime.block_on(run(load, tenants, callers, Duration::from_secs_f64(seconds)))?;
        }
    }
    Ok(())
}

async fn run(load: Load, tenants: usize, callers: usize, span: Duration) -> Result<(), Anything> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db"))).await?;
    let sealer = Sealer::new(Arc::new(Keyring::open(dir.path())?));
    let journal = Journal::start(store.clone(), sealer, Clock::system());
    let tenants: Vec<_> = (0..tenants).map(|_| TenantId::mint()).collect();
    let (started, before) = (Instant::now(), writer_cpu());
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
    let (took, busy) = (started.elapsed().as_secs_f64(), writer_cpu_since(&before));
    println!(
        "{:>7} {:>8} {:>8} {:>10.0} {:>9.2} {:>14.1}",
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

/// Nanoseconds of processor time of the store's writer threads so far, by thread, where the system tells.
fn writer_cpu() -> HashMap<OsString, f64> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return HashMap::new();
    };
    let of = |thread: fs::DirEntry| -> Option<(OsString, f64)> {
        let name = fs::read_to_string(thread.path().join("comm")).ok()?;
        let time = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanoseconds = time.split_whitespace().next()?.parse().ok()?;
        (name.trim() == "store-writer").then_some((thread.file_name(), nanoseconds))
    };
    threads.flatten().filter_map(of).collect()
}

/// Seconds since `before` of the threads that live now.
fn writer_cpu_since(before: &HashMap<OsString, f64>) -> f64 {
    let since = |(thread, now): (OsString, f64)| now - before.get(&thread).copied().unwrap_or(0.0);
    writer_cpu().into_iter().map(since).sum::<f64>() / 1e9
}
