use serde_json::Value;
use toolgate_contract::registry;

use super::{CATEGORIES, SEVERITIES};
use crate::REPORT_TOOL;

#[test]
fn what_is_counted_by_name_is_what_the_contract_lets_an_agent_say() {
    let tool = registry::tool("report_internal_issue").expect("the contract has the tool");
    assert_eq!(REPORT_TOOL.rsplit("__").next(), Some(tool.name));
    let schema: Value = serde_json::from_str(tool.input_schema).unwrap();
    let values = |field: &str| -> Vec<String> {
        let values = schema["properties"][field]["enum"].as_array().expect(field);
        values
            .iter()
            .map(|value| value.as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(values("category"), CATEGORIES);
    assert_eq!(values("severity"), SEVERITIES);
    let properties = schema["properties"].as_object().unwrap();
    let mut fields: Vec<&str> = properties.keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "category",
            "description",
            "offending_tool",
            "resource_id",
            "severity"
        ]
    );
}
