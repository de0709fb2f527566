//! Component schemas of messages, in camelCase as REST writes them.

use std::collections::BTreeMap;

use prost_reflect::{DescriptorPool, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use super::super::{comments, options::Options};
use super::reference;

/// Writes schemas of messages; those that are referred to become components.
pub(crate) struct Components<'a> {
    pool: &'a DescriptorPool,
    options: &'a Options,
    /// Messages by the name under which schemas refer to them.
    named: BTreeMap<String, MessageDescriptor>,
}

impl<'a> Components<'a> {
    pub(crate) fn new(pool: &'a DescriptorPool, options: &'a Options) -> Self {
        let ours = pool
            .all_messages()
            .filter(|message| !message.package_name().starts_with("google."));
        let named = ours.map(|message| (message.name().to_owned(), message)).collect();
        Self { pool, options, named }
    }

    /// A reference to the schema of a message.
    pub(crate) fn reference(&self, full_name: &str) -> Value {
        reference(full_name.rsplit('.').next().unwrap_or(full_name))
    }

    /// The schema of a message itself, without some of its fields.
    pub(crate) fn object(&self, full_name: &str, except: &[&str]) -> Value {
        match self.pool.get_message_by_name(full_name) {
            Some(message) => self.schema(&message, except),
            None => json!({}),
        }
    }

    /// Whether every field of a message may be left out, and with them the body that it is.
    pub(crate) fn may_be_left_out(&self, full_name: &str) -> bool {
        let message = self.pool.get_message_by_name(full_name);
        let is_optional = |field: FieldDescriptor| field.supports_presence() && !field.is_list();
        message.is_some_and(|message| message.fields().all(is_optional))
    }

    /// The comment of a message.
    pub(crate) fn description(&self, full_name: &str) -> String {
        let message = self.pool.get_message_by_name(full_name);
        let comment = message.map(|message| comments::at(&message.parent_file(), message.path()));
        comment
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| "Done.".into())
    }

    /// The single scalar fields of a message: name, JSON name, schema and comment.
    pub(crate) fn scalars(&self, full_name: &str) -> Vec<(String, String, Value, String)> {
        let Some(message) = self.pool.get_message_by_name(full_name) else {
            return Vec::new();
        };
        let single = |field: &FieldDescriptor| !field.is_list() && !matches!(field.kind(), Kind::Message(_));
        let parts = |field: FieldDescriptor| {
            let schema = self.scalar(&field);
            (
                field.name().to_owned(),
                field.json_name().to_owned(),
                schema,
                comments::of_field(&field),
            )
        };
        message.fields().filter(single).map(parts).collect()
    }

    /// Every schema that a part of the document refers to, with those they refer to; `by_hand` comes before messages.
    pub(crate) fn referred_to(&self, document: &Value, by_hand: &Map<String, Value>) -> Map<String, Value> {
        let mut schemas = Map::new();
        let mut open = references(document);
        while let Some(name) = open.pop() {
            if schemas.contains_key(&name) {
                continue;
            }
            let from_message = || self.named.get(&name).map(|message| self.schema(message, &[]));
            let schema = by_hand
                .get(&name)
                .cloned()
                .or_else(from_message)
                .unwrap_or_else(|| json!({}));
            open.extend(references(&schema));
            schemas.insert(name, schema);
        }
        schemas
    }

    fn schema(&self, message: &MessageDescriptor, except: &[&str]) -> Value {
        let is_request = message.name().ends_with("Request");
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in message.fields().filter(|field| !except.contains(&field.name())) {
            let mut schema = self.field(&field);
            schema["description"] = comments::of_field(&field).into();
            if always_there(&field, is_request) {
                required.push(field.json_name().to_owned());
            }
            properties.insert(field.json_name().to_owned(), schema);
        }
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    fn field(&self, field: &FieldDescriptor) -> Value {
        if field.is_map() {
            return json!({"type": "object", "additionalProperties": {"type": "string"}});
        }
        let value = match field.kind() {
            Kind::Message(message) => reference(message.name()),
            _ => self.scalar(field),
        };
        if field.is_list() {
            json!({"type": "array", "items": value})
        } else {
            value
        }
    }

    fn scalar(&self, field: &FieldDescriptor) -> Value {
        match field.kind() {
            Kind::Bool => json!({"type": "boolean"}),
            Kind::Double | Kind::Float => json!({"type": "number"}),
            Kind::Bytes if self.options.json(&field.options()) => json!({}),
            Kind::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => json!({"type": "integer", "format": "int64"}),
            Kind::Uint64 | Kind::Fixed64 => json!({"type": "integer", "format": "uint64", "minimum": 0}),
            Kind::Uint32 | Kind::Fixed32 => json!({"type": "integer", "minimum": 0}),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => json!({"type": "integer"}),
            Kind::String | Kind::Enum(_) | Kind::Message(_) => json!({"type": "string"}),
        }
    }
}

/// A single text without `optional` must be sent; everything without `optional` but JSON and messages is always
/// written, empty or not.
fn always_there(field: &FieldDescriptor, is_request: bool) -> bool {
    let plain = !field.supports_presence() && !matches!(field.kind(), Kind::Message(_) | Kind::Bytes);
    if is_request {
        plain && !field.is_list()
    } else {
        plain || (field.is_list() && !field.is_map())
    }
}

fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str);
            let own = own
                .and_then(|path| path.strip_prefix("#/components/schemas/"))
                .map(str::to_owned);
            own.into_iter().chain(map.values().flat_map(references)).collect()
        }
        Value::Array(list) => list.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
