//! Runs one program under a guard: argument vector, cleared environment, bounded output, no stray process.
//!
//! Knows no command and no grammar; `commands` decides what may come here. Every way out of [`Exec::run`], being
//! dropped included, ends the lifeline of the guard, which then kills whatever the program started.

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

mod capture;
mod lookup;
mod running;
mod text;

pub(crate) use lookup::find;
pub(crate) use text::plain;

use crate::guard::{DROP, KEEP, Report, WATCH};
use running::Running;

/// Output of one command that is kept, both streams together.
pub const MAX_OUTPUT: usize = 256 * 1024;

/// How long a guard may take to clean up before its command counts as stuck.
const CLEAN_UP: Duration = Duration::from_secs(2);

const ENVIRONMENT: [(&str, &str); 7] = [
    ("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"),
    // Where the C library does not have it, it falls back to C by itself.
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("SYSTEMD_PAGER", "cat"),
    ("SYSTEMD_COLORS", "0"),
    ("SYSTEMD_URLIFY", "0"),
    ("COLUMNS", "200"),
];

/// How this host makes a guard.
#[derive(Debug, Clone)]
pub struct GuardProgram {
    /// The binary.
    pub program: PathBuf,
    /// What makes it a guard.
    pub arguments: Vec<OsString>,
}

impl Default for GuardProgram {
    /// This very binary, called as `__guard`.
    fn default() -> Self {
        Self {
            program: "/proc/self/exe".into(),
            arguments: vec!["__guard".into()],
        }
    }
}

/// What a program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Standard output, at most [`MAX_OUTPUT`] with standard error.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// True when it wrote more, and was killed for it.
    pub truncated: bool,
    /// How long it ran.
    pub duration: Duration,
}

/// Why a program left nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// It ran until the deadline.
    #[error("still running at the deadline")]
    TimedOut,
    /// Nobody waits any more.
    #[error("cancelled")]
    Cancelled,
    /// An earlier run cannot be killed.
    #[error("an earlier run is stuck in the kernel")]
    Stuck,
    /// It could not be started.
    #[error("could not be started")]
    Spawn(#[source] io::Error),
}

/// Runs programs. One at a time per key, so that at most one can be stuck in the kernel.
#[derive(Debug)]
pub struct Exec {
    guard: GuardProgram,
    drop_privileges: bool,
    lanes: Mutex<HashMap<&'static str, Arc<Lane>>>,
    cleaners: TaskTracker,
}

#[derive(Debug)]
struct Lane {
    turn: Arc<Semaphore>,
    stuck: AtomicBool,
}

impl Exec {
    /// Runs programs under `guard`; as root, with privileges dropped.
    #[must_use]
    pub fn new(guard: GuardProgram) -> Self {
        let drop_privileges = rustix::process::geteuid().is_root();
        Self {
            guard,
            drop_privileges,
            lanes: Mutex::default(),
            cleaners: TaskTracker::new(),
        }
    }

    /// Runs `program` once it is the turn of its `key`, and waits for its end, but not past `deadline`.
    pub async fn run(
        &self,
        key: &'static str,
        program: &Path,
        arguments: &[String],
        deadline: Instant,
        cancelled: &CancellationToken,
    ) -> Result<Finished, ExecError> {
        let lane = self.lane(key);
        if lane.stuck.load(Ordering::Relaxed) {
            return Err(ExecError::Stuck);
        }
        let turn = tokio::select! {
            turn = timeout_at(deadline, Arc::clone(&lane.turn).acquire_owned()) => turn,
            () = cancelled.cancelled() => return Err(ExecError::Cancelled),
        };
        // The semaphore is never closed.
        let Ok(Ok(turn)) = turn else {
            return Err(ExecError::TimedOut);
        };
        let (mut running, child) = self
            .start(program, arguments, deadline)
            .map_err(ExecError::Spawn)?;
        self.clean_up_after(child, lane, turn, deadline);
        running.finish(deadline, cancelled).await
    }

    /// Waits until every guard has ended, or `patience` is over.
    pub async fn wait_clean(&self, patience: Duration) -> bool {
        self.cleaners.close();
        timeout(patience, self.cleaners.wait()).await.is_ok()
    }

    fn lane(&self, key: &'static str) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            Arc::new(Lane {
                turn: Arc::new(Semaphore::new(1)),
                stuck: AtomicBool::new(false),
            })
        };
        Arc::clone(lanes.entry(key).or_insert_with(new))
    }

    fn start(&self, program: &Path, arguments: &[String], deadline: Instant) -> io::Result<(Running, Child)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let left = deadline.saturating_duration_since(Instant::now()) + CLEAN_UP;
        let mut child = Command::new(&self.guard.program)
            .args(&self.guard.arguments)
            .args([WATCH, &left.as_millis().to_string()])
            .args([if self.drop_privileges { DROP } else { KEEP }, "--"])
            .arg(program)
            .args(arguments)
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir("/")
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        Ok((Running::new(ours, &mut child)?, child))
    }

    /// Keeps the turn until the guard is gone: what cannot be killed also cannot be started a second time.
    fn clean_up_after(
        &self,
        mut child: Child,
        lane: Arc<Lane>,
        turn: OwnedSemaphorePermit,
        deadline: Instant,
    ) {
        self.cleaners.spawn(async move {
            if timeout_at(deadline + CLEAN_UP, child.wait()).await.is_err() {
                lane.stuck.store(true, Ordering::Relaxed);
                tracing::warn!(
                    "a command cannot be killed; further ones of its kind are refused until it ends"
                );
                let _ = child.wait().await;
                lane.stuck.store(false, Ordering::Relaxed);
            }
            drop(turn);
        });
    }
}

fn ended(report: Option<Report>) -> Result<(Option<i32>, Option<i32>), ExecError> {
    match report {
        Some(Report::Exit(code)) => Ok((Some(code), None)),
        Some(Report::Signal(signal)) => Ok((None, Some(signal))),
        Some(Report::Failed(error)) => Err(ExecError::Spawn(io::Error::from_raw_os_error(error))),
        None => Err(ExecError::Spawn(io::ErrorKind::BrokenPipe.into())),
    }
}
