//! What the seed says of the agents' tools and profiles, for scenarios: the data as they were given,
//! and nothing that the product has made of them.

use std::collections::BTreeSet;

use serde_json::Value;

const TOOLS: &str = include_str!("golden/agent-tools.json");
const PROFILES: &str = include_str!("golden/agent-profiles.json");

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("data files are JSON")
}

/// Every tool, as the data file has it.
pub(crate) fn tools() -> Vec<Value> {
    read(TOOLS)["tools"].as_array().expect("a list").clone()
}

/// The tool of this name.
pub(crate) fn tool(name: &str) -> Value {
    let found = tools().into_iter().find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("no tool {name}"))
}

/// The names of the tools that fit.
pub(crate) fn names_of(fits: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let fitting = tools().into_iter().filter(|tool| fits(tool));
    fitting.map(|tool| text(&tool["name"])).collect()
}

/// The profiles: name, kinds of tasks, number of tools, and the tools themselves.
pub(crate) fn profiles() -> Vec<(String, Vec<String>, usize, BTreeSet<String>)> {
    let data = read(PROFILES);
    let profiles = data["profiles"].as_object().expect("an object").clone();
    let always = texts(&data["always_on"]);
    profiles
        .into_iter()
        .map(|(name, profile)| {
            let groups = texts(&profile["groups"]);
            let mut tools = names_of(|tool| groups.contains(&text(&tool["group"])));
            tools.extend(texts(&profile["tools"]));
            tools.extend(always.clone());
            let registered = profile["registered"].as_u64().expect("a number");
            let count = usize::try_from(registered).expect("a small number");
            (name, texts(&profile["task_kinds"]), count, tools)
        })
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(text).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
