//! From `--arg key=value` and `--args JSON` to one JSON object, typed by the tool's schema.
//!
//! Types only: whether the arguments are right is the gateway's to say, with every violation at once. Numbers keep
//! the digits they were typed with.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use crate::failure::Failure;

/// The arguments as JSON text.
pub(crate) fn build(json: Option<&str>, pairs: &[String], schema: Option<&Value>) -> Result<String, Failure> {
    let json = json.unwrap_or("{}");
    let mut arguments: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json)
        .map_err(|error| Failure::usage(format!("--args: expected one JSON object: {error}")))?;
    if pairs.is_empty() {
        // As it was typed: a key that stands twice is the gateway's to refuse.
        return Ok(json.into());
    }
    for pair in pairs {
        let (name, text) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| {
                Failure::usage(format!("--arg: expected KEY=VALUE, got `{pair}`"))
                    .next("write for example --arg command='df -h'")
            })?;
        arguments.insert(name.into(), value(name, text, schema)?);
    }
    serde_json::to_string(&arguments).map_err(|error| Failure::failed(error.to_string()))
}

fn value(name: &str, text: &str, schema: Option<&Value>) -> Result<Box<RawValue>, Failure> {
    let wanted = |what: &str| Failure::usage(format!("--arg {name}: expected {what}, got `{text}`"));
    match wanted_type(name, schema) {
        Some("integer") if is_integer(text) => raw(text).ok_or_else(|| wanted("a whole number")),
        Some("integer") => Err(wanted("a whole number")),
        Some("number") => raw(text)
            .filter(|raw| is_number(raw))
            .ok_or_else(|| wanted("a number")),
        Some("boolean") if matches!(text, "true" | "false") => {
            raw(text).ok_or_else(|| wanted("true or false"))
        }
        Some("boolean") => Err(wanted("true or false")),
        Some("array") => raw(text)
            .filter(|raw| raw.get().starts_with('['))
            .ok_or_else(|| wanted("a JSON array")),
        Some("object") => raw(text)
            .filter(|raw| raw.get().starts_with('{'))
            .ok_or_else(|| wanted("a JSON object")),
        _ => serde_json::value::to_raw_value(text).map_err(|error| Failure::failed(error.to_string())),
    }
}

// The first type that is not null: `["integer", "null"]` is an integer to type in.
fn wanted_type<'a>(name: &str, schema: Option<&'a Value>) -> Option<&'a str> {
    match &schema?["properties"][name]["type"] {
        Value::String(one) => Some(one),
        Value::Array(several) => several
            .iter()
            .filter_map(Value::as_str)
            .find(|one| *one != "null"),
        _ => None,
    }
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    serde_json::from_str(text.trim()).ok()
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(raw: &RawValue) -> bool {
    raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::build;

    fn check(json: Option<&str>, pairs: &[&str], expected: Result<&str, &str>) {
        let schema = json!({"properties": {
            "vmid": {"type": "integer"}, "share": {"type": ["null", "number"]}, "all": {"type": "boolean"},
            "command": {"type": "string"}, "tags": {"type": "array"}, "filter": {"type": "object"},
        }});
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.into()).collect();
        let built = build(json, &pairs, Some(&schema)).map_err(|failure| failure.message);
        assert_eq!(built.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn values_are_typed_by_the_schema() {
        check(None, &[], Ok("{}"));
        check(None, &["command=df -h"], Ok(r#"{"command":"df -h"}"#));
        check(None, &["command=7"], Ok(r#"{"command":"7"}"#));
        check(None, &["vmid=7"], Ok(r#"{"vmid":7}"#));
        check(None, &["share=0.5"], Ok(r#"{"share":0.5}"#));
        check(None, &["all=true"], Ok(r#"{"all":true}"#));
        check(None, &["tags=[1,\"a\"]"], Ok(r#"{"tags":[1,"a"]}"#));
        check(None, &["filter={\"a\":1}"], Ok(r#"{"filter":{"a":1}}"#));
    }

    #[test]
    fn a_value_may_hold_equal_signs_and_be_empty() {
        check(None, &["command=a=b"], Ok(r#"{"command":"a=b"}"#));
        check(None, &["command="], Ok(r#"{"command":""}"#));
    }

    #[test]
    fn big_numbers_keep_their_digits() {
        check(
            None,
            &["vmid=123456789012345678901234567890"],
            Ok(r#"{"vmid":123456789012345678901234567890}"#),
        );
        check(
            Some(r#"{"x":9007199254740993.10}"#),
            &["all=false"],
            Ok(r#"{"all":false,"x":9007199254740993.10}"#),
        );
    }

    #[test]
    fn an_argument_the_schema_does_not_know_goes_as_text_for_the_gateway_to_judge() {
        check(None, &["nope=1"], Ok(r#"{"nope":"1"}"#));
    }

    #[test]
    fn single_arguments_win_over_the_object() {
        check(
            Some(r#"{"vmid":1,"all":true}"#),
            &["vmid=2"],
            Ok(r#"{"all":true,"vmid":2}"#),
        );
    }

    #[test]
    fn what_does_not_fit_its_type_names_the_argument() {
        check(
            None,
            &["vmid=five"],
            Err("--arg vmid: expected a whole number, got `five`"),
        );
        check(
            None,
            &["vmid=1.5"],
            Err("--arg vmid: expected a whole number, got `1.5`"),
        );
        check(
            None,
            &["vmid=007"],
            Err("--arg vmid: expected a whole number, got `007`"),
        );
        check(
            None,
            &["share=\"1\""],
            Err("--arg share: expected a number, got `\"1\"`"),
        );
        check(
            None,
            &["all=yes"],
            Err("--arg all: expected true or false, got `yes`"),
        );
        check(
            None,
            &["tags={}"],
            Err("--arg tags: expected a JSON array, got `{}`"),
        );
        check(
            None,
            &["filter=[]"],
            Err("--arg filter: expected a JSON object, got `[]`"),
        );
        check(None, &["df -h"], Err("--arg: expected KEY=VALUE, got `df -h`"));
        check(None, &["=x"], Err("--arg: expected KEY=VALUE, got `=x`"));
    }

    #[test]
    fn args_must_be_one_object() {
        for json in ["[]", "{", "1", "", "{} {}"] {
            let failure = build(Some(json), &[], None).unwrap_err();
            assert!(
                failure.message.starts_with("--args: expected one JSON object"),
                "{json}"
            );
        }
    }
}
