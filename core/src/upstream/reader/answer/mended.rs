//! JSON whose texts are not quite texts: bytes that are no UTF-8, and halves of surrogate pairs.
//!
//! Both become U+FFFD, so that one odd name costs that name and not the list it stands in. Whatever else is wrong stays so.

/// The bytes as text that a strict reader takes.
pub(super) fn text(bytes: &[u8]) -> String {
    without_halves(&String::from_utf8_lossy(bytes))
}

fn without_halves(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, length) = escape(rest);
        mended.push_str(kept);
        rest = &rest[length..];
    }
    mended.push_str(rest);
    mended
}

/// The escape that this begins with, and how long it was.
fn escape(text: &str) -> (&str, usize) {
    match (unit(text), text.get(6..).and_then(unit)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (&text[..12], 12),
        (Some(0xd800..=0xdfff), _) => ("\u{fffd}", 6),
        // Any other escape: the character behind it goes along, so that an escaped backslash begins none.
        _ => {
            let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
            (&text[..length], length)
        }
    }
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read(bytes: &[u8]) -> Value {
        serde_json::from_str(&text(bytes)).unwrap()
    }

    #[test]
    fn one_text_that_is_none_costs_itself_alone() {
        assert_eq!(
            read(br#"["a\ud800b", "\udc00", "ok"]"#),
            json!(["a\u{fffd}b", "\u{fffd}", "ok"])
        );
        assert_eq!(
            read(br#"["\ud83d\ude00", "\ud83d\ud83d\ude00"]"#),
            json!(["\u{1f600}", "\u{fffd}\u{1f600}"])
        );
        assert_eq!(
            read(b"[\"a\xffb\", 9007199254740993]"),
            json!(["a\u{fffd}b", 9_007_199_254_740_993_u64])
        );
        // A backslash that is escaped begins no escape.
        assert_eq!(read(br#"["\\ud800"]"#), json!(["\\ud800"]));
    }

    proptest! {
        #[test]
        fn what_can_be_read_stays_as_it_is(text in any::<String>(), number in any::<u64>()) {
            let sound = json!([text, number]);
            prop_assert_eq!(read(sound.to_string().as_bytes()), sound);
        }

        #[test]
        fn no_bytes_make_mending_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = text(&bytes);
        }

        #[test]
        fn no_escapes_make_mending_panic(text in r#"(\\\\|\\u[d8-fc0]{0,5}|["a\u{e9}])*"#) {
            let _ = super::text(text.as_bytes());
        }
    }
}
