//! What time it is. A simulator is a world of its own, with the machine's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Seconds since 1970, UTC.
#[allow(
    clippy::disallowed_methods,
    reason = "no clock of the core is at hand here, and none is set by tests"
)]
pub(crate) fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

/// Seconds since 1970 as RFC 3339 writes them.
pub(crate) fn text(seconds: u64) -> String {
    let time = i64::try_from(seconds)
        .ok()
        .and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    time.and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}
