//! The first stage: starts the command, waits for its end or the relay's, and leaves nothing behind.

use std::{
    fs::File,
    io,
    os::{fd::AsFd, unix::process::CommandExt},
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::{Errno, fcntl_dupfd_cloexec},
    process::{Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open, set_child_subreaper},
    stdio::{dup2_stderr, dup2_stdout},
};

use super::{DROP, KEEP, LAUNCH, Order, Report, reap};

/// How often a kernel without process descriptors is asked whether the command has ended.
pub(super) const GLANCE: Duration = Duration::from_millis(10);

/// Watches one command.
pub(super) fn run(order: &Order, deadline_ms: u64) -> ExitCode {
    let deadline = Instant::now() + Duration::from_millis(deadline_ms);
    let Ok(lifeline) = fcntl_dupfd_cloexec(io::stdin(), 3) else {
        return ExitCode::from(126);
    };
    match start(order, LAUNCH) {
        Ok(child) => guard(child, lifeline, deadline),
        Err(error) => Report::Failed(error.raw_os_error().unwrap_or(0)).send(File::from(lifeline)),
    }
    reap::kill_all();
    ExitCode::SUCCESS
}

/// Starts the second stage, as `stage`.
pub(super) fn start(order: &Order, stage: &str) -> io::Result<Child> {
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new("/proc/self/exe")
        .args(&order.prefix)
        .args([stage, &getpid().as_raw_pid().to_string()])
        .args([if order.drop { DROP } else { KEEP }, "--"])
        .arg(&order.program)
        .args(&order.arguments)
        .stdin(Stdio::inherit())
        .process_group(0)
        .spawn()?;
    // Only the command may keep the relay's pipes open.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(child)
}

fn guard(mut child: Child, lifeline: OwnedFd, deadline: Instant) {
    let pid = Pid::from_child(&child);
    let ended = pidfd_open(pid, PidfdFlags::empty()).ok();
    loop {
        match first_of(&lifeline, ended.as_ref(), deadline) {
            Event::Told => break,
            Event::Glance => {
                if ended.is_none() && matches!(child.try_wait(), Ok(None)) {
                    continue;
                }
                break;
            }
        }
    }
    // While the child is not waited for, its number is its own and so is its group's. On a kernel without process
    // descriptors it may have been waited for above; then the group is left to the rounds of `reap`.
    if ended.is_some() {
        let _ = kill_process_group(pid, Signal::KILL);
    } else {
        let _ = child.kill();
    }
    if let Some(status) = wait_a_moment(&mut child, ended.as_ref()) {
        Report::of(status).send(File::from(lifeline));
    }
}

enum Event {
    /// The relay is gone or wants the end, or time is up.
    Told,
    /// The command may have ended.
    Glance,
}

fn first_of(lifeline: &OwnedFd, ended: Option<&OwnedFd>, deadline: Instant) -> Event {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Event::Told;
    }
    let wait = if ended.is_some() { left } else { left.min(GLANCE) };
    let mut watched = vec![PollFd::new(lifeline, PollFlags::IN | PollFlags::RDHUP)];
    watched.extend(ended.map(|ended| PollFd::new(ended, PollFlags::IN)));
    match poll(&mut watched, Some(&timespec(wait))) {
        Ok(0) | Err(Errno::INTR) if ended.is_some() => first_of(lifeline, ended, deadline),
        Ok(0) | Err(Errno::INTR) => Event::Glance,
        // The relay never writes: anything on the lifeline is its end.
        Ok(_) if watched[0].revents().is_empty() => Event::Glance,
        Ok(_) | Err(_) => Event::Told,
    }
}

/// The status, if the command is gone within a moment; one in uninterruptible sleep is not.
pub(super) fn wait_a_moment(child: &mut Child, ended: Option<&OwnedFd>) -> Option<std::process::ExitStatus> {
    if let Some(ended) = ended {
        let mut watched = [PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN)];
        let _ = poll(&mut watched, Some(&timespec(Duration::from_secs(1))));
    }
    for _ in 0..100 {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(GLANCE),
            Err(_) => return None,
        }
    }
    None
}

pub(super) fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec {
        tv_sec: i64::MAX,
        tv_nsec: 0,
    })
}
