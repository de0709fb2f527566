//! What a tool must be: the rules whose breach fails the build.

use std::collections::HashMap;

use prost_reflect::MethodDescriptor;

use super::{
    Mistakes,
    options::ToolOption,
    tools::{INFRASTRUCTURE, Tool},
};

/// Longest canonical name: with the `<server>__` that clients prepend it must stay below their limit of 64.
const LONGEST_NAME: usize = 40;

/// Checks one tool by itself.
pub(crate) fn tool(
    method: &MethodDescriptor,
    option: &ToolOption,
    description: &str,
    mistakes: &mut Mistakes,
) {
    let mut wrong = |what: String| mistakes.at(&format!("rpc {}", method.full_name()), what);
    let name = &option.name;
    if description.is_empty() {
        wrong("a tool needs a comment; it is the tool's description".into());
    }
    if option.title.is_empty() {
        wrong("a tool needs a title".into());
    }
    if option.adapter.is_empty() {
        wrong("a tool needs an adapter".into());
    }
    if name.len() > LONGEST_NAME {
        wrong(format!("the name {name} is over {LONGEST_NAME} characters"));
    }
    if name.contains("__") {
        wrong(format!(
            "the name {name} contains `__`, which clients use to separate servers from tools"
        ));
    }
    if !spelt_well(name) {
        wrong(format!(
            "the name `{name}` is not of lower-case letters, digits, `_` and one `.` inside"
        ));
    }
    if !(1..=3).contains(&option.effect) {
        wrong("a tool needs an effect".into());
    }
    if method.is_client_streaming() || method.is_server_streaming() {
        wrong("a tool takes one request and gives one response".into());
    }
    if INFRASTRUCTURE.contains(&option.adapter.as_str()) {
        if option.effect != 1 {
            wrong(format!(
                "infrastructure is read-only: a tool of adapter {} needs EFFECT_READ",
                option.adapter
            ));
        }
        if option.freshness == 0 {
            wrong("an infrastructure tool needs a freshness".into());
        }
        if !name.starts_with(&format!("{}.", option.adapter)) {
            wrong(format!(
                "the name {name} of an infrastructure tool must start with `{}.`",
                option.adapter
            ));
        }
    } else if option.group == 0 {
        wrong("a tool that is not of infrastructure needs a group".into());
    }
    let of_back_end = option.adapter.starts_with("agent-");
    if of_back_end != option.http.is_some() {
        wrong("a tool has an HTTP request exactly if its adapter is a back end of agents".into());
    }
    if of_back_end && option.effect == 3 {
        wrong("a tool of a back end reads or writes; it is not local".into());
    }
}

fn spelt_well(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    parts.len() <= 2
        && parts.iter().all(|part| {
            part.starts_with(|first: char| first.is_ascii_lowercase())
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        })
}

/// Checks the names of all tools against each other. A call may use a name or its alias, so both share one space.
pub(crate) fn names(tools: &[Tool], mistakes: &mut Mistakes) {
    let mut taken: HashMap<&str, &Tool> = HashMap::new();
    for tool in tools {
        let Some(other) = taken.insert(&tool.function_name, tool) else {
            continue;
        };
        let place = format!("rpc {}", tool.rpc);
        if other.name == tool.name {
            mistakes.at(
                &place,
                format!("the name {} is already that of rpc {}", tool.name, other.rpc),
            );
        } else {
            let alias = &tool.function_name;
            mistakes.at(
                &place,
                format!(
                    "the names {} and {} share the alias {alias}",
                    other.name, tool.name
                ),
            );
        }
    }
}
