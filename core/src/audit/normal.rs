//! The form in which text goes on the record: no control characters, and a bounded length.
//!
//! Callers choose some of these texts (the tool they ask for, for one). A NUL must not make a store refuse the row, a
//! terminal escape must not play tricks on the reader of the record, and no field may swallow the row. The form is
//! stable: what is normal stays as it is, byte for byte.

use std::{borrow::Cow, fmt::Write};

/// Longest text of each field in bytes; longer ones end in `…`.
pub(super) const PRINCIPAL: usize = 200;
pub(super) const ROLE: usize = 32;
pub(super) const FACADE: usize = 32;
pub(super) const ADAPTER_TYPE: usize = 64;
pub(super) const CAPABILITY: usize = 200;
pub(super) const REASON: usize = 64;
/// Longest id of a key in an export; the gateway's have 26 bytes.
pub(super) const KEY_ID: usize = 64;
/// Longest detail; a longer one is replaced, because half a JSON object is none.
pub(super) const DETAIL: usize = 16 * 1024;

const ELLIPSIS: &str = "…";

/// `text` with control characters as `\u001b`, at most `longest` bytes.
pub(super) fn text(text: &str, longest: usize) -> Cow<'_, str> {
    let escaped = escape(text, longest);
    if escaped.len() <= longest {
        return escaped;
    }
    let mut cut = escaped.into_owned();
    cut.truncate(cut.floor_char_boundary(longest - ELLIPSIS.len()));
    cut.push_str(ELLIPSIS);
    Cow::Owned(cut)
}

/// A JSON object in `detail` with nothing that a JSON text may not hold raw.
pub(super) fn detail(detail: &str) -> Cow<'_, str> {
    if detail.len() > DETAIL {
        return Cow::Owned(format!(r#"{{"omitted_bytes":{}}}"#, detail.len()));
    }
    if !detail.contains(char::is_control) {
        return Cow::Borrowed(detail);
    }
    // Between the tokens of a JSON text the only control characters are white space.
    let spaced = detail.replace(['\n', '\r', '\t'], " ");
    let escaped = escape(&spaced, usize::MAX).into_owned();
    if escaped.len() > DETAIL {
        return Cow::Owned(format!(r#"{{"omitted_bytes":{}}}"#, detail.len()));
    }
    Cow::Owned(escaped)
}

// Stops soon after `enough` bytes, so that a huge text costs no more than a long one.
fn escape(text: &str, enough: usize) -> Cow<'_, str> {
    let looked_at = &text[..text.floor_char_boundary(enough.saturating_add(4))];
    if !looked_at.contains(char::is_control) {
        return Cow::Borrowed(looked_at);
    }
    let mut escaped = String::with_capacity(looked_at.len() + 16);
    for character in looked_at.chars() {
        if character.is_control() {
            // Writing to a string cannot fail; control characters are all below U+00A0.
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_become_escapes_and_long_texts_end_in_an_ellipsis() {
        let check = |input: &str, expected: &str| assert_eq!(text(input, 12), expected);
        check("plain", "plain");
        check("a\0b", "a\\u0000b");
        check("\u{1b}[2J", "\\u001b[2J");
        check("\u{9f}", "\\u009f");
        check("twelve bytes", "twelve bytes");
        check("thirteen byte", "thirteen …");
        check("ééééééé", "éééé…");
        check("\0\0\0\0", "\\u0000\\u0…");
    }

    #[test]
    fn a_detail_stays_json_or_is_left_out() {
        assert_eq!(detail("{\n\t\"a\": 1\r\n}"), "{  \"a\": 1  }");
        assert_eq!(detail(r#"{"a":"\u0000"}"#), r#"{"a":"\u0000"}"#);
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(DETAIL));
        assert_eq!(detail(&long), format!(r#"{{"omitted_bytes":{}}}"#, long.len()));
    }

    proptest! {
        #[test]
        fn the_normal_form_is_stable_bounded_and_clean(input in any::<String>(), longest in 8usize..64) {
            let once = text(&input, longest).into_owned();
            prop_assert!(once.len() <= longest);
            prop_assert!(!once.contains(char::is_control));
            prop_assert_eq!(text(&once, longest), once.as_str());
            let once = detail(&input).into_owned();
            prop_assert_eq!(detail(&once), once.as_str());
        }
    }
}
