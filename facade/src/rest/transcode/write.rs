//! A message as JSON: camelCase, defaults written, absent optional fields and empty JSON left out.

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value};
use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use super::JsonFields;

/// Writes a message.
pub(in crate::rest) fn write(
    message: &DynamicMessage,
    json_fields: &JsonFields,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Object { message, json_fields })
}

struct Object<'a> {
    message: &'a DynamicMessage,
    json_fields: &'a JsonFields,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in self.message.descriptor().fields() {
            if field.supports_presence() && !self.message.has_field(&field) {
                continue;
            }
            let value = self.message.get_field(&field);
            if self.json_fields.contains(&field) {
                if let Value::Bytes(json) = value.as_ref()
                    && !json.is_empty()
                {
                    let raw: &RawValue = serde_json::from_slice(json).map_err(S::Error::custom)?;
                    map.serialize_entry(field.json_name(), raw)?;
                }
                continue;
            }
            let one = One {
                value: &value,
                field: &field,
                json_fields: self.json_fields,
            };
            map.serialize_entry(field.json_name(), &one)?;
        }
        map.end()
    }
}

struct One<'a> {
    value: &'a Value,
    field: &'a FieldDescriptor,
    json_fields: &'a JsonFields,
}

impl One<'_> {
    fn beside<'a>(&'a self, value: &'a Value) -> One<'a> {
        One {
            value,
            field: self.field,
            json_fields: self.json_fields,
        }
    }
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I32(value) => serializer.serialize_i32(*value),
            Value::I64(value) => serializer.serialize_i64(*value),
            Value::U32(value) => serializer.serialize_u32(*value),
            Value::U64(value) => serializer.serialize_u64(*value),
            Value::F32(value) => serializer.serialize_f32(*value),
            Value::F64(value) => serializer.serialize_f64(*value),
            Value::String(value) => serializer.serialize_str(value),
            Value::Bytes(value) => serializer.serialize_str(&data_encoding::BASE64.encode(value)),
            Value::EnumNumber(number) => match self.field.kind() {
                Kind::Enum(kind) => match kind.get_value(*number) {
                    Some(value) => serializer.serialize_str(value.name()),
                    None => serializer.serialize_i32(*number),
                },
                _ => serializer.serialize_i32(*number),
            },
            Value::Message(message) => Object {
                message,
                json_fields: self.json_fields,
            }
            .serialize(serializer),
            Value::List(values) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(&self.beside(value))?;
                }
                seq.end()
            }
            Value::Map(values) => {
                let mut entries: Vec<_> = values.iter().map(|(key, value)| (text(key), value)).collect();
                entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in &entries {
                    map.serialize_entry(key, &self.beside(value))?;
                }
                map.end()
            }
        }
    }
}

fn text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}
