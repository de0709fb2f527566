//! JSON and texts into a message.

use std::{cell::RefCell, fmt};

use bytes::Bytes;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use toolgate_contract::v1::{ErrorReason, Failure, Violation};

use super::{JsonFields, find};
use crate::{body::malformed, problem::Problem};

/// Reads an object into a message. A fault names its place as JSON Pointer and the field that is wrong.
pub(in crate::rest) fn read_object(
    message: &mut DynamicMessage,
    json: &[u8],
    json_fields: &JsonFields,
) -> Result<(), Problem> {
    let place = RefCell::new(String::new());
    let seed = Object {
        message,
        context: Context {
            json_fields,
            place: &place,
        },
    };
    let mut parser = serde_json::Deserializer::from_slice(json);
    let read = seed.deserialize(&mut parser).and_then(|()| parser.end());
    read.map_err(|error| {
        let pointer = place.take();
        let text = error.to_string();
        let at = if pointer.is_empty() {
            String::new()
        } else {
            format!(" at {pointer}")
        };
        let violation = Violation {
            pointer,
            keyword: keyword(&text).into(),
            message: text.clone(),
        };
        let failure = Failure::new(
            ErrorReason::RequestMalformed,
            format!("the body cannot be read{at}: {text}"),
        );
        Problem::refusing(failure.with_violations([violation]))
    })
}

/// The schema keyword nearest to a fault of reading.
fn keyword(text: &str) -> &'static str {
    if text.starts_with("unknown key") {
        "additionalProperties"
    } else if text.starts_with("invalid type") || text.starts_with("invalid value") {
        "type"
    } else {
        ""
    }
}

/// Sets a field from a text of the path or the query. Doubled single fields and fields of other kinds are refused.
pub(in crate::rest) fn set_text(message: &mut DynamicMessage, name: &str, text: &str) -> Result<(), Problem> {
    let descriptor = message.descriptor();
    let field = find(&descriptor, name).ok_or_else(|| {
        let mut known: Vec<_> = descriptor
            .fields()
            .map(|field| field.json_name().to_owned())
            .collect();
        known.sort_unstable();
        malformed(format!(
            "unknown parameter {name:?}; known here: {}",
            known.join(", ")
        ))
    })?;
    let value = from_text(&field, text)
        .ok_or_else(|| malformed(format!("parameter {name:?} does not take the value {text:?}")))?;
    if field.is_list() {
        match message.get_field_mut(&field) {
            Value::List(list) => list.push(value),
            _ => return Err(malformed(format!("parameter {name:?} cannot be given here"))),
        }
    } else if message.has_field(&field) {
        return Err(malformed(format!("parameter {name:?} is given twice")));
    } else {
        message.set_field(&field, value);
    }
    Ok(())
}

fn from_text(field: &FieldDescriptor, text: &str) -> Option<Value> {
    Some(match field.kind() {
        _ if field.is_map() => return None,
        Kind::String => Value::String(text.to_owned()),
        Kind::Bool => Value::Bool(text.parse().ok()?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(text.parse().ok()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(text.parse().ok()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(text.parse().ok()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(text.parse().ok()?),
        Kind::Enum(kind) => Value::EnumNumber(kind.get_value_by_name(text)?.number()),
        Kind::Float | Kind::Double | Kind::Bytes | Kind::Message(_) => return None,
    })
}

#[derive(Clone, Copy)]
struct Context<'a> {
    json_fields: &'a JsonFields,
    /// Where reading is; left as it is when something is wrong there.
    place: &'a RefCell<String>,
}

impl Context<'_> {
    fn inside<T, E>(&self, step: &dyn fmt::Display, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        use fmt::Write;
        let before = self.place.borrow().len();
        // Writing to a string does not fail.
        let _ = write!(self.place.borrow_mut(), "/{step}");
        let value = read()?;
        self.place.borrow_mut().truncate(before);
        Ok(value)
    }
}

struct Object<'a> {
    message: &'a mut DynamicMessage,
    context: Context<'a>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let descriptor = self.message.descriptor();
        let mut seen = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let step = key.replace('~', "~0").replace('/', "~1");
            self.context.inside(&step, || {
                let Some(field) = find(&descriptor, &key) else {
                    return Err(A::Error::custom(format_args!("unknown key {key:?}")));
                };
                if seen.contains(&field.number()) {
                    return Err(A::Error::custom(format_args!("key {key:?} is given twice")));
                }
                seen.push(field.number());
                let seed = FieldValue {
                    field: &field,
                    context: self.context,
                };
                if let Some(value) = map.next_value_seed(seed)? {
                    self.message.set_field(&field, value);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// A field's whole value; null is absence.
struct FieldValue<'a> {
    field: &'a FieldDescriptor,
    context: Context<'a>,
}

impl<'de> DeserializeSeed<'de> for FieldValue<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        if self.context.json_fields.contains(self.field) && !self.field.is_list() {
            let raw = <&RawValue as serde::Deserialize>::deserialize(deserializer)?;
            let json = Bytes::copy_from_slice(raw.get().as_bytes());
            return Ok((raw.get() != "null").then_some(Value::Bytes(json)));
        }
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for FieldValue<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of {}", self.field.json_name())
    }

    fn visit_none<E>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        if self.field.is_map() {
            return Err(D::Error::custom("maps cannot be given here"));
        }
        let one = One {
            kind: self.field.kind(),
            context: self.context,
        };
        if self.field.is_list() {
            deserializer.deserialize_seq(List(one))
        } else {
            one.deserialize(deserializer)
        }
        .map(Some)
    }
}

struct List<'a>(One<'a>);

impl<'de> Visitor<'de> for List<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let next = self
                .0
                .context
                .inside(&values.len(), || seq.next_element_seed(self.0.clone()))?;
            match next {
                Some(value) => values.push(value),
                None => return Ok(Value::List(values)),
            }
        }
    }
}

/// One value of a kind.
#[derive(Clone)]
struct One<'a> {
    kind: Kind,
    context: Context<'a>,
}

impl One<'_> {
    fn message(&self, descriptor: &MessageDescriptor) -> DynamicMessage {
        DynamicMessage::new(descriptor.clone())
    }
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        use serde::Deserialize;
        Ok(match &self.kind {
            Kind::Message(descriptor) => {
                let mut message = self.message(descriptor);
                Object {
                    message: &mut message,
                    context: self.context,
                }
                .deserialize(deserializer)?;
                Value::Message(message)
            }
            Kind::String => Value::String(String::deserialize(deserializer)?),
            Kind::Bool => Value::Bool(bool::deserialize(deserializer)?),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(i32::deserialize(deserializer)?),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(i64::deserialize(deserializer)?),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(u32::deserialize(deserializer)?),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(u64::deserialize(deserializer)?),
            Kind::Float => Value::F32(f32::deserialize(deserializer)?),
            Kind::Double => Value::F64(f64::deserialize(deserializer)?),
            Kind::Enum(kind) => {
                let name = String::deserialize(deserializer)?;
                let value = kind.get_value_by_name(&name);
                let value = value.ok_or_else(|| D::Error::custom(format_args!("unknown value {name:?}")))?;
                Value::EnumNumber(value.number())
            }
            Kind::Bytes => {
                IgnoredAny::deserialize(deserializer)?;
                return Err(D::Error::custom("bytes cannot be given here"));
            }
        })
    }
}
