//! What the disk itself costs: a flush, and a bare SQLite commit.

use std::{
    error::Error,
    fs::File,
    io::Write,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use rusqlite::Connection;

const ROUNDS: usize = 200;

/// Medians.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    /// Writing 8 KiB and flushing it, as PostgreSQL's `pg_test_fsync` does with fdatasync.
    pub(crate) fsync: Duration,
    /// What `pg_test_fsync` itself says, where one is installed.
    pub(crate) by_postgres: Option<Duration>,
    /// Committing one row with `synchronous=FULL` in WAL.
    pub(crate) commit: Duration,
}

impl Disk {
    /// `pg_test_fsync`'s figure as part of a sentence.
    pub(crate) fn told_by_postgres(&self) -> String {
        self.by_postgres.map_or_else(String::new, |took| {
            format!(" (`pg_test_fsync`, fdatasync: {} µs)", took.as_micros())
        })
    }

    /// Measures where the data directory will be.
    pub(crate) fn measure(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut file = File::create(folder.join("flush"))?;
        let fsync = median(|| {
            file.write_all(&[7; 8192])?;
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
        Ok(Self {
            fsync,
            by_postgres: by_postgres(folder),
            commit,
        })
    }
}

/// Runs a `pg_test_fsync` of Debian's packages. It ships with no server that comes as a package of another kind.
fn by_postgres(folder: &Path) -> Option<Duration> {
    let tool = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .flatten()
        .map(|version| version.path().join("bin/pg_test_fsync"))
        .find(|tool| tool.exists())?;
    let told = Command::new(tool)
        .args(["--secs-per-test=1", "--filename"])
        .arg(folder.join("pg_test_fsync"))
        .output()
        .ok()?;
    fdatasync_of(&String::from_utf8(told.stdout).ok()?)
}

/// The first row of its tables on fdatasync: one write of 8 KiB. Headings speak of fdatasync as well.
fn fdatasync_of(told: &str) -> Option<Duration> {
    let row = told
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("fdatasync "))?;
    let micros = row.split_whitespace().rev().nth(1)?.parse::<f64>().ok()?;
    Some(Duration::from_secs_f64(micros / 1e6))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_on_fdatasync_is_read_and_no_heading() {
        let told = "(in wal_sync_method preference order, except fdatasync is Linux's default)\n\
            \x20       open_datasync                     12052.650 ops/sec      83 usecs/op\n\
            \x20       fdatasync                         11489.322 ops/sec      87 usecs/op\n";
        assert_eq!(fdatasync_of(told), Some(Duration::from_micros(87)));
        assert_eq!(fdatasync_of("fdatasync     n/a*"), None);
    }
}
