//! JSON ⇄ protobuf for the generated routes, driven by the contract's descriptors.
//!
//! As proto JSON, but: both key spellings are read, camelCase is written; unknown and doubled keys are refused with
//! their place; 64-bit integers are JSON numbers; bytes marked `(toolgate.v1.json)` hold one JSON value and are spliced
//! raw both ways. Knows no route and no rpc.

mod codec;
mod read;
mod write;

pub(super) use codec::DynamicCodec;
pub(super) use read::{read_object, set_text};
pub(super) use write::write;

use std::collections::HashSet;

use prost_reflect::{DescriptorPool, FieldDescriptor, Kind, MessageDescriptor};

/// The bytes fields that hold JSON, looked up once.
#[derive(Debug)]
pub(super) struct JsonFields(HashSet<(String, u32)>);

impl JsonFields {
    pub(super) fn of(pool: &DescriptorPool) -> Self {
        let Some(option) = pool.get_extension_by_name("toolgate.v1.json") else {
            return Self(HashSet::new());
        };
        let marked = |field: &FieldDescriptor| {
            let options = field.options();
            options.has_extension(&option) && options.get_extension(&option).as_bool() == Some(true)
        };
        let messages = pool.all_messages();
        let fields = messages.flat_map(|message| message.fields().collect::<Vec<_>>());
        Self(fields.filter(marked).map(|field| key(&field)).collect())
    }

    fn contains(&self, field: &FieldDescriptor) -> bool {
        matches!(field.kind(), Kind::Bytes) && self.0.contains(&key(field))
    }
}

fn key(field: &FieldDescriptor) -> (String, u32) {
    (field.parent_message().full_name().to_owned(), field.number())
}

/// A field by either spelling.
fn find(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    message
        .get_field_by_json_name(name)
        .or_else(|| message.get_field_by_name(name))
}

#[cfg(test)]
mod tests;
