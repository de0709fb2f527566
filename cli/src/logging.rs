//! Logs go to standard error: for people, or one JSON object a line. Fields only; never arguments, results or
//! credentials.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::Log;

/// Starts logging for this process. A second start does nothing.
pub(crate) fn start(log: &Log, no_color: bool) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter(&log.level))
        .with_writer(std::io::stderr);
    let started = if log.format == "json" {
        builder.json().flatten_event(true).try_init()
    } else {
        builder
            .with_ansi(std::io::stderr().is_terminal() && !no_color)
            .try_init()
    };
    // Only tests start twice in one process.
    drop(started);
}

// Libraries are heard one step later than we are: their `info` is our `debug`.
fn filter(level: &str) -> EnvFilter {
    let others = match level {
        "info" => "warn",
        "debug" => "info",
        same => same,
    };
    // What the verifier of certificates says is told as the failure itself.
    EnvFilter::new(format!(
        "{others},rustls_platform_verifier=off,toolgate={level},toolgate_core={level},toolgate_facade={level},toolgate_relay={level}"
    ))
}
