//! A tool's input schema as OpenAI takes it.
//!
//! Only what its API refuses is left out: `$schema`, `x-` keywords, and combinators at the root, for which it would refuse
//! the whole list; those are told in words instead, and the gateway holds calls against the whole schema anyway. All else
//! keeps its bytes and order. `strict` is told only where the schema is one that strict mode takes and accepts the same
//! values in it: a model that must fill in every optional argument asks another question than it meant to.

mod strict;

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::members::{Members, Values};

/// `parameters` of a function.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) json: Box<RawValue>,
    pub(super) strict: bool,
    /// What had to be left out of the root, as a schema of its own.
    pub(super) beside: Option<String>,
}

/// Keywords that the API refuses at the root.
const NOT_AT_ROOT: [&str; 9] = [
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const",
];
/// Keywords whose value is a schema, or in older drafts a list of them.
const SCHEMAS: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value holds schemas by name. The names are the tool's, whatever they look like.
const NAMED: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Translates a schema.
pub(super) fn parameters(schema: &[u8]) -> serde_json::Result<Parameters> {
    let schema: &RawValue = serde_json::from_slice(if schema.is_empty() { b"{}" } else { schema })?;
    let root: Members<'_> = serde_json::from_str(schema.get())?;
    let is_beside = |name: &str| NOT_AT_ROOT.contains(&name);
    let (beside, mut root): (Vec<_>, Vec<_>) = root.0.into_iter().partition(|(name, _)| is_beside(name));
    let lacks = |root: &[(_, _)], name: &str| !root.iter().any(|(member, _)| member == name);
    if lacks(&root, "type") {
        root.insert(0, ("type".into(), serde_json::from_str(r#""object""#)?));
    }
    if lacks(&root, "properties") {
        root.push(("properties".into(), serde_json::from_str("{}")?));
    }
    let mut json = written(root)?;
    let beside = (!beside.is_empty()).then(|| written(beside)).transpose()?;
    let mut is_strict = false;
    if beside.is_none()
        && let Some(strict) = strict::form(&json)
    {
        (json, is_strict) = (strict, true);
    }
    Ok(Parameters {
        json: RawValue::from_string(json)?,
        strict: is_strict,
        beside,
    })
}

fn written(root: Vec<(Cow<'_, str>, &RawValue)>) -> serde_json::Result<String> {
    let mut out = String::new();
    write_members(&mut out, Members(root))?;
    Ok(out)
}

fn write_schema(out: &mut String, schema: &RawValue) -> serde_json::Result<()> {
    match schema.get().as_bytes().first() {
        Some(b'{') => write_members(out, serde_json::from_str(schema.get())?),
        Some(b'[') => write_list(out, schema),
        _ => {
            out.push_str(schema.get());
            Ok(())
        }
    }
}

fn write_members(out: &mut String, schema: Members<'_>) -> serde_json::Result<()> {
    let kept = schema
        .0
        .into_iter()
        .filter(|(name, _)| name != "$schema" && !name.starts_with("x-"));
    write_object(out, kept, |out, name, value| {
        if NAMED.contains(&name) && value.get().starts_with('{') {
            let named: Members<'_> = serde_json::from_str(value.get())?;
            write_object(out, named.0, |out, _, schema| write_schema(out, schema))
        } else if SCHEMAS.contains(&name) || LISTS.contains(&name) {
            write_schema(out, value)
        } else {
            out.push_str(value.get());
            Ok(())
        }
    })
}

fn write_list(out: &mut String, list: &RawValue) -> serde_json::Result<()> {
    let list: Values<'_> = serde_json::from_str(list.get())?;
    out.push('[');
    for (n, schema) in list.0.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_schema(out, schema)?;
    }
    out.push(']');
    Ok(())
}

fn write_object<'a>(
    out: &mut String,
    members: impl IntoIterator<Item = (Cow<'a, str>, &'a RawValue)>,
    mut write_value: impl FnMut(&mut String, &str, &'a RawValue) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    out.push('{');
    for (n, (name, value)) in members.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        out.push_str(&serde_json::to_string(&*name)?);
        out.push(':');
        write_value(out, &name, value)?;
    }
    out.push('}');
    Ok(())
}

#[cfg(test)]
mod tests;
