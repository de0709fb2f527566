//! Types of targets: every message that carries the target option, with the schemas of its form.

use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};
use serde_json::{Value, json};

use super::{
    Mistakes, comments,
    options::{Options, TargetOption},
    schema,
};

/// One type of targets.
pub(crate) struct TargetType {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) relay: bool,
    pub(crate) name_schema: Value,
    pub(crate) config: Value,
    pub(crate) credential: Value,
}

/// Reads every type, in the order of the contract.
pub(crate) fn read(pool: &DescriptorPool, options: &Options, mistakes: &mut Mistakes) -> Vec<TargetType> {
    let mut types: Vec<TargetType> = Vec::new();
    for message in pool.all_messages() {
        let Some(option) = options.target(&message.options()) else {
            continue;
        };
        let place = format!("message {}", message.full_name());
        if types.iter().any(|other| other.name == option.r#type) {
            mistakes.at(&place, format!("there is already a form of {}", option.r#type));
        }
        types.push(target(&message, option, &place, options, mistakes));
    }
    types
}

fn target(
    message: &MessageDescriptor,
    option: TargetOption,
    place: &str,
    options: &Options,
    mistakes: &mut Mistakes,
) -> TargetType {
    let description = comments::at(&message.parent_file(), message.path());
    if description.is_empty() {
        mistakes.at(
            place,
            "a type of targets needs a comment; it is the type's description",
        );
    }
    if option.r#type.is_empty() || option.title.is_empty() {
        mistakes.at(place, "a type of targets needs a type and a title");
    }
    let name = message.get_field_by_name("name");
    let name_schema = name.map(|field| schema::form_field(&field, options, mistakes));
    let mut part = |name: &str| match message.get_field_by_name(name)?.kind() {
        Kind::Message(part) => Some(schema::form(&part, options, mistakes)),
        _ => None,
    };
    let (config, credential) = (part("config"), part("credential"));
    if name_schema.is_none() || config.is_none() {
        mistakes.at(
            place,
            "a type of targets needs a name and a message of its config",
        );
    }
    TargetType {
        name: option.r#type,
        title: option.title,
        description,
        relay: option.relay,
        name_schema: name_schema.unwrap_or_default(),
        config: config.unwrap_or_default(),
        credential: credential.unwrap_or_else(no_credential),
    }
}

fn no_credential() -> Value {
    json!({
        "$schema": schema::DIALECT,
        "type": "object",
        "properties": {},
        "additionalProperties": false,
        "description": "None: a relay enrols with a token that is minted when the target is added.",
    })
}
