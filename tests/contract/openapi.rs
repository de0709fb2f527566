//! The OpenAPI document: the golden file freezes the five endpoints and everything beside them.

use serde_json::Value;
use toolgate_contract::registry::{OPENAPI, ROUTES};

use crate::golden;

#[test]
fn the_document_is_the_golden_one() {
    golden::check("openapi.json", OPENAPI);
}

#[test]
fn the_frozen_endpoints_are_those_of_the_contract() {
    let frozen: Vec<_> = ROUTES
        .iter()
        .filter(|route| route.frozen)
        .map(|route| (route.verb, route.path, route.success))
        .collect();
    assert_eq!(
        frozen,
        [
            ("POST", "/api/mcp/adapter", 201),
            ("DELETE", "/api/mcp/adapter/{id}", 204),
            ("PATCH", "/api/mcp/adapter/{id}", 200),
            ("POST", "/api/mcp/invoke", 202),
            ("GET", "/api/mcp/stream/{correlation_id}", 200),
            ("GET", "/api/mcp/tools", 200),
        ]
    );
}

#[test]
fn every_reference_leads_somewhere() {
    let document: Value = serde_json::from_str(OPENAPI).expect("the document is JSON");
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference
            .strip_prefix('#')
            .expect("only references within the document");
        let found = document
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{reference} leads nowhere"));
        assert_ne!(found, &serde_json::json!({}), "{reference} is an empty schema");
    }
}

#[test]
fn every_operation_has_an_id_of_its_own() {
    let document: Value = serde_json::from_str(OPENAPI).expect("the document is JSON");
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths
        .values()
        .flat_map(|verbs| verbs.as_object().expect("verbs").values());
    let mut ids: Vec<_> = operations
        .map(|operation| operation["operationId"].as_str().expect("an id"))
        .collect();
    let all = ids.len();
    assert!(all >= ROUTES.len());
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

fn collect(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            into.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| collect(value, into));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, into)),
        _ => {}
    }
}
