//! The JSON Schema of `toolgate.toml`, for editors.

use serde_json::{Map, Value, json};

use super::{
    key::{Key, Kind},
    keys::KEYS,
};

/// The schema, as JSON Schema 2020-12.
pub(crate) fn schema() -> Value {
    let mut root = object("Configuration of Toolgate (toolgate.toml).");
    root.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    let mut root = Value::Object(root);
    for key in KEYS {
        insert(&mut root, key.name, property(key));
    }
    root
}

fn insert(node: &mut Value, name: &str, property: Value) {
    let properties = &mut node["properties"];
    match name.split_once('.') {
        Some((table, rest)) => {
            if properties.get(table).is_none() {
                properties[table] = Value::Object(object(&format!("Table `{table}`.")));
            }
            insert(&mut properties[table], rest, property);
        }
        None => properties[name] = property,
    }
}

fn object(description: &str) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("type".into(), json!("object"));
    object.insert("description".into(), json!(description));
    object.insert("additionalProperties".into(), json!(false));
    object.insert("properties".into(), json!({}));
    object
}

fn property(key: &Key) -> Value {
    let mut property = match key.kind {
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Number { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::Choice(words) => json!({"type": "string", "enum": words}),
        Kind::Text { max } => json!({"type": "string", "maxLength": max}),
        Kind::Url => json!({"type": "string", "pattern": "^(https?://.+)?$"}),
        Kind::Hosts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Roles => json!({
            "type": "array",
            "items": {"type": "string", "pattern": "^.+=(admin|engineer|auditor|agent)$"}
        }),
        Kind::Address | Kind::OptionalAddress | Kind::Path | Kind::Endpoint | Kind::Database => {
            json!({"type": "string"})
        }
    };
    property["description"] = json!(key.doc);
    property["default"] = match key.kind {
        Kind::Switch => json!(key.default == "true"),
        Kind::Number { .. } => key
            .default
            .parse::<u32>()
            .map_or(Value::Null, |number| json!(number)),
        Kind::Hosts | Kind::Roles => json!([]),
        _ => json!(key.default),
    };
    property
}
