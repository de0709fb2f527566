//! The first stage of a project's server: lets it run, and leaves nothing of it behind.
//!
//! The server's standard input is the lifeline. When the relay closes it, or dies in whatever way, the server has a
//! moment to end by itself, as MCP has it; then it and all it started are killed. This process never reads from it.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, ExitCode, ExitStatus},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::OwnedFd,
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
};

use super::{
    BECOME, Order, reap,
    watch::{GLANCE, start, timespec, wait_a_moment},
};

/// Guards one server.
pub(super) fn run(order: &Order, grace_ms: u64) -> ExitCode {
    let code = match start(order, BECOME) {
        Ok(child) => attend(child, Duration::from_millis(grace_ms)),
        Err(_) => ExitCode::from(126),
    };
    reap::kill_all();
    code
}

fn attend(mut child: Child, grace: Duration) -> ExitCode {
    let pid = Pid::from_child(&child);
    let ended = pidfd_open(pid, PidfdFlags::empty()).ok();
    until(&mut child, ended.as_ref(), true, None);
    // Its input has ended, or it has. Of the moment that it gets, the second half comes with a word.
    let half = Instant::now() + grace / 2;
    if !until(&mut child, ended.as_ref(), false, Some(half)) {
        let _ = kill_process_group(pid, Signal::TERM);
        until(&mut child, ended.as_ref(), false, Some(half + grace / 2));
    }
    // While the child is not waited for, its number is its own and so is its group's.
    if ended.is_some() {
        let _ = kill_process_group(pid, Signal::KILL);
    } else {
        let _ = child.kill();
    }
    wait_a_moment(&mut child, ended.as_ref()).map_or(ExitCode::FAILURE, code_of)
}

/// Waits for the end of the server: true. Gives up at `deadline`, or when its input has ended and that is `watched`.
fn until(child: &mut Child, ended: Option<&OwnedFd>, watched: bool, deadline: Option<Instant>) -> bool {
    let input = io::stdin();
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return false;
        }
        // Nothing is asked of the input: its end is told all the same.
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(2);
        polled.extend(ended.map(|ended| PollFd::new(ended, PollFlags::IN)));
        if watched {
            polled.push(PollFd::new(&input, PollFlags::empty()));
        }
        let wait = match ended {
            Some(_) => left,
            None => Some(left.map_or(GLANCE, |left| left.min(GLANCE))),
        };
        let told = poll(&mut polled, wait.map(timespec).as_ref());
        let input_ended = watched && polled.last().is_some_and(|input| !input.revents().is_empty());
        let child_ended = match ended {
            Some(_) => polled.first().is_some_and(|child| !child.revents().is_empty()),
            None => !matches!(child.try_wait(), Ok(None)),
        };
        match told {
            Ok(_) | Err(Errno::INTR) if child_ended => return true,
            Ok(_) if input_ended => return false,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

fn code_of(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
