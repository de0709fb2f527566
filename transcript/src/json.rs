//! Looks into JSON without building it: a line may be large, and little of it is wanted.
//!
//! Lenient where a strict reader would lose a report: a key that stands twice has its last value, half a surrogate
//! pair (agents cut texts in the middle of an emoji) becomes U+FFFD.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The values of these keys of an object, as they are written.
pub(crate) fn fields<'a, const N: usize>(
    json: &'a str,
    keys: [&str; N],
) -> Result<[Option<&'a RawValue>; N], serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Fields(keys))?;
    reader.end()?;
    Ok(found)
}

/// Hands over each element of an array; nothing where it is none.
pub(crate) fn each<'a>(json: &'a RawValue, found: impl FnMut(&'a RawValue)) {
    // A raw value is well-formed, so that the only failure is another kind of value.
    let _ = serde_json::Deserializer::from_str(json.get()).deserialize_seq(Each(found));
}

/// The text, if the value is one.
pub(crate) fn text(json: Option<&RawValue>) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(json?.get())
        .ok()
        .map(|text| text.0)
}

/// Whether the bytes are one whole JSON object.
pub(crate) fn is_object(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    // What is no object in the end need not be read.
    bytes.first() == Some(&b'{')
        && bytes.last() == Some(&b'}')
        && fields(&String::from_utf8_lossy(bytes), []).is_ok()
}

struct Fields<'k, const N: usize>([&'k str; N]);

impl<'de, const N: usize> Visitor<'de> for Fields<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(Text(key)) = map.next_key()? {
            let value: &'de RawValue = map.next_value()?;
            if let Some(at) = self.0.iter().position(|wanted| *wanted == key) {
                found[at] = Some(value);
            }
        }
        Ok(found)
    }
}

struct Each<F>(F);

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element()? {
            (self.0)(element);
        }
        Ok(())
    }
}

struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As bytes, since half a surrogate pair is no error there.
        deserializer.deserialize_bytes(OfBytes).map(Self)
    }
}

struct OfBytes;

impl<'de> Visitor<'de> for OfBytes {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes).into_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::{fields, is_object, text};

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts() {
        let [a, b] = fields(r#"{"a": 1, "b": [2], "a": {"c": 3}}"#, ["a", "b"]).unwrap();
        assert_eq!(a.unwrap().get(), r#"{"c": 3}"#);
        assert_eq!(b.unwrap().get(), "[2]");
    }

    #[test]
    fn texts_are_read_whatever_stands_in_them() {
        let check = |json: &str, expected: Option<&str>| {
            let object = format!(r#"{{"\u0061": {json}}}"#);
            let [a] = fields(&object, ["a"]).unwrap();
            assert_eq!(text(a).as_deref(), expected, "{json}");
        };
        check(r#""plain""#, Some("plain"));
        check(r#""a\"b\n""#, Some("a\"b\n"));
        check(r#""half \ud83d!""#, Some("half \u{fffd}\u{fffd}\u{fffd}!"));
        check(r#""whole \ud83d\ude00""#, Some("whole \u{1f600}"));
        check("5", None);
        check("[104]", None);
        check("null", None);
    }

    #[test]
    fn only_a_whole_object_is_one() {
        for whole in ["{}", " {\"a\": [1, {}]}\r", "{\"a\\ud800\": 1}"] {
            assert!(is_object(whole.as_bytes()), "{whole}");
        }
        assert!(is_object(b"{\"a\": \"\xff\"}"));
        for other in ["", "[]", "{", "{\"a\": {}", "{} {}", "{\"a\": }", "5}"] {
            assert!(!is_object(other.as_bytes()), "{other}");
        }
        let deep = format!(
            "{}{}",
            "{\"a\":".repeat(100_000),
            "1}".to_owned() + &"}".repeat(99_999)
        );
        assert!(is_object(deep.as_bytes()));
    }
}
