//! From `--arg key=value` and `--args JSON` to one JSON object, typed by the tool's schema.
//!
//! Types only: whether the arguments are right is the gateway's to say, with every violation at once. Numbers keep
//! the digits they were typed with. The list has the tools of one project: of a tool of another one the schema is not
//! here, and a value is then what it reads as.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use super::text;
use crate::failure::Failure;

/// The argument that names the project a call is for, and its name where the tool has one called so of its own.
const ROUTING: &str = "project";
const ROUTING_BESIDE: &str = "toolgate_project";

/// The arguments as JSON text, for the tool of this name in the caller's list.
pub(crate) fn build(json: Option<&str>, pairs: &[String], tool: Option<&Value>) -> Result<String, Failure> {
    let json = json.unwrap_or("{}");
    let mut arguments: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json)
        .map_err(|error| Failure::usage(format!("--args: expected one JSON object: {error}")))?;
    if pairs.is_empty() {
        // As it was typed: a key that stands twice is the gateway's to refuse.
        return Ok(json.into());
    }
    let pairs = pairs.iter().map(|pair| split(pair));
    let pairs: Vec<(&str, &str)> = pairs.collect::<Result<_, _>>()?;
    let named = |routing: &str| {
        let typed = pairs.iter().rfind(|(name, _)| *name == routing);
        let project = typed.map(|(_, project)| (*project).to_owned());
        project.or_else(|| serde_json::from_str(arguments.get(routing)?.get()).ok())
    };
    let typing = Typing::of(tool, named);
    for (name, text) in pairs {
        let value = match &typing {
            Typing::Schema(schema) => value(name, text, Some(schema))?,
            Typing::AsItReads { routing } if name == *routing => value(name, text, None)?,
            Typing::AsItReads { .. } => as_it_reads(text).map_or_else(|| value(name, text, None), Ok)?,
        };
        arguments.insert(name.into(), value);
    }
    serde_json::to_string(&arguments).map_err(|error| Failure::failed(error.to_string()))
}

fn split(pair: &str) -> Result<(&str, &str), Failure> {
    let split = pair.split_once('=').filter(|(name, _)| !name.is_empty());
    split.ok_or_else(|| {
        Failure::usage(format!("--arg: expected KEY=VALUE, got `{pair}`"))
            .next("write for example --arg command='df -h'")
    })
}

/// What tells the type of a value.
enum Typing<'a> {
    /// The schema of the tool that is called.
    Schema(&'a Value),
    /// The value, because the schema is not here. The argument that names the project is text whatever it reads as.
    AsItReads { routing: &'static str },
}

impl<'a> Typing<'a> {
    fn of(tool: Option<&'a Value>, named: impl Fn(&str) -> Option<String>) -> Self {
        let beside = named(ROUTING_BESIDE);
        let routing = match beside {
            Some(_) => ROUTING_BESIDE,
            None => ROUTING,
        };
        let Some(tool) = tool else {
            return Self::AsItReads { routing };
        };
        let (schema, owner) = (&tool["inputSchema"], text(tool, "project"));
        // A project never takes the place of a tool of the gateway, whose `project` is its own.
        if owner.is_empty() {
            return Self::Schema(schema);
        }
        let own = schema["properties"].get(ROUTING_BESIDE).is_some();
        let meant = beside.or_else(|| if own { None } else { named(ROUTING) });
        match meant {
            Some(meant) if meant != owner => Self::AsItReads { routing },
            _ => Self::Schema(schema),
        }
    }
}

// A JSON string is not taken for what it holds: quotes that were typed are meant.
fn as_it_reads(text: &str) -> Option<Box<RawValue>> {
    let bare = !text.starts_with('"') && text.trim() == text;
    raw(text).filter(|_| bare)
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
    use serde_json::{Value, json};

    use super::build;

    fn check(json: Option<&str>, pairs: &[&str], expected: Result<&str, &str>) {
        let schema = json!({"properties": {
            "vmid": {"type": "integer"}, "share": {"type": ["null", "number"]}, "all": {"type": "boolean"},
            "command": {"type": "string"}, "tags": {"type": "array"}, "filter": {"type": "object"},
        }});
        of(Some(&json!({ "inputSchema": schema })), json, pairs, expected);
    }

    fn of(tool: Option<&Value>, json: Option<&str>, pairs: &[&str], expected: Result<&str, &str>) {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.into()).collect();
        let built = build(json, &pairs, tool).map_err(|failure| failure.message);
        assert_eq!(built.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn of_a_tool_that_is_in_no_list_a_value_is_what_it_reads_as() {
        let check = |pair: &str, expected: &str| of(None, None, &[pair], Ok(expected));
        check("head=1", r#"{"head":1}"#);
        check("head=-1.50", r#"{"head":-1.50}"#);
        check("all=true", r#"{"all":true}"#);
        check("all=false", r#"{"all":false}"#);
        check("since=null", r#"{"since":null}"#);
        check("tags=[1,\"a\"]", r#"{"tags":[1,"a"]}"#);
        check("filter={\"a\":1}", r#"{"filter":{"a":1}}"#);
        for text in ["a b", "007", "True", "", " 1", "[1", "1 2", "NaN"] {
            check(&format!("x={text}"), &format!("{{\"x\":\"{text}\"}}"));
        }
        check("x=\"1\"", r#"{"x":"\"1\""}"#);
    }

    #[test]
    fn the_name_of_a_project_is_text_whatever_it_reads_as() {
        let check = |pairs: &[&str], expected: &str| of(None, None, pairs, Ok(expected));
        check(&["head=1", "project=7"], r#"{"head":1,"project":"7"}"#);
        check(
            &["project=7", "toolgate_project=8"],
            r#"{"project":7,"toolgate_project":"8"}"#,
        );
    }

    #[test]
    fn the_schema_of_one_project_types_nothing_of_another() {
        let properties = json!({"path": {"type": "string"}, "project": {"type": "string"}});
        let tool = json!({"project": "notes", "inputSchema": {"properties": properties}});
        let check = |json, pairs: &[&str], expected| of(Some(&tool), json, pairs, Ok(expected));
        check(None, &["path=1"], r#"{"path":"1"}"#);
        check(
            None,
            &["path=1", "project=notes"],
            r#"{"path":"1","project":"notes"}"#,
        );
        check(
            None,
            &["path=1", "project=files"],
            r#"{"path":1,"project":"files"}"#,
        );
        check(
            Some(r#"{"project":"files"}"#),
            &["path=1"],
            r#"{"path":1,"project":"files"}"#,
        );
        check(
            None,
            &["path=1", "toolgate_project=files"],
            r#"{"path":1,"toolgate_project":"files"}"#,
        );
    }

    #[test]
    fn a_tools_own_argument_project_names_no_other_project() {
        let properties = json!({"project": {"type": "integer"}, "toolgate_project": {"type": "string"}});
        let tool = json!({"project": "notes", "inputSchema": {"properties": properties}});
        of(Some(&tool), None, &["project=7"], Ok(r#"{"project":7}"#));
        let gateways = json!({"inputSchema": {"properties": {"project": {"type": "string"}, "title": {"type": "string"}}}});
        of(
            Some(&gateways),
            None,
            &["project=a", "title=42"],
            Ok(r#"{"project":"a","title":"42"}"#),
        );
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
