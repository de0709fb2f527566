//! The second stage: sheds what the command must not have, then becomes the command.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

use rustix::{
    io::fcntl_dupfd_cloexec,
    process::{Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit},
    stdio::dup2_stdin,
    thread::{clear_ambient_capability_set, set_no_new_privs},
};

use super::{FAILED, Order, Report, accounts::Account};

/// Runs the command in place of this process; returns only when that failed.
pub(super) fn run(order: &Order, guard: i32) -> ExitCode {
    let lifeline = fcntl_dupfd_cloexec(io::stdin(), 3).map(File::from);
    let error = match prepare(order, guard) {
        Ok(()) => Command::new(&order.program).args(&order.arguments).exec(),
        Err(error) => error,
    };
    if let Ok(lifeline) = lifeline {
        Report::Failed(error.raw_os_error().unwrap_or(0)).send(&lifeline);
    }
    ExitCode::from(126)
}

/// Runs a project's server in place of this process, with all that was given to it; returns only when that failed.
pub(super) fn server(order: &Order, guard: i32) -> ExitCode {
    let error = match die_with(guard) {
        Ok(()) => Command::new(&order.program).args(&order.arguments).exec(),
        Err(error) => error,
    };
    let program = order.program.display();
    // The relay tells it from the lines of a server by its beginning.
    let _ = writeln!(io::stderr(), "{FAILED}{program} cannot be started: {error}");
    ExitCode::from(126)
}

fn prepare(order: &Order, guard: i32) -> io::Result<()> {
    // The copy closes itself at exec, so the command never holds the lifeline.
    dup2_stdin(File::open("/dev/null")?)?;
    if order.drop {
        Account::of_this_host().assume()?;
    }
    // Kernels without ambient capabilities have none to clear.
    let _ = clear_ambient_capability_set();
    set_no_new_privs(true)?;
    setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    )?;
    // After the change of user, which would clear it.
    die_with(guard)
}

/// Whoever lost the guard before this sees another parent.
fn die_with(guard: i32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().is_none_or(|parent| parent.as_raw_pid() != guard) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(())
}
