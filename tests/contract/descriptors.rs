//! The descriptor set as a text people can read in a review.

use std::fmt::Write as _;

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, ServiceDescriptor};
use toolgate_contract::pool;

use crate::golden;

#[test]
fn services_and_messages_are_the_golden_ones() {
    let mut text = String::new();
    for file in pool()
        .files()
        .filter(|file| file.package_name().starts_with("toolgate."))
    {
        let _ = writeln!(text, "{}", file.name());
        file.services().for_each(|it| service(&it, &mut text));
        file.messages().for_each(|it| message(&it, &mut text));
        file.enums().for_each(|it| enumeration(&it, &mut text));
    }
    golden::check("descriptors.txt", &text);
}

fn service(service: &ServiceDescriptor, text: &mut String) {
    for method in service.methods() {
        let side = |streams: bool, name: &str| {
            if streams {
                format!("stream {name}")
            } else {
                name.to_owned()
            }
        };
        let input = side(method.is_client_streaming(), method.input().full_name());
        let output = side(method.is_server_streaming(), method.output().full_name());
        let _ = writeln!(text, "  rpc {} ({input}) -> ({output})", method.full_name());
    }
}

fn message(message: &MessageDescriptor, text: &mut String) {
    let _ = writeln!(text, "  message {}", message.full_name());
    for field in message.fields() {
        let _ = writeln!(text, "    {} {} {}", field.number(), field.name(), kind(&field));
    }
}

fn kind(field: &FieldDescriptor) -> String {
    let name = match field.kind() {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(set) => set.full_name().to_owned(),
        scalar => format!("{scalar:?}"),
    };
    match (field.is_map(), field.is_list(), field.supports_presence()) {
        (true, ..) => format!("map {name}"),
        (_, true, _) => format!("repeated {name}"),
        (.., true) => format!("optional {name}"),
        _ => name,
    }
}

fn enumeration(set: &EnumDescriptor, text: &mut String) {
    let _ = writeln!(text, "  enum {}", set.full_name());
    for value in set.values() {
        let _ = writeln!(text, "    {} {}", value.number(), value.name());
    }
}
