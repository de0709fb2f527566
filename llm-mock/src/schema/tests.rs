use serde_json::{Value, json};

use super::check;

#[test]
fn parameters_are_an_object_with_properties() {
    assert_eq!(
        check("a", &json!({"type": "object", "properties": {}}), false),
        Ok(())
    );
    for schema in [
        json!({}),
        json!({"type": "object"}),
        json!({"type": "array"}),
        json!([]),
        json!("x"),
    ] {
        assert!(check("a", &schema, false).is_err(), "{schema}");
    }
}

#[test]
fn strict_takes_the_narrow_subset_only() {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let good = [
        object(json!({}), json!([])),
        object(json!({"a": {"type": ["string", "null"]}}), json!(["a"])),
        object(
            json!({"a": {"anyOf": [object(json!({}), json!([])), {"type": "null"}]}}),
            json!(["a"]),
        ),
        object(
            json!({"a": {"type": "array", "items": object(json!({"b": {"type": "string"}}), json!(["b"]))}}),
            json!(["a"]),
        ),
    ];
    for schema in good {
        assert_eq!(check("a", &schema, true), Ok(()), "{schema}");
    }
    let mut open = object(json!({}), json!([]));
    open["additionalProperties"] = json!(true);
    let mut rooted = object(json!({}), json!([]));
    rooted["anyOf"] = json!([]);
    let bad = [
        open,
        rooted,
        json!({"type": "object", "properties": {}}),
        object(json!({"a": {"type": "string"}}), json!([])),
        object(json!({"a": {"allOf": []}}), json!(["a"])),
        object(
            json!({"a": {"$ref": "#/$defs/a", "description": "x"}}),
            json!(["a"]),
        ),
        object(
            json!({"a": {"type": "array", "items": {"type": "object", "properties": {}}}}),
            json!(["a"]),
        ),
    ];
    for schema in bad {
        assert!(check("a", &schema, true).is_err(), "{schema}");
        assert_eq!(check("a", &schema, false), Ok(()), "{schema}");
    }
}
