//! From the arguments of a call to the request that carries it, by the tool's binding and nothing else.
//!
//! Values travel as they were written: integers never pass through a float, text in a path is one encoded segment
//! whatever it holds. Knows no tool by name.

mod discriminator;

use std::collections::HashMap;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::value::RawValue;
use toolgate_contract::{
    registry::{HttpArgument, HttpDef, HttpMethod, Place},
    v1::Violation,
};

use self::discriminator::chosen;

/// Everything but what means itself in every part of an address.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// Servers commonly refuse longer ones.
const LONGEST_TARGET: usize = 16 * 1024;

/// One request below the back end's base.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) method: HttpMethod,
    /// Path and query, encoded.
    pub(super) target: String,
    /// JSON text.
    pub(super) body: Option<Bytes>,
}

/// Arguments by name, as they were written.
type Arguments<'a> = HashMap<String, &'a RawValue>;

/// The request of these arguments, which match the tool's schema.
///
/// # Errors
/// Every argument that cannot stand in its place; the whole object where it is none.
pub(super) fn bind(http: &HttpDef, arguments: &[u8]) -> Result<Bound, Vec<Violation>> {
    let arguments: Arguments<'_> =
        serde_json::from_slice(arguments).map_err(|_| vec![violation("", "type", "is no JSON object")])?;
    let (path, query) = place(http, &arguments);
    let mut target = filled(path, http, &arguments)?;
    for (n, (name, value)) in query.iter().enumerate() {
        target.push(if n == 0 { '?' } else { '&' });
        target.extend(utf8_percent_encode(name, ENCODED));
        target.push('=');
        target.extend(utf8_percent_encode(value, ENCODED));
    }
    if target.len() > LONGEST_TARGET {
        return Err(vec![violation(
            "",
            "maxLength",
            "the arguments that stand in the address are over 16 KiB together",
        )]);
    }
    Ok(Bound {
        method: http.method,
        target,
        body: body(http, &arguments),
    })
}

/// Which of the tool's paths is asked, and the pairs of its query.
fn place<'a>(http: &'a HttpDef, arguments: &Arguments<'_>) -> (&'a str, Vec<(&'a str, String)>) {
    let other = http
        .alternative
        .as_ref()
        .and_then(|other| Some((other, chosen(other.form, arguments.get(other.discriminator)?)?)));
    let Some((other, key)) = other else {
        let discriminator = http.alternative.as_ref().map(|other| other.discriminator);
        let queried = http
            .arguments
            .iter()
            .filter(|argument| argument.place == Place::Query && Some(argument.name) != discriminator);
        return (http.path, pairs(queried, arguments));
    };
    let mut queried = vec![];
    for name in other.query {
        let Some(argument) = http.arguments.iter().find(|argument| argument.name == *name) else {
            continue;
        };
        match argument.name == other.discriminator {
            true => queried.push((argument.wire, key.clone())),
            false => queried.extend(pairs(std::iter::once(argument), arguments)),
        }
    }
    (other.path, queried)
}

fn pairs<'a>(
    queried: impl Iterator<Item = &'a HttpArgument>,
    arguments: &Arguments<'_>,
) -> Vec<(&'a str, String)> {
    queried
        .filter_map(|argument| Some((argument.wire, plain(given(argument, arguments)?))))
        .collect()
}

/// The path with its arguments in it.
fn filled(path: &str, http: &HttpDef, arguments: &Arguments<'_>) -> Result<String, Vec<Violation>> {
    let (mut target, mut wrong) = (String::with_capacity(path.len() + 64), vec![]);
    let mut rest = path;
    while let Some((before, behind)) = rest.split_once('{') {
        target.push_str(before);
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        rest = after;
        let argument = http.arguments.iter().find(|argument| argument.name == name);
        let value = argument
            .and_then(|argument| given(argument, arguments))
            .map(plain);
        match value.as_deref() {
            None => wrong.push(violation(name, "required", "is needed: it stands in the path")),
            Some("" | "." | "..") => wrong.push(violation(
                name,
                "not",
                "stands in the path as one segment, so it can be neither empty nor only dots",
            )),
            Some(value) => target.extend(utf8_percent_encode(value, ENCODED)),
        }
    }
    target.push_str(rest);
    match wrong.is_empty() {
        true => Ok(target),
        false => Err(wrong),
    }
}

fn body(http: &HttpDef, arguments: &Arguments<'_>) -> Option<Bytes> {
    if let Some(whole) = http
        .arguments
        .iter()
        .find(|argument| argument.place == Place::WholeBody)
    {
        let value = given(whole, arguments)?;
        return Some(Bytes::copy_from_slice(value.get().as_bytes()));
    }
    let members = || {
        http.arguments
            .iter()
            .filter(|argument| argument.place == Place::Body)
    };
    if members().next().is_none() && http.constants.is_empty() {
        return None;
    }
    let mut json = String::from("{");
    let mut member = |name: &str, value: &str| {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&quoted(name));
        json.push(':');
        json.push_str(value);
    };
    for argument in members() {
        if let Some(value) = given(argument, arguments) {
            member(argument.wire, value.get());
        }
    }
    for (name, value) in http.constants {
        member(name, &quoted(value));
    }
    json.push('}');
    Some(json.into())
}

/// The argument, unless it is as good as absent.
fn given<'a>(argument: &HttpArgument, arguments: &Arguments<'a>) -> Option<&'a RawValue> {
    let value = *arguments.get(argument.name)?;
    let is_empty = argument.text && !argument.required && value.get() == r#""""#;
    (value.get() != "null" && !is_empty).then_some(value)
}

/// A value as it stands in an address: text as what it says, everything else as it was written.
fn plain(value: &RawValue) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn violation(argument: &str, keyword: &str, message: &str) -> Violation {
    let pointer = match argument.is_empty() {
        true => String::new(),
        false => format!("/{argument}"),
    };
    Violation {
        pointer,
        keyword: keyword.into(),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests;
