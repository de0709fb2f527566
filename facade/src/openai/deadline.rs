//! The one deadline of a turn: what the caller gave all its calls together. Each call hears what is left of it.

use std::time::Duration;

use tokio::time::Instant;
use tonic::metadata::MetadataValue;

use crate::link::Caller;

const TIMEOUT: &str = "grpc-timeout";

/// When the turn ends; `None` where the caller says nothing, and each call has the time that the core gives it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// Reads it off the caller, as of now.
    pub(super) fn of(caller: &mut Caller) -> Self {
        let told = caller.metadata_mut().get(TIMEOUT);
        let left = told.and_then(|value| read(value.as_bytes()));
        Self(left.and_then(|left| Instant::now().checked_add(left)))
    }

    /// Tells an rpc what is left. A call whose time is over is asked for all the same: the core refuses it and records
    /// that it did.
    pub(super) fn tell(self, caller: &mut Caller) {
        let Some(end) = self.0 else { return };
        let left = end.saturating_duration_since(Instant::now());
        caller.metadata_mut().insert(TIMEOUT, written(left));
    }
}

/// Eight digits and a unit, as gRPC has it. The link has checked the form.
fn read(text: &[u8]) -> Option<Duration> {
    let (unit, digits) = text.split_last()?;
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(match unit {
        b'H' => Duration::from_secs(number * 3600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return None,
    })
}

fn written(left: Duration) -> MetadataValue<tonic::metadata::Ascii> {
    const MOST: u128 = 99_999_999;
    let (number, unit) = match left.as_micros() {
        micros if micros <= MOST => (micros.max(1), 'u'),
        _ => match left.as_millis() {
            millis if millis <= MOST => (millis, 'm'),
            _ => (u128::from(left.as_secs()).min(MOST), 'S'),
        },
    };
    // Digits and a letter are always a value.
    MetadataValue::try_from(format!("{number}{unit}")).unwrap_or(MetadataValue::from_static("1u"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_written_in_eight_digits() {
        let check = |left: Duration, expected: &str| assert_eq!(written(left), expected);
        check(Duration::ZERO, "1u");
        check(Duration::from_millis(1500), "1500000u");
        check(Duration::from_secs(99), "99000000u");
        check(Duration::from_secs(100), "100000m");
        check(Duration::from_secs(99_999), "99999000m");
        check(Duration::from_secs(100_000), "100000S");
        check(Duration::MAX, "99999999S");
    }

    #[test]
    fn what_is_written_is_read() {
        let check = |text: &str, expected: Option<Duration>| assert_eq!(read(text.as_bytes()), expected);
        check("1500m", Some(Duration::from_millis(1500)));
        check("99999999H", Some(Duration::from_secs(99_999_999 * 3600)));
        check("7u", Some(Duration::from_micros(7)));
        check("1n", Some(Duration::from_nanos(1)));
        check("2M", Some(Duration::from_secs(120)));
        check("", None);
        check("5x", None);
    }
}
