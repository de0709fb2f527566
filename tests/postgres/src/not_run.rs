//! Tests whose ground is missing on this machine.

use std::{fs, path::PathBuf};

/// Says loudly that a test did not run, and leaves a note for `tests/run`, which counts it as not run, not as passed.
#[allow(
    clippy::disallowed_methods,
    reason = "set by tests/run for its tests, no configuration"
)]
pub fn not_run(test: &str, why: &str) {
    eprintln!("NOT RUN: {test}: {why}");
    if let Some(folder) = std::env::var_os("TOOLGATE_NOT_RUN_DIR") {
        let file = PathBuf::from(folder).join(test);
        if let Err(error) = fs::write(&file, format!("{why}\n")) {
            eprintln!("{} cannot be written: {error}", file.display());
        }
    }
}
