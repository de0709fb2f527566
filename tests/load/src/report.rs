//! The table, and where it is kept.

use std::{fmt::Write as _, fs, io, path::Path, time::Duration};

use crate::{
    appends::{Appends, Load, Tenants},
    disk::Disk,
    measure::{Figures, Shape},
    upstream,
};

const BEGIN: &str = "<!-- load: begin, rewritten by toolgate-load --write -->";
const END: &str = "<!-- load: end -->";

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) disk: Disk,
    /// Named groups of figures.
    pub(crate) modes: Vec<(String, Vec<Figures>)>,
    /// Resident memory of the gateway at the end, in MiB, by store.
    pub(crate) memory: Vec<(&'static str, u64)>,
    /// The journal alone.
    pub(crate) appends: Vec<Appends>,
    /// Sessions that were opened and never ended, and by how many KiB the gateway's memory grew, by store.
    pub(crate) sessions: Vec<(&'static str, Sessions)>,
}

/// Handshakes of MCP without an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sessions {
    pub(crate) opened: usize,
    pub(crate) grown_kib: i64,
}

impl Report {
    /// The table as Markdown.
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "Machine: {}. Flush of 8 KiB: {} µs{}; bare SQLite commit of one row (WAL, `synchronous=FULL`): {} µs (medians). \
             Memory of the gateway at the end: {}.\n",
            self.machine,
            self.disk.fsync.as_micros(),
            self.disk.told_by_postgres(),
            self.disk.commit.as_micros(),
            self.memory()
        );
        out.push_str("| mode | call | callers | calls/s | p50 ms | p95 ms | p99 ms | CPU µs per call | commit µs | rows per commit | failed |\n");
        out.push_str("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
        for (mode, rows) in &self.modes {
            for row in rows {
                let told = |text: String| if row.commits.is_some() { text } else { "–".into() };
                let (mean, each) = row.commits.unwrap_or_default();
                let (commit, rows_each) = (told(mean.as_micros().to_string()), told(format!("{each:.1}")));
                let _ = writeln!(
                    out,
                    "| {mode} | {} | {} | {:.0} | {} | {} | {} | {} | {commit} | {rows_each} | {} |",
                    shape(row.shape),
                    row.callers,
                    row.per_second,
                    ms(row.p50),
                    ms(row.p95),
                    ms(row.p99),
                    row.cpu.as_micros(),
                    row.failed
                );
            }
        }
        for (store, added) in self.added() {
            let _ = writeln!(
                out,
                "\nAdded to an upstream's own time at {} callers, with {store}: p50 {} ms, p95 {} ms.",
                upstream::CALLERS,
                ms(added.0),
                ms(added.1)
            );
        }
        for (store, sessions) in &self.sessions {
            let _ = writeln!(
                out,
                "\n{} sessions of MCP opened and never ended, with {store}: memory grew by {:.1} MiB.",
                sessions.opened,
                sessions.grown_kib as f64 / 1024.0
            );
        }
        out.push_str("\nThe journal alone, in one process, without a gateway around it:\n\n");
        out.push_str("| store | what | tenants | callers | per second | CPU µs each |\n");
        out.push_str("| --- | --- | --- | ---: | ---: | ---: |\n");
        for row in &self.appends {
            let what = match row.load {
                Load::Call => "call: intent, then row",
                Load::Row => "row",
            };
            let tenants = match row.tenants {
                Tenants::Many(many) => many.to_string(),
                Tenants::OneHot(many) => format!("{many}, 90 % on one"),
            };
            let _ = writeln!(
                out,
                "| {} | {what} | {tenants} | {} | {:.0} | {} |",
                row.store,
                row.callers,
                row.per_second,
                row.cpu.as_micros()
            );
        }
        out
    }

    /// By how much a read through the gateway takes longer than the upstream alone: in the middle and at 95 %.
    fn added(&self) -> impl Iterator<Item = (&str, (Duration, Duration))> {
        let all = || {
            self.modes
                .iter()
                .flat_map(|(mode, rows)| rows.iter().map(move |row| (mode.as_str(), row)))
        };
        let own = all()
            .find(|(_, row)| row.shape == Shape::Upstream)
            .map(|(_, row)| row);
        let through = all().filter(|(_, row)| row.shape == Shape::Read);
        through.filter_map(move |(mode, row)| {
            let own = own?;
            Some((
                mode,
                (row.p50.saturating_sub(own.p50), row.p95.saturating_sub(own.p95)),
            ))
        })
    }

    fn memory(&self) -> String {
        let each = self
            .memory
            .iter()
            .map(|(store, mib)| format!("{mib} MiB with {store}"));
        each.collect::<Vec<_>>().join(", ")
    }
}

fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Wait => "one request (`Prefer: wait`)",
        Shape::Stream => "invoke + SSE",
        Shape::Mcp => "MCP `tools/call`",
        Shape::List => "MCP `tools/list`",
        Shape::Initialize => "MCP `initialize`",
        Shape::Direct => "direct, no gateway",
        Shape::Read => "read of an upstream",
        Shape::Upstream => "the upstream itself",
    }
}

fn ms(took: Duration) -> String {
    format!("{:.2}", took.as_secs_f64() * 1000.0)
}

/// Puts the table between the marks of a document.
pub(crate) fn write(path: &Path, table: &str) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    let parts = text
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) =
        parts.ok_or_else(|| io::Error::other(format!("{} has no marks", path.display())))?;
    fs::write(path, format!("{before}{BEGIN}\n{table}{END}{after}"))
}
