//! Which process listens on a port, or holds a file locked: told by /proc, as far as we may look.

use std::{fmt, fs, path::Path};

use rustix::fs::FlockOperation;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Its id.
    pub(crate) pid: u32,
    /// The name of its program.
    pub(crate) program: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.program.is_empty() {
            return f.write_str("a process that may not be looked into");
        }
        write!(f, "{} (pid {})", self.program, self.pid)
    }
}

/// Who listens on this TCP port. A process that we may not look into has neither id nor name.
pub(crate) fn of(port: u16) -> Option<Owner> {
    let inodes: Vec<u64> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|table| listening(&table, port))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let links: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let found = holder(|target| links.iter().any(|link| Path::new(link) == target));
    Some(found.unwrap_or(Owner {
        pid: 0,
        program: String::new(),
    }))
}

// Inodes of the sockets that listen on the port (proc(5): local address in field 1, state in 3, inode in 9).
fn listening(table: &str, port: u16) -> Vec<u64> {
    const LISTEN: &str = "0A";
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
            let fits = u16::from_str_radix(local_port, 16).ok()? == port && *fields.get(3)? == LISTEN;
            if fits { fields.get(9)?.parse().ok() } else { None }
        })
        .collect()
}

/// The first process with an open file of this kind.
fn holder(is_it: impl Fn(&Path) -> bool) -> Option<Owner> {
    let pids = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let files = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|target| is_it(&target))
    })
    .map(|pid| Owner {
        pid,
        program: program(pid),
    })
}

/// Whether a gateway runs in this data directory: it holds the lock there for as long as it lives.
pub(crate) fn runs_in(dir: &Path) -> bool {
    let Ok(lock) = fs::File::open(dir.join("lock")) else {
        return false;
    };
    // Given back when the file is closed, at the end of this function.
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared).is_err()
}

/// The name of a process's program.
pub(crate) fn program(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .map_or_else(|_| "process".into(), |name| name.trim().into())
}

#[cfg(test)]
mod tests {
    use super::{listening, of, runs_in};

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1DB0 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000000000000000 100
   1: 0100007F:1DB0 0100007F:A000 01 00000000:00000000 00:00000000 00000000  1000        0 4243 1 0000000000000000 20
   2: 00000000000000000000000000000000:1DB1 00000000000000000000000000000000:0000 0A 0:0 0:0 0  0 0 77 1 0 1
   3: garbage
";

    #[test]
    fn only_listeners_of_the_port_are_found() {
        assert_eq!(listening(TABLE, 7600), [4242]);
        assert_eq!(listening(TABLE, 7601), [77]);
        assert_eq!(listening(TABLE, 7602), [0_u64; 0]);
        assert_eq!(listening("", 7600), [0_u64; 0]);
    }

    #[test]
    fn a_gateway_runs_where_the_lock_is_held() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!runs_in(dir.path()));
        let lock = std::fs::File::create(dir.path().join("lock")).unwrap();
        assert!(!runs_in(dir.path()));
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        assert!(runs_in(dir.path()));
    }

    #[test]
    fn our_own_listener_is_found_by_its_port() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let owner = of(listener.local_addr().unwrap().port()).unwrap();
        assert_eq!(owner.pid, std::process::id());
        assert!(owner.to_string().contains(&format!("pid {}", owner.pid)));
    }
}
