//! Points in time as people type them: RFC 3339, or a span from now such as `30d`.

use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use toolgate_core::clock::Clock;

use crate::failure::Failure;

/// Which way a span goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `30d` is in thirty days.
    Ahead,
    /// `2h` was two hours ago.
    Back,
}

/// The point in time as RFC 3339, UTC.
pub(crate) fn point(flag: &str, text: &str, direction: Direction) -> Result<String, Failure> {
    let now = OffsetDateTime::from_unix_timestamp_nanos(i128::from(Clock::system().wall_us()) * 1000);
    now.ok()
        .and_then(|now| at(now, text, direction))
        .and_then(|point| point.to_offset(time::UtcOffset::UTC).format(&Rfc3339).ok())
        .ok_or_else(|| {
            let example = "a span such as 45m, 12h, 30d or 8w, or a time such as 2026-01-31T12:00:00Z";
            Failure::usage(format!("{flag}: expected {example}, got `{text}`"))
        })
}

/// Whether a point in time, as the gateway writes it, is over by the clock of this machine.
pub(crate) fn is_past(text: &str) -> bool {
    OffsetDateTime::parse(text, &Rfc3339)
        .is_ok_and(|point| point.unix_timestamp_nanos() / 1000 <= i128::from(Clock::system().wall_us()))
}

fn at(now: OffsetDateTime, text: &str, direction: Direction) -> Option<OffsetDateTime> {
    if let Ok(point) = OffsetDateTime::parse(text, &Rfc3339) {
        return Some(point);
    }
    let span = span(text)?;
    match direction {
        Direction::Ahead => now.checked_add(span),
        Direction::Back => now.checked_sub(span),
    }
}

fn span(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return None,
    };
    Some(Duration::seconds(i64::from(count) * seconds))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{
        Direction::{Ahead, Back},
        at,
    };

    #[test]
    fn spans_and_times_become_points() {
        let now = datetime!(2026-01-01 00:00 UTC);
        assert_eq!(at(now, "30d", Ahead), Some(datetime!(2026-01-31 00:00 UTC)));
        assert_eq!(at(now, "8w", Ahead), Some(datetime!(2026-02-26 00:00 UTC)));
        assert_eq!(at(now, "90m", Back), Some(datetime!(2025-12-31 22:30 UTC)));
        assert_eq!(at(now, "5s", Back), Some(datetime!(2025-12-31 23:59:55 UTC)));
        assert_eq!(
            at(now, "2026-03-01T01:00:00+01:00", Back),
            Some(datetime!(2026-03-01 00:00 UTC))
        );
    }

    #[test]
    fn anything_else_is_no_point_in_time() {
        for text in [
            "",
            "d",
            "30",
            "-3d",
            "3y",
            "3 d",
            "tomorrow",
            "4294967296d",
            "4294967295w",
            "٣d",
            "3ö",
        ] {
            assert_eq!(at(datetime!(2026-01-01 00:00 UTC), text, Ahead), None, "{text}");
        }
    }
}
