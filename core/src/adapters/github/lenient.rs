//! Reading fields that may be missing, null or of another kind than they should be: then they are not there.
//!
//! Whole numbers never become floating ones: an id above 2^53 stays what it is.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// A text that is not empty.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    })
}

/// A whole number that is not negative; digits in quotes are one too.
pub(super) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Number(number) => number.as_u64(),
        Value::String(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    })
}

/// A whole number of a caller, which its schema also takes as `30.0`.
pub(super) fn argument<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    let exact = |number: f64| {
        (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then(|| format!("{number:.0}"))
    };
    let written = || number.as_f64().and_then(exact)?.parse().ok();
    number
        .as_u64()
        .or_else(written)
        .ok_or_else(|| serde::de::Error::custom("no whole number"))
}

/// Yes or no.
pub(super) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(Value::deserialize(from)?.as_bool())
}

/// The texts of a list.
pub(super) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(items) = Value::deserialize(from)? else {
        return Ok(vec![]);
    };
    let texts = items.into_iter().filter_map(|item| match item {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}

/// An object of its own.
pub(super) fn part<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = Value::deserialize(from)?;
    Ok(value
        .is_object()
        .then(|| serde_json::from_value(value).ok())
        .flatten())
}

/// The rows of a list that can be read; the others are left out.
pub(super) fn parts<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Array(items) = Value::deserialize(from)? else {
        return Ok(vec![]);
    };
    Ok(rows(items))
}

/// The rows of a list that can be read.
pub(super) fn rows<T: DeserializeOwned>(items: Vec<Value>) -> Vec<T> {
    let objects = items.into_iter().filter(Value::is_object);
    objects
        .filter_map(|item| serde_json::from_value(item).ok())
        .collect()
}
