//! Whether an argument chooses the other path of a tool. One that does not is as if it were absent: nothing is told of
//! it and it is not sent.

use serde_json::value::RawValue;
use toolgate_contract::registry::Form;

/// Integers with more digits are none that anybody means.
const MOST_DIGITS: usize = 40;

/// What is sent of the argument where it chooses the other path.
pub(super) fn chosen(form: Form, value: &RawValue) -> Option<String> {
    let text = serde_json::from_str::<String>(value.get()).ok();
    match form {
        Form::NonEmpty => text.filter(|text| !text.is_empty()),
        Form::Integer => integer(text.as_deref().unwrap_or(value.get())),
    }
}

/// The integer that this number is, exactly, however it is written: `3`, `3.0`, `30e-1`.
fn integer(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    // Where the point stands once the exponent has moved it.
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent);
    let meant = digits.trim_end_matches('0');
    if meant.trim_start_matches('0').is_empty() {
        return Some("0".into());
    }
    let point = usize::try_from(point)
        .ok()
        .filter(|point| *point <= digits.len() + MOST_DIGITS)?;
    if meant.len() > point {
        return None;
    }
    let padded = format!("{meant}{}", "0".repeat(point - meant.len()));
    let number = padded.trim_start_matches('0');
    (number.len() <= MOST_DIGITS).then(|| format!("{sign}{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_however_it_is_written_chooses_and_nothing_else_does() {
        let check = |json: &str, expected: Option<&str>| {
            let value = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(chosen(Form::Integer, &value).as_deref(), expected, "{json}");
        };
        for (json, integer) in [
            ("3", "3"),
            ("0", "0"),
            ("-0", "0"),
            ("0.0", "0"),
            ("-3", "-3"),
            ("3.0", "3"),
            ("3.000", "3"),
            ("30e-1", "3"),
            ("3e2", "300"),
            ("1.5E1", "15"),
            ("9007199254740993", "9007199254740993"),
            ("9007199254740993.0", "9007199254740993"),
            (r#""3""#, "3"),
            (r#""-12""#, "-12"),
            (r#""3.0""#, "3"),
        ] {
            check(json, Some(integer));
        }
        for json in [
            "3.5",
            "1e-1",
            "1e400",
            "1e-400",
            "null",
            "true",
            "[3]",
            r#"{"a":3}"#,
            r#""""#,
            r#""abc""#,
            r#"" 3""#,
            r#""3 ""#,
            r#""+3""#,
            r#""0x3""#,
            r#""3abc""#,
            r#""NaN""#,
            r#""１""#,
        ] {
            check(json, None);
        }
    }

    #[test]
    fn text_that_is_not_empty_chooses_and_nothing_else_does() {
        let check = |json: &str, expected: Option<&str>| {
            let value = RawValue::from_string(json.to_owned()).unwrap();
            assert_eq!(chosen(Form::NonEmpty, &value).as_deref(), expected, "{json}");
        };
        check(r#""h-1""#, Some("h-1"));
        check(r#"" ""#, Some(" "));
        for json in [r#""""#, "null", "5", "true", "[]", "{}"] {
            check(json, None);
        }
    }
}
