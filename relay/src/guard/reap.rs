//! Killing until nothing is left.
//!
//! Only direct children are killed, never deeper ones: a direct child's number cannot be given to a stranger before
//! it is waited for, and only this process waits. What a killed child leaves behind comes to the subreaper and is a
//! direct child in the next round, whatever session or group it fled to.

use std::{fs, thread, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, getpid, kill_process, wait},
};

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Returns when this process has no children any more. A child in uninterruptible sleep keeps it here: the relay does
/// not wait for it, but knows by it that the command is stuck.
pub(super) fn kill_all() {
    let mut pause = FIRST_PAUSE;
    while reap_ended() {
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        if !reap_ended() {
            return;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Waits for every child that has ended; false when there is no child left at all.
fn reap_ended() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn children() -> Vec<Pid> {
    let me = getpid().as_raw_pid();
    // This process has one thread, so the thread's children are the process's.
    match fs::read_to_string(format!("/proc/self/task/{me}/children")) {
        Ok(list) => list
            .split_ascii_whitespace()
            .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
            .collect(),
        Err(_) => children_by_parent(me),
    }
}

/// For kernels without the `children` file.
fn children_by_parent(me: i32) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            (parent(&stat)? == me).then(|| Pid::from_raw(pid))?
        })
        .collect()
}

/// The fourth field; the second is a name in parentheses that may hold anything.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_read_past_a_hostile_name() {
        assert_eq!(parent("12 (a) S 1 (b)) R 34 12 12 0"), Some(34));
        assert_eq!(parent("12 (sh) S 7 1 1"), Some(7));
        assert_eq!(parent("garbage"), None);
    }

    #[test]
    fn this_process_is_among_its_parents_children() {
        let parent = rustix::process::getppid().expect("a parent").as_raw_pid();
        assert!(children_by_parent(parent).contains(&getpid()));
    }
}
