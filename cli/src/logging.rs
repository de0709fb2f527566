//! Logs go to standard error: for people, or one JSON object a line. Fields only; never arguments, results or
//! credentials.
//!
//! Whatever becomes of standard error (a full disk, a reader that left or stalls), nobody who logs waits or fails.

mod lines;

use std::{
    io::{self, IsTerminal, Write},
    sync::OnceLock,
    time::Duration,
};

use tracing_subscriber::EnvFilter;

use self::lines::Lines;
use crate::config::Log;

static LINES: OnceLock<Lines> = OnceLock::new();

/// How long the end of the process waits for what was said last.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Starts logging for this process. A second start does nothing.
pub(crate) fn start(log: &Log, no_color: bool) {
    // Without a thread for it there is no log; nothing else would run either.
    let Ok(lines) = Lines::start(io::stderr()) else {
        return;
    };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(&log.level))
        .log_internal_errors(false)
        .with_writer(lines.clone());
    let started = if log.format == "json" {
        builder.json().flatten_event(true).try_init()
    } else {
        builder
            .with_ansi(io::stderr().is_terminal() && !no_color)
            .try_init()
    };
    // Only tests start twice in one process.
    if started.is_ok() {
        drop(LINES.set(lines));
    }
}

/// Writes a line for people to standard error, after what was logged before it. Nobody is left to be told when that
/// fails.
pub(crate) fn say(text: &str) {
    let line = format!("{text}\n").into_bytes();
    match LINES.get() {
        Some(lines) => lines.push(line),
        None => drop(io::stderr().write_all(&line)),
    }
}

/// Waits until everything is written, but not for a reader that stalls.
pub(crate) fn flush() {
    let _ = catch_up(LAST_LINES);
}

/// Waits at most so long until everything is written; false when it is not.
pub(crate) fn catch_up(patience: Duration) -> bool {
    LINES.get().is_none_or(|lines| lines.flush(patience))
}

// Libraries are heard one step later than we are: their `info` is our `debug`.
fn filter(level: &str) -> EnvFilter {
    let others = match level {
        "info" => "warn",
        // Libraries tell what passes through them: at their finest, frames with secrets in them.
        "debug" | "trace" => "info",
        same => same,
    };
    // What the verifier of certificates says is told as the failure itself.
    EnvFilter::new(format!(
        "{others},rustls_platform_verifier=off,toolgate={level},toolgate_core={level},toolgate_facade={level},toolgate_relay={level},toolgate_transcript={level}"
    ))
}
