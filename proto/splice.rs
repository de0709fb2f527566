//! Edits of JSON text that leave every other byte as it is.
//!
//! What a project says is its own: the order of its keys, its escapes and its numbers pass through. So texts are never
//! parsed into a tree and written anew; a member is found by where it stands, and the bytes around it are copied. A text
//! that is no JSON object, or holds a member twice where that member is asked for, is refused. Linear, one pass a level.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Why a text cannot be edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    /// The text is no JSON object, or no array where one is wanted.
    #[error("the text is not the JSON it should be")]
    Shape,
    /// The member stands in it more than once, so that two readers could see different ones.
    #[error("a member is given twice")]
    Doubled,
}

/// One member of an object, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// Its key, unescaped.
    pub key: Cow<'a, str>,
    /// Its value, as it is written.
    pub value: &'a str,
}

/// The members of an object in the order in which they stand there.
///
/// # Errors
/// When the text is no object.
pub fn members(object: &str) -> Result<Vec<Member<'_>>, SpliceError> {
    let mut reader = serde_json::Deserializer::from_str(object);
    let found = reader.deserialize_map(Members).map_err(|_| SpliceError::Shape)?;
    reader.end().map_err(|_| SpliceError::Shape)?;
    Ok(found)
}

/// The elements of an array, each as it is written.
///
/// # Errors
/// When the text is no array.
pub fn elements(array: &str) -> Result<Vec<&str>, SpliceError> {
    let mut reader = serde_json::Deserializer::from_str(array);
    let found = reader.deserialize_seq(Elements).map_err(|_| SpliceError::Shape)?;
    reader.end().map_err(|_| SpliceError::Shape)?;
    Ok(found)
}

/// The value of a member, as it is written; `None` where it is not there.
///
/// # Errors
/// When the text is no object, or has the member twice.
pub fn member<'a>(object: &'a str, key: &str) -> Result<Option<&'a str>, SpliceError> {
    let mut found = members(object)?.into_iter().filter(|member| member.key == key);
    match (found.next(), found.next()) {
        (first, None) => Ok(first.map(|member| member.value)),
        (_, Some(_)) => Err(SpliceError::Doubled),
    }
}

/// The object without a member, and the value that it had; every other byte stays.
///
/// # Errors
/// When the text is no object, or has the member twice.
pub fn without<'a>(object: &'a str, key: &str) -> Result<(Cow<'a, str>, Option<&'a str>), SpliceError> {
    let Some(value) = member(object, key)? else {
        return Ok((Cow::Borrowed(object), None));
    };
    let span = span_of(object, value);
    let cut = whole_member(object, &span);
    let mut left = String::with_capacity(object.len());
    left.push_str(&object[..cut.start]);
    left.push_str(&object[cut.end..]);
    Ok((Cow::Owned(left), Some(value)))
}

/// The object with a member of this value: in place of the one that is there, else behind the last one. `value` is JSON.
///
/// # Errors
/// When the text is no object, or has the member twice.
pub fn with(object: &str, key: &str, value: &str) -> Result<String, SpliceError> {
    if let Some(former) = member(object, key)? {
        return Ok(in_place_of(object, former, value));
    }
    let last = members(object)?
        .last()
        .map(|member| span_of(object, member.value).end);
    // Behind the last member, or behind the brace that opens the object; the white space before the end stays where it is.
    let at = last
        .or_else(|| object.find('{').map(|at| at + 1))
        .unwrap_or_default();
    let key = serde_json::to_string(key).map_err(|_| SpliceError::Shape)?;
    let comma = if last.is_some() { "," } else { "" };
    let mut whole = String::with_capacity(object.len() + key.len() + value.len() + 2);
    whole.push_str(&object[..at]);
    whole.push_str(comma);
    whole.push_str(&key);
    whole.push(':');
    whole.push_str(value);
    whole.push_str(&object[at..]);
    Ok(whole)
}

/// The value at the end of a path of members; `None` where it does not lead anywhere.
///
/// # Errors
/// When what the path goes through is no object, or has a member of it twice.
pub fn at<'a>(object: &'a str, path: &[&str]) -> Result<Option<&'a str>, SpliceError> {
    let mut here = object;
    for key in path {
        match member(here, key)? {
            Some(value) => here = value,
            None => return Ok(None),
        }
    }
    Ok(Some(here))
}

/// The object with another value at the end of a path; objects on the way that are not there are made.
///
/// # Errors
/// When what the path goes through is no object, or has a member of it twice; and for a path of nothing.
pub fn with_at(object: &str, path: &[&str], value: &str) -> Result<String, SpliceError> {
    match path {
        [] => Err(SpliceError::Shape),
        [key] => with(object, key, value),
        [key, rest @ ..] => {
            let inner = with_at(member(object, key)?.unwrap_or("{}"), rest, value)?;
            with(object, key, &inner)
        }
    }
}

/// The text with another one in place of `part`, which must be a slice of it.
#[must_use]
pub fn in_place_of(text: &str, part: &str, other: &str) -> String {
    let span = span_of(text, part);
    let mut whole = String::with_capacity(text.len() - part.len() + other.len());
    whole.push_str(&text[..span.start]);
    whole.push_str(other);
    whole.push_str(&text[span.end..]);
    whole
}

// Where a slice of a text stands in it; nothing of it where it is none.
fn span_of(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    match start.checked_add(part.len()) {
        Some(end) if end <= text.len() => start..end,
        _ => text.len()..text.len(),
    }
}

// From the key of the member whose value stands at `value`, with the one comma that joins it to a neighbour.
fn whole_member(object: &str, value: &Range<usize>) -> Range<usize> {
    let bytes = object.as_bytes();
    let is_space = |at: usize| matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r');
    let key = key_before(bytes, value.start);
    let mut before = key;
    while before > 0 && is_space(before - 1) {
        before -= 1;
    }
    let mut after = value.end;
    while after < bytes.len() && is_space(after) {
        after += 1;
    }
    match (bytes.get(after), before.checked_sub(1).map(|at| bytes[at])) {
        (Some(b','), _) => {
            let mut next = after + 1;
            while next < bytes.len() && is_space(next) {
                next += 1;
            }
            key..next
        }
        (_, Some(b',')) => before - 1..value.end,
        _ => key..value.end,
    }
}

// Where the key of the member stands whose value begins at `value`. Before the value stand, read backwards, white space,
// the colon, white space, and the quote that ends the key.
fn key_before(bytes: &[u8], value: usize) -> usize {
    let mut at = value;
    let mut seen = 0;
    while at > 0 {
        at -= 1;
        if bytes[at] != b'"' {
            continue;
        }
        // A quote behind an odd number of backslashes is one of the text. The one that begins the key has a brace, a comma
        // or white space before it, never a backslash.
        let slashes = bytes[..at]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if seen == 0 || slashes % 2 == 0 {
            seen += 1;
        }
        if seen == 2 {
            return at;
        }
    }
    0
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Member<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            found.push(Member {
                key,
                value: value.get(),
            });
        }
        Ok(found)
    }
}

struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = seq.next_element::<&RawValue>()? {
            found.push(element.get());
        }
        Ok(found)
    }
}

/// A key of an object, unescaped; borrowed where nothing in it is escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key<'a>(pub Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests;
