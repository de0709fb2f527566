//! Time as text: RFC 3339, UTC, microseconds. The one place that writes and reads it.

use time::{
    OffsetDateTime, UtcOffset,
    format_description::{FormatItem, well_known::Rfc3339},
    macros::format_description,
};

const MICROSECONDS: &[FormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// A text that is no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a time: write it like 2026-01-31T09:30:00Z")]
pub struct InvalidTime;

/// `time_us` (microseconds since 1970, UTC) like `2026-01-31T09:30:00.000000Z`.
///
/// Times outside the years 0 to 9999, which RFC 3339 cannot write, are told as the nearest one it can.
#[must_use]
pub fn format(time_us: i64) -> String {
    // -62167219200 is the first second of year 0, 253402300799 the last of 9999.
    let clamped = time_us.clamp(-62_167_219_200_000_000, 253_402_300_799_999_999);
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(clamped) * 1_000)
        .ok()
        .and_then(|time| time.format(MICROSECONDS).ok())
        .unwrap_or_default()
}

/// The microseconds since 1970 of an RFC 3339 text, with any offset; digits beyond the microsecond are cut off.
///
/// # Errors
/// When `text` is no RFC 3339 time.
pub fn parse(text: &str) -> Result<i64, InvalidTime> {
    let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidTime)?;
    let nanoseconds = time.to_offset(UtcOffset::UTC).unix_timestamp_nanos();
    i64::try_from(nanoseconds.div_euclid(1_000)).map_err(|_| InvalidTime)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_written_with_six_digits() {
        assert_eq!(format(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(format(1_767_225_600_123_456), "2026-01-01T00:00:00.123456Z");
        assert_eq!(format(-1), "1969-12-31T23:59:59.999999Z");
        assert_eq!(format(i64::MAX), "9999-12-31T23:59:59.999999Z");
        assert_eq!(format(i64::MIN), "0000-01-01T00:00:00.000000Z");
    }

    #[test]
    fn times_are_read_with_any_offset_and_precision() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(parse(text).ok(), expected, "{text}");
        check("1970-01-01T00:00:00Z", Some(0));
        check("1970-01-01T01:00:00.000001+01:00", Some(1));
        check("1969-12-31T23:59:59.9999999Z", Some(-1));
        check("2026-01-01T00:00:00.123456Z", Some(1_767_225_600_123_456));
        for wrong in [
            "",
            "now",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "2026-01-01T00:00:00Zx",
        ] {
            check(wrong, None);
        }
    }

    proptest! {
        #[test]
        fn reading_is_the_inverse_of_writing(time_us in -62_167_219_200_000_000_i64..253_402_300_800_000_000) {
            prop_assert_eq!(parse(&format(time_us)), Ok(time_us));
        }

        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in any::<String>(), time_us in any::<i64>()) {
            let _ = parse(&text);
            let _ = format(time_us);
        }
    }
}
