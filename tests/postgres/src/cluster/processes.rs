//! The processes of one server, found by where they stand: each has its data directory as working directory.

use std::{fs, path::Path};

use rustix::process::{Pid, Signal, kill_process};

/// Who is meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    /// The process that bears all others.
    Postmaster(u32),
    /// The postmaster, if it lives, and all that it bore.
    All,
}

/// Sends a signal; gives how many processes there were to send it to. The dead that nobody waited for do not count.
pub(super) fn signal(folder: &Path, who: Who, signal: Signal) -> usize {
    let pids = match who {
        Who::Postmaster(pid) => vec![pid],
        Who::All => all(folder),
    };
    let sent = pids.into_iter().filter(|pid| {
        let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
    });
    sent.count()
}

/// The oldest first: a stopped postmaster bears no more.
fn all(folder: &Path) -> Vec<u32> {
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder))
        .collect();
    pids.sort_unstable();
    pids
}
