//! Reads fields out of what a server sent, and never fails: what is missing, null, of another type or no value at all
//! is absent. One odd field costs that field, not its row. Pure.

use serde_json::Value;

use crate::rfc3339;

/// A text that says something.
pub(super) fn text(row: &Value, name: &str) -> Option<String> {
    row.get(name)?
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

/// A whole number, exactly.
pub(super) fn number(row: &Value, name: &str) -> Option<i64> {
    match row.get(name)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A number that counts from 1: servers write 0 for none.
pub(super) fn ordinal(row: &Value, name: &str) -> Option<i64> {
    number(row, name).filter(|number| *number > 0)
}

/// Yes or no.
pub(super) fn flag(row: &Value, name: &str) -> Option<bool> {
    row.get(name)?.as_bool()
}

/// A time as the server wrote it. The years 1 and 1970 mean that there is none.
pub(super) fn time(row: &Value, name: &str) -> Option<String> {
    let text = text(row, name)?;
    let at_us = rfc3339::parse(&text).ok()?;
    (at_us > 0).then_some(text)
}

/// A page that may be opened: nothing but HTTP.
pub(super) fn page(row: &Value, name: &str) -> Option<String> {
    text(row, name).filter(|url| url.starts_with("https://") || url.starts_with("http://"))
}

/// The login of a user or organisation.
pub(super) fn login(row: &Value, name: &str) -> Option<String> {
    let user = row.get(name)?;
    text(user, "login").or_else(|| text(user, "username"))
}

/// The texts of a list.
pub(super) fn texts(row: &Value, name: &str) -> Vec<String> {
    let all = row.get(name).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The first that is there.
pub(super) fn first<T>(row: &Value, names: &[&str], read: impl Fn(&Value, &str) -> Option<T>) -> Option<T> {
    names.iter().find_map(|name| read(row, name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_of_the_year_1_or_1970_is_no_time() {
        let check = |told: Value, expected: Option<&str>| {
            let row = json!({"at": told});
            assert_eq!(time(&row, "at").as_deref(), expected, "{row}");
        };
        check(json!("0001-01-01T00:00:00Z"), None);
        check(json!("1970-01-01T00:00:00Z"), None);
        check(json!("1970-01-01T01:00:00+01:00"), None);
        check(
            json!("2026-11-29T10:00:00+01:00"),
            Some("2026-11-29T10:00:00+01:00"),
        );
        check(json!("yesterday"), None);
        check(json!(null), None);
        check(json!(17), None);
    }

    #[test]
    fn a_number_is_exact_or_absent() {
        let check = |told: &str, expected: Option<i64>| {
            let row: Value = serde_json::from_str(&format!(r#"{{"id":{told}}}"#)).unwrap();
            assert_eq!(number(&row, "id"), expected, "{told}");
        };
        check("2167882875", Some(2_167_882_875));
        check("9007199254740993", Some(9_007_199_254_740_993));
        check("9223372036854775807", Some(i64::MAX));
        check("\"42\"", Some(42));
        check("9223372036854775808", None);
        check("1.5", None);
        check("null", None);
        check("{}", None);
    }

    #[test]
    fn a_page_is_an_address_of_the_web_or_absent() {
        let row = json!({"a": "https://git.example/x", "b": "javascript:alert(1)", "c": ""});
        assert_eq!(page(&row, "a").as_deref(), Some("https://git.example/x"));
        assert_eq!((page(&row, "b"), page(&row, "c")), (None, None));
    }
}
