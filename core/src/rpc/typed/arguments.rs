//! From a typed request to the arguments that any other caller would have sent.
//!
//! As proto JSON, but: fields have the names under which their arguments are published, 64-bit integers are numbers, and
//! bytes marked `(toolgate.v1.json)` are the JSON value that they hold, as it was written.

use std::collections::HashMap;

use data_encoding::BASE64;
use prost_reflect::{DynamicMessage, ExtensionDescriptor, FieldDescriptor, MapKey, MessageDescriptor, Value};
use serde_json::value::RawValue;
use toolgate_contract::pool;

/// What the contract says of the fields of a request and of the messages in it, looked up once.
#[derive(Debug)]
pub(super) struct Shape(HashMap<(String, u32), Facts>);

#[derive(Debug)]
struct Facts {
    name: String,
    is_json: bool,
}

impl Shape {
    /// Of this request.
    pub(super) fn of(request: &MessageDescriptor) -> Self {
        let find = |name: &str| pool().get_extension_by_name(name);
        let options = (find("toolgate.v1.json"), find("toolgate.v1.rules"));
        let mut shape = Self(HashMap::new());
        shape.take(request, &options);
        shape
    }

    /// The request as one JSON object.
    ///
    /// # Errors
    /// The field that cannot be one of it.
    pub(super) fn arguments(&self, request: &DynamicMessage) -> Result<Vec<u8>, String> {
        let mut json = String::new();
        self.message(request, &mut json)?;
        Ok(json.into_bytes())
    }

    fn take(
        &mut self,
        message: &MessageDescriptor,
        options: &(Option<ExtensionDescriptor>, Option<ExtensionDescriptor>),
    ) {
        for field in message.fields() {
            if self.0.contains_key(&key(&field)) {
                continue;
            }
            self.0.insert(key(&field), facts(&field, options));
            if let Some(inner) = field.kind().as_message() {
                self.take(inner, options);
            }
        }
    }

    fn message(&self, message: &DynamicMessage, json: &mut String) -> Result<(), String> {
        json.push('{');
        for (n, (field, value)) in message.fields().enumerate() {
            let known = self.0.get(&key(&field));
            if n > 0 {
                json.push(',');
            }
            json.push_str(&quoted(known.map_or(field.name(), |facts| &facts.name)));
            json.push(':');
            self.value(&field, value, known.is_some_and(|facts| facts.is_json), json)?;
        }
        json.push('}');
        Ok(())
    }

    fn value(
        &self,
        field: &FieldDescriptor,
        value: &Value,
        is_json: bool,
        json: &mut String,
    ) -> Result<(), String> {
        match value {
            Value::Bool(yes) => json.push_str(&yes.to_string()),
            Value::I32(n) => json.push_str(&n.to_string()),
            Value::I64(n) => json.push_str(&n.to_string()),
            Value::U32(n) => json.push_str(&n.to_string()),
            Value::U64(n) => json.push_str(&n.to_string()),
            Value::F32(n) => json.push_str(&number(field, f64::from(*n))?),
            Value::F64(n) => json.push_str(&number(field, *n)?),
            Value::String(text) => json.push_str(&quoted(text)),
            Value::Bytes(bytes) if is_json => {
                let raw: &RawValue = serde_json::from_slice(bytes)
                    .map_err(|_| format!("the field {} must hold one JSON value", field.name()))?;
                json.push_str(raw.get());
            }
            Value::Bytes(bytes) => json.push_str(&quoted(&BASE64.encode(bytes))),
            Value::EnumNumber(n) => {
                let kind = field.kind();
                let named = kind.as_enum().and_then(|kind| kind.get_value(*n));
                json.push_str(&named.map_or_else(|| n.to_string(), |value| quoted(value.name())));
            }
            Value::Message(message) => self.message(message, json)?,
            Value::List(values) => {
                json.push('[');
                for (n, value) in values.iter().enumerate() {
                    if n > 0 {
                        json.push(',');
                    }
                    self.value(field, value, is_json, json)?;
                }
                json.push(']');
            }
            Value::Map(entries) => self.map(field, entries, json)?,
        }
        Ok(())
    }

    fn map(
        &self,
        field: &FieldDescriptor,
        entries: &HashMap<MapKey, Value>,
        json: &mut String,
    ) -> Result<(), String> {
        json.push('{');
        for (n, (key, value)) in entries.iter().enumerate() {
            let name = match key {
                MapKey::Bool(yes) => yes.to_string(),
                MapKey::I32(n) => n.to_string(),
                MapKey::I64(n) => n.to_string(),
                MapKey::U32(n) => n.to_string(),
                MapKey::U64(n) => n.to_string(),
                MapKey::String(text) => text.clone(),
            };
            if n > 0 {
                json.push(',');
            }
            json.push_str(&quoted(&name));
            json.push(':');
            self.value(field, value, false, json)?;
        }
        json.push('}');
        Ok(())
    }
}

fn facts(
    field: &FieldDescriptor,
    (json, rules): &(Option<ExtensionDescriptor>, Option<ExtensionDescriptor>),
) -> Facts {
    let options = field.options();
    let is_json = json
        .as_ref()
        .is_some_and(|json| options.get_extension(json).as_bool() == Some(true));
    let published = rules.as_ref().and_then(|rules| {
        let rules = options.get_extension(rules);
        let name = rules
            .as_message()?
            .get_field_by_name("name")?
            .as_str()?
            .to_owned();
        (!name.is_empty()).then_some(name)
    });
    Facts {
        name: published.unwrap_or_else(|| field.name().to_owned()),
        is_json,
    }
}

fn key(field: &FieldDescriptor) -> (String, u32) {
    (field.parent_message().full_name().to_owned(), field.number())
}

// JSON has no other numbers.
fn number(field: &FieldDescriptor, n: f64) -> Result<String, String> {
    serde_json::Number::from_f64(n)
        .map(|n| n.to_string())
        .ok_or_else(|| format!("the field {} must hold a finite number", field.name()))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use prost_reflect::ReflectMessage;
    use toolgate_contract::registry;

    use super::*;

    fn filled(tool: &str, fill: impl FnOnce(&mut DynamicMessage)) -> Result<String, String> {
        let tool = registry::tool(tool).unwrap();
        let request = pool().get_message_by_name(tool.input_message).unwrap();
        let mut message = DynamicMessage::new(request.clone());
        fill(&mut message);
        let json = Shape::of(&request).arguments(&message)?;
        Ok(String::from_utf8(json).unwrap())
    }

    fn bytes(text: &str) -> Value {
        Value::Bytes(text.as_bytes().to_vec().into())
    }

    #[test]
    fn bytes_that_hold_json_are_arguments_as_they_were_written() {
        let metadata = r#"{"n": 9007199254740993, "x": 1.50}"#;
        let patch = filled("patch_entity", |message| {
            message.set_field_by_name("id", Value::String("a \"b\"".into()));
            message.set_field_by_name("patch", bytes(metadata));
        });
        assert_eq!(
            patch.unwrap(),
            format!(r#"{{"id":"a \"b\"","patch":{metadata}}}"#)
        );
        let memory = filled("create_memory", |message| {
            let pair = (MapKey::String("k".into()), Value::String("v".into()));
            message.set_field_by_name("metadata", Value::Map([pair].into()));
        });
        assert_eq!(memory.unwrap(), r#"{"metadata":{"k":"v"}}"#);
        let community = filled("code_communities", |message| {
            message.set_field_by_name("community", bytes("\"3\""))
        });
        assert_eq!(community.unwrap(), r#"{"community":"3"}"#);
        let broken = filled("code_communities", |message| {
            message.set_field_by_name("community", bytes("3 4"))
        });
        assert_eq!(
            broken.unwrap_err(),
            "the field community must hold one JSON value"
        );
    }

    #[test]
    fn json_within_items_is_raw_as_well() {
        let bulk = filled("bulk_create_memories", |message| {
            let field = message.descriptor().get_field_by_name("items").unwrap();
            let mut item = DynamicMessage::new(field.kind().as_message().unwrap().clone());
            item.set_field_by_name("text", Value::String("a".into()));
            item.set_field_by_name("metadata", bytes(r#"{"k":"v"}"#));
            message.set_field_by_name("items", Value::List(vec![Value::Message(item)]));
            message.set_field_by_name("reconcile_files", Value::Bool(false));
        });
        assert_eq!(
            bulk.unwrap(),
            r#"{"items":[{"text":"a","metadata":{"k":"v"}}],"reconcile_files":false}"#
        );
    }

    #[test]
    fn fields_have_the_names_of_their_arguments_and_integers_are_exact() {
        let update = filled("task_update", |message| {
            message.set_field_by_name("result_summary", Value::String("done".into()));
        });
        assert_eq!(update.unwrap(), r#"{"resultSummary":"done"}"#);
        let log = filled("chat_get_log", |message| {
            message.set_field_by_name("room_id", Value::String("r".into()));
            message.set_field_by_name("after", Value::I64(9_007_199_254_740_993));
        });
        assert_eq!(log.unwrap(), r#"{"room_id":"r","after":9007199254740993}"#);
        let near = filled("code_callers", |message| {
            message.set_field_by_name("min_confidence", Value::F64(f64::NAN));
        });
        assert_eq!(
            near.unwrap_err(),
            "the field min_confidence must hold a finite number"
        );
    }

    #[test]
    fn every_field_of_every_tool_has_the_name_of_an_argument() {
        for tool in registry::TOOLS {
            let request = pool().get_message_by_name(tool.input_message).unwrap();
            let shape = Shape::of(&request);
            let schema: serde_json::Value = serde_json::from_str(tool.input_schema).unwrap();
            for field in request.fields() {
                let name = &shape.0[&key(&field)].name;
                assert!(!schema["properties"][name].is_null(), "{}: {name}", tool.name);
            }
        }
    }
}
