//! What time it is. A simulator is a world of its own, with the machine's clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, UTC.
#[allow(
    clippy::disallowed_methods,
    reason = "no clock of the core is at hand here, and none is set by tests"
)]
pub(crate) fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}
