//! The published schemas: valid, closed, and neither wider nor narrower than the messages behind them.

use data_encoding::BASE64;
use prost_reflect::{DeserializeOptions, DynamicMessage, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};
use toolgate_contract::{
    pool,
    registry::{self, Group, TOOLS, ToolDef},
};

fn input(tool: &ToolDef) -> Value {
    serde_json::from_str(tool.input_schema).expect("a schema is JSON")
}

/// The schema of its structured result, of a tool that promises one: tools of infrastructure and those about the fleet
/// do, no other does.
fn output(tool: &ToolDef) -> Option<Value> {
    let promises = tool.is_infrastructure() || tool.group == Some(Group::Fleet);
    assert_eq!(tool.output_schema.is_empty(), !promises, "{}", tool.name);
    promises.then(|| serde_json::from_str(tool.output_schema).expect("a schema is JSON"))
}

#[track_caller]
fn check(tool: &str, arguments: Value, expected: bool) {
    let tool = registry::tool(tool).expect("a registered tool");
    let validator = jsonschema::draft202012::new(&input(tool)).expect("a valid schema");
    assert_eq!(
        validator.is_valid(&arguments),
        expected,
        "{} {arguments}",
        tool.name
    );
}

#[test]
fn every_schema_is_a_valid_one_of_2020_12() {
    for tool in TOOLS {
        for schema in output(tool).into_iter().chain([input(tool)]) {
            // It goes without saying where every model that reads the schema would pay for it.
            if tool.is_infrastructure() {
                assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            }
            assert!(jsonschema::draft202012::meta::is_valid(&schema), "{}", tool.name);
        }
    }
}

#[test]
fn no_argument_is_asked_for_in_a_header() {
    for tool in TOOLS {
        assert!(!tool.input_schema.contains("x-mcp-header"), "{}", tool.name);
    }
}

#[test]
fn every_object_is_closed_and_every_property_described() {
    fn walk(schema: &Value, tool: &str) {
        if schema["type"] == "object" && schema.get("properties").is_some() {
            assert_eq!(schema["additionalProperties"], false, "{tool}");
            for (name, property) in schema["properties"].as_object().expect("properties") {
                assert!(
                    property["description"]
                        .as_str()
                        .is_some_and(|text| text.len() > 3),
                    "{tool}: {name}"
                );
                walk(property, tool);
            }
        }
        if schema["type"] == "array" {
            walk(&schema["items"], tool);
        }
    }
    for tool in TOOLS {
        for schema in output(tool).into_iter().chain([input(tool)]) {
            assert!(schema.get("properties").is_some(), "{}", tool.name);
            walk(&schema, tool.name);
        }
    }
}

#[test]
fn target_id_is_an_optional_argument_of_every_infrastructure_tool() {
    for tool in TOOLS.iter().filter(|tool| tool.is_infrastructure()) {
        let schema = input(tool);
        assert_eq!(
            schema["properties"]["target_id"]["type"], "string",
            "{}",
            tool.name
        );
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        assert!(!required.contains(&json!("target_id")), "{}", tool.name);
        let message = pool()
            .get_message_by_name(tool.input_message)
            .expect("the message is there");
        assert!(message.get_field_by_name("target_id").is_none(), "{}", tool.name);
    }
}

#[test]
fn the_arguments_are_those_of_the_specification() {
    let arguments = |tool: &str| {
        let schema = input(registry::tool(tool).expect("a registered tool"));
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().expect("properties");
        let mark = |name: &String| {
            if required.contains(&json!(name)) {
                format!("{name}!")
            } else {
                name.clone()
            }
        };
        properties.keys().map(mark).collect::<Vec<_>>().join(" ")
    };
    for (tool, expected) in [
        ("proxmox.list_vms", "node type status target_id"),
        ("proxmox.get_vm_status", "vmid! node target_id"),
        ("proxmox.get_node_metrics", "node! timeframe target_id"),
        ("ssh.run_whitelisted_command", "command! target_id"),
        ("github.list_repos", "org visibility limit cursor target_id"),
        (
            "github.get_recent_ci_runs",
            "owner! repo! branch event status limit cursor target_id",
        ),
        ("github.get_workflow_run", "owner! repo! run_id! target_id"),
        ("gitea.list_repos", "owner limit cursor target_id"),
        (
            "gitea.get_recent_ci_runs",
            "owner! repo! branch event status limit cursor target_id",
        ),
    ] {
        assert_eq!(arguments(tool), expected, "{tool}");
    }
}

#[test]
fn lists_answer_whether_there_is_more() {
    for tool in TOOLS
        .iter()
        .filter(|tool| tool.name.contains("list_") || tool.name.contains("recent"))
    {
        let Some(schema) = output(tool) else { continue };
        // A tenant's projects are told whole, as its targets are.
        if tool.group == Some(Group::Fleet) {
            continue;
        }
        assert_eq!(schema["properties"]["more"]["type"], "boolean", "{}", tool.name);
        assert_eq!(
            schema["properties"]["next_cursor"]["type"], "string",
            "{}",
            tool.name
        );
    }
}

#[test]
fn arguments_within_the_rules_are_accepted() {
    check("proxmox.list_vms", json!({}), true);
    check(
        "proxmox.list_vms",
        json!({"node": "pve1", "type": "lxc", "status": "running", "target_id": "t"}),
        true,
    );
    for vmid in [1, 100, 999_999_999] {
        check("proxmox.get_vm_status", json!({"vmid": vmid}), true);
    }
    check(
        "proxmox.get_node_metrics",
        json!({"node": "pve1", "timeframe": "year"}),
        true,
    );
    check(
        "ssh.run_whitelisted_command",
        json!({"command": "rm -rf /"}),
        true,
    );
    for limit in [1, 100] {
        check("github.list_repos", json!({"limit": limit}), true);
    }
    check(
        "github.get_workflow_run",
        json!({"owner": "a", "repo": ".github", "run_id": 9_007_199_254_740_993_u64}),
        true,
    );
    for repo in ["a", ".a", "..a", "...", "a..", "_", "-"] {
        check(
            "gitea.get_recent_ci_runs",
            json!({"owner": "a", "repo": repo}),
            true,
        );
    }
}

#[test]
fn arguments_outside_the_rules_are_refused() {
    check("proxmox.list_vms", json!({"type": "vm"}), false);
    check("proxmox.list_vms", json!({"node": "../x"}), false);
    check("proxmox.list_vms", json!({"node": "pve1\n"}), false);
    check("proxmox.list_vms", json!({"method": "POST"}), false);
    check("proxmox.list_vms", json!({"target_id": 7}), false);
    check("proxmox.get_vm_status", json!({}), false);
    for vmid in [
        json!(0),
        json!(1_000_000_000),
        json!("100"),
        json!(1.5),
        json!(null),
        json!(-1),
    ] {
        check("proxmox.get_vm_status", json!({"vmid": vmid}), false);
    }
    check(
        "proxmox.get_node_metrics",
        json!({"node": "pve1", "timeframe": "decade"}),
        false,
    );
    check("ssh.run_whitelisted_command", json!({"command": ""}), false);
    check(
        "ssh.run_whitelisted_command",
        json!({"command": "a".repeat(301)}),
        false,
    );
    for limit in [0, 101] {
        check("github.list_repos", json!({"limit": limit}), false);
    }
    check("gitea.list_repos", json!({"limit": 51}), false);
    for repo in ["", ".", "..", "a/b", "a b", "%2e%2e", "a\n", "é"] {
        check(
            "github.get_recent_ci_runs",
            json!({"owner": "a", "repo": repo}),
            false,
        );
        check(
            "gitea.get_recent_ci_runs",
            json!({"owner": "a", "repo": repo}),
            false,
        );
    }
    for owner in ["", ".", "..", "../a", "a/b", "a?b"] {
        check("gitea.list_repos", json!({"owner": owner}), false);
        check("github.list_repos", json!({"org": owner}), false);
    }
    check(
        "github.get_workflow_run",
        json!({"owner": "a", "repo": "b", "run_id": u64::MAX}),
        false,
    );
}

#[test]
fn what_the_schema_accepts_the_message_can_hold() {
    for tool in TOOLS {
        let output = output(tool).map(|schema| (schema, tool.output_message));
        for (schema, message) in output.into_iter().chain([(input(tool), tool.input_message)]) {
            let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
            for pick in [Pick::Least, Pick::Most] {
                let mut instance = sample(&schema, pick);
                assert!(validator.is_valid(&instance), "{}: {instance}", tool.name);
                if message == tool.input_message {
                    instance.as_object_mut().expect("an object").remove("target_id");
                }
                let descriptor = pool().get_message_by_name(message).expect("the message is there");
                spell_raw(&descriptor, &mut instance);
                let options = DeserializeOptions::new().deny_unknown_fields(true);
                DynamicMessage::deserialize_with_options(descriptor, instance.clone(), &options)
                    .unwrap_or_else(|error| panic!("{}: {error}: {instance}", tool.name));
            }
        }
    }
}

/// Values spliced raw are bytes to a message, and base64 in its JSON; so are names that proto spells in its own way.
fn spell_raw(message: &MessageDescriptor, instance: &mut Value) {
    let object = instance.as_object_mut().expect("an object");
    for field in message.fields() {
        let Some(value) = [field.name(), field.json_name()]
            .into_iter()
            .find_map(|name| object.get(name))
        else {
            continue;
        };
        let mut value = value.clone();
        match field.kind() {
            Kind::Bytes => value = BASE64.encode(value.to_string().as_bytes()).into(),
            Kind::Message(inner) if field.is_list() => {
                let items = value.as_array_mut().expect("a list");
                items.iter_mut().for_each(|item| spell_raw(&inner, item));
            }
            _ => {}
        }
        let name = match object.contains_key(field.name()) {
            true => field.name(),
            false => field.json_name(),
        };
        object.insert(name.to_owned(), value);
    }
}

/// Which end of a range to take.
#[derive(Clone, Copy)]
enum Pick {
    Least,
    Most,
}

/// An instance with every property of a schema, at one end of its range.
fn sample(schema: &Value, pick: Pick) -> Value {
    let given = schema
        .get("examples")
        .and_then(|examples| examples.get(0))
        .or(schema.get("default"));
    match schema["type"].as_str().unwrap_or("string") {
        "object" => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return json!({"a": "b"});
            };
            let each = |(name, schema): (&String, &Value)| (name.clone(), sample(schema, pick));
            Value::Object(properties.iter().map(each).collect::<Map<_, _>>())
        }
        "array" => json!([sample(&schema["items"], pick)]),
        "boolean" => json!(true),
        "number" => json!(0.5),
        "integer" => match pick {
            Pick::Least => schema.get("minimum").cloned().unwrap_or(json!(0)),
            Pick::Most => schema.get("maximum").cloned().unwrap_or(json!(i32::MAX)),
        },
        _ => given
            .or(schema["enum"].get(0))
            .cloned()
            .unwrap_or_else(|| json!("x")),
    }
}
