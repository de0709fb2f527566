//! What the disk itself costs: a flush, and a bare SQLite commit.

use std::{
    error::Error,
    fs::File,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::Connection;

const ROUNDS: usize = 200;

/// Medians.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    /// Writing 4 KiB and flushing it.
    pub(crate) fsync: Duration,
    /// Committing one row with `synchronous=FULL` in WAL.
    pub(crate) commit: Duration,
}

impl Disk {
    /// Measures where the data directory will be.
    pub(crate) fn measure(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut file = File::create(folder.join("flush"))?;
        let fsync = median(|| {
            file.write_all(&[7; 4096])?;
            Ok(file.sync_data()?)
        })?;
        let store = Connection::open(folder.join("commit.db"))?;
        store.execute_batch(
            "pragma journal_mode=wal; pragma synchronous=full; create table row (bytes blob)",
        )?;
        let commit = median(|| {
            store.execute("insert into row values (zeroblob(400))", [])?;
            Ok(())
        })?;
        Ok(Self { fsync, commit })
    }
}

fn median(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut took = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        work()?;
        took.push(began.elapsed());
    }
    took.sort();
    Ok(took[ROUNDS / 2])
}
