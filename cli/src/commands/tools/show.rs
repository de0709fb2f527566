//! `tools show`: one tool as somebody who will call it needs it: what it does, what it takes, an example, its targets.

use serde_json::Value;

use crate::{
    commands::{list, text},
    config::nearest::did_you_mean,
    failure::{Exit, Failure},
    serve::welcome::shell_word,
};

/// Filled in by the caller of the tool, not by the tool's own arguments.
const TARGET: &str = "target_id";

/// The tool of this name, canonical or as models spell it.
pub(super) fn find<'a>(tools: &'a [Value], wanted: &str) -> Result<&'a Value, Failure> {
    let is_it = |tool: &&Value| text(tool, "name") == wanted || text(tool, "functionName") == wanted;
    tools.iter().find(is_it).ok_or_else(|| {
        let meant = did_you_mean(wanted, tools.iter().map(|tool| text(tool, "name")));
        Failure::new(
            Exit::Refused,
            format!("this token sees no tool called {wanted}{meant}"),
        )
        .next("`toolgate tools` lists the tools this token may see")
    })
}

/// The page about it.
pub(super) fn page(tool: &Value) -> Vec<String> {
    let mut lines = vec![
        format!("{}: {}", text(tool, "name"), text(tool, "title")),
        String::new(),
        text(tool, "description").into(),
        String::new(),
        format!("freshness: {}", text(tool, "freshness")),
        String::new(),
    ];
    lines.extend(arguments(tool));
    lines.extend([
        String::new(),
        "example:".into(),
        format!("  {}", example(tool)),
        String::new(),
    ]);
    lines.extend(targets(tool));
    lines
}

fn arguments(tool: &Value) -> Vec<String> {
    let named: Vec<(&String, &Value)> = properties(tool).collect();
    if named.is_empty() {
        return vec!["arguments: none".into()];
    }
    let width = named.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = vec!["arguments:".into()];
    for (name, schema) in named {
        let need = if is_required(tool, name) {
            "required"
        } else {
            "optional"
        };
        let mut facts = vec![kind(schema), need.into()];
        facts.extend(range(schema));
        lines.push(format!("  {name:<width$}  {}", facts.join(", ")));
        if !text(schema, "description").is_empty() {
            lines.push(format!("  {:width$}  {}", "", text(schema, "description")));
        }
    }
    lines
}

fn properties(tool: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = tool["inputSchema"]["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != TARGET)
}

fn is_required(tool: &Value, name: &str) -> bool {
    list(&tool["inputSchema"], "required")
        .iter()
        .any(|required| required == name)
}

fn kind(schema: &Value) -> String {
    match &schema["type"] {
        Value::Array(several) => several
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        one => one.as_str().unwrap_or("any value").into(),
    }
}

// What the schema allows, in words; a keyword that is not there says nothing.
fn range(schema: &Value) -> Vec<String> {
    let words = [
        between("from", &schema["minimum"], "to", &schema["maximum"], ""),
        between(
            "from",
            &schema["minLength"],
            "to",
            &schema["maxLength"],
            " characters",
        ),
        between("from", &schema["minItems"], "to", &schema["maxItems"], " entries"),
        one_of(list(schema, "enum")),
        schema["pattern"]
            .as_str()
            .map(|pattern| format!("fits {pattern}")),
        (!schema["default"].is_null()).then(|| format!("default {}", word(&schema["default"]))),
    ];
    words.into_iter().flatten().collect()
}

fn between(from: &str, least: &Value, to: &str, most: &Value, what: &str) -> Option<String> {
    match (least.is_number(), most.is_number()) {
        (true, true) => Some(format!("{from} {least} {to} {most}{what}")),
        (true, false) => Some(format!("{least}{what} or more")),
        (false, true) => Some(format!("{most}{what} or less")),
        (false, false) => None,
    }
}

fn one_of(values: &[Value]) -> Option<String> {
    let words: Vec<String> = values.iter().map(word).collect();
    (!words.is_empty()).then(|| format!("one of {}", words.join(", ")))
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

// Every required argument, with the schema's own example where there is one.
fn example(tool: &Value) -> String {
    let mut line = format!("toolgate call {}", text(tool, "name"));
    for (name, schema) in properties(tool).filter(|(name, _)| is_required(tool, name)) {
        let value = list(schema, "examples")
            .first()
            .or_else(|| list(schema, "enum").first())
            .map_or_else(|| name.to_uppercase(), word);
        line.push_str(&format!(" --arg {name}={}", shell_word(&value)));
    }
    if let [first, _, ..] = list(tool, "targets") {
        line.push_str(&format!(" --target {}", shell_word(text(first, "name"))));
    }
    line
}

fn targets(tool: &Value) -> Vec<String> {
    let targets = list(tool, "targets");
    if targets.is_empty() {
        return vec!["targets: none of its type is configured".into()];
    }
    let lines = targets
        .iter()
        .map(|target| format!("  {} ({})", text(target, "name"), text(target, "id")));
    ["targets:".into()].into_iter().chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool() -> Value {
        json!({
            "name": "proxmox.get_vm_status", "functionName": "proxmox_get_vm_status", "title": "Get one VM",
            "description": "Tells it.", "freshness": "live",
            "inputSchema": {"required": ["vmid", "node"], "properties": {
                "vmid": {"type": "integer", "minimum": 1, "maximum": 999, "description": "Its number.", "examples": [100]},
                "node": {"type": "string", "minLength": 1, "maxLength": 9},
                "kind": {"type": ["string", "null"], "enum": ["qemu", "lxc"], "default": "qemu"},
                "share": {"type": "number", "maximum": 1},
                "name": {"pattern": "^a+$"},
                "target_id": {"type": "string"},
            }},
            "targets": [{"id": "01A", "name": "lab one"}, {"id": "01B", "name": "b"}],
        })
    }

    #[test]
    fn a_tool_is_told_with_its_arguments_an_example_and_its_targets() {
        let expected = "\
proxmox.get_vm_status: Get one VM

Tells it.

freshness: live

arguments:
  vmid   integer, required, from 1 to 999
         Its number.
  node   string, required, from 1 to 9 characters
  kind   string or null, optional, one of qemu, lxc, default qemu
  share  number, optional, 1 or less
  name   any value, optional, fits ^a+$

example:
  toolgate call proxmox.get_vm_status --arg vmid=100 --arg node=NODE --target 'lab one'

targets:
  lab one (01A)
  b (01B)";
        assert_eq!(page(&tool()).join("\n"), expected);
    }

    #[test]
    fn a_tool_without_arguments_and_targets_says_so() {
        let tool = json!({"name": "a.b", "inputSchema": {"properties": {"target_id": {}}}});
        let page = page(&tool).join("\n");
        assert!(page.contains("\narguments: none\n"), "{page}");
        assert!(page.contains("\n  toolgate call a.b\n"), "{page}");
        assert!(
            page.ends_with("targets: none of its type is configured"),
            "{page}"
        );
    }

    #[test]
    fn a_tool_is_found_by_both_its_names_and_a_slip_names_the_nearest() {
        let tools = [tool()];
        assert!(find(&tools, "proxmox.get_vm_status").is_ok());
        assert!(find(&tools, "proxmox_get_vm_status").is_ok());
        let missing = find(&tools, "proxmox.get_vm_statu").unwrap_err();
        assert!(
            missing.message.ends_with("did you mean `proxmox.get_vm_status`?"),
            "{missing:?}"
        );
    }
}
