//! A server's memory holds credentials: no core file of it is written, and no other process of its user may look in.
//!
//! Best effort, as everything in memory is. Processes that it starts are programs of their own and look-in-able again;
//! the limit on core files they inherit.

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Closes this process. Where the system refuses, the server runs on and says so.
pub(super) fn close_memory() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let closed =
        setrlimit(Resource::Core, none).and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    if let Err(error) = closed {
        tracing::warn!(%error, "core files of this process cannot be switched off");
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::dumpable_behavior;

    use super::*;

    #[test]
    fn a_closed_process_leaves_no_core_file_and_lets_nobody_in() {
        close_memory();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let core = limits.lines().find(|line| line.starts_with("Max core file size"));
        let words: Vec<&str> = core.unwrap().split_whitespace().collect();
        assert_eq!(words[4..6], ["0", "0"]);
    }
}
