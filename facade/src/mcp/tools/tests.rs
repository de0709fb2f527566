use serde_json::{Value, json};
use toolgate_contract::v1::ToolAnnotations;

use super::*;

fn tool() -> ToolDescription {
    ToolDescription {
        name: "proxmox.list_vms".into(),
        function_name: "proxmox_list_vms".into(),
        title: "List VMs".into(),
        description: "Lists the virtual machines.".into(),
        input_schema: Bytes::from_static(b"{\"type\":\"object\",\n\"z\":1,\"a\":9007199254740993}"),
        output_schema: Bytes::from_static(b"{\"type\":\"object\"}"),
        annotations: Some(ToolAnnotations { read_only_hint: true }),
        adapter_type: "proxmox".into(),
        freshness: "inventory".into(),
        targets: vec![TargetChoice {
            id: "01T".into(),
            name: "web-1".into(),
        }],
        ..Default::default()
    }
}

fn listed(tool: ToolDescription, names: ToolNames) -> (String, Value) {
    let answer = ListToolsResponse {
        tools: vec![tool],
        ..Default::default()
    };
    let written = write(&answer, names, &ServerInfo::new("9")).unwrap();
    let text = String::from_utf8(written.tools.to_vec()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert!(!text.contains('\n'));
    (text, json[0].clone())
}

#[test]
fn a_tool_is_listed_with_everything_a_client_and_a_model_need() {
    let (text, json) = listed(tool(), ToolNames::Underscore);
    assert_eq!(
        json,
        json!({
            "name": "proxmox_list_vms",
            "title": "List VMs",
            "description": "Lists the virtual machines.",
            "inputSchema": {"type": "object", "z": 1, "a": 9_007_199_254_740_993_u64},
            "outputSchema": {"type": "object"},
            "annotations": {"title": "List VMs", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": true},
            "_meta": {"toolgate/name": "proxmox.list_vms", "toolgate/freshness": "inventory",
                "toolgate/targets": [{"id": "01T", "name": "web-1"}]},
        })
    );
    // Report #19, and rmcp's alphabetical schemas: nothing is taken away or put in another order.
    assert!(
        text.contains(r#"{"type":"object", "z":1,"a":9007199254740993}"#),
        "{text}"
    );
}

#[test]
fn names_are_spelt_as_the_operator_chose() {
    assert_eq!(listed(tool(), ToolNames::Canonical).1["name"], "proxmox.list_vms");
    let unnamed = ToolDescription {
        function_name: String::new(),
        ..tool()
    };
    assert_eq!(
        listed(unnamed, ToolNames::Underscore).1["name"],
        "proxmox.list_vms"
    );
}

/// Report #20: a schema of nothing would make clients wait for a structured part.
#[test]
fn what_a_tool_does_not_have_is_left_out() {
    let bare = ToolDescription {
        name: "note".into(),
        function_name: "note".into(),
        description: "Notes.".into(),
        ..Default::default()
    };
    assert_eq!(
        listed(bare, ToolNames::Underscore).1,
        json!({"name": "note", "description": "Notes.", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": false, "openWorldHint": false},
            "_meta": {"toolgate/name": "note"}})
    );
}

#[test]
fn a_schema_that_is_no_json_fails_the_list() {
    let broken = ListToolsResponse {
        tools: vec![ToolDescription {
            input_schema: Bytes::from_static(b"{"),
            ..tool()
        }],
        ..Default::default()
    };
    assert!(write(&broken, ToolNames::Underscore, &ServerInfo::new("9")).is_err());
}
