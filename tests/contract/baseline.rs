//! What was once published stays: the descriptors may only grow beyond `proto/baseline.binpb`.
//!
//! `buf breaking` says it with more rules; this test needs nothing installed.

use std::fs;

use prost_reflect::{DescriptorPool, EnumDescriptor, Kind, MessageDescriptor, ServiceDescriptor};
use toolgate_contract::pool;

use super::source;

fn baseline() -> DescriptorPool {
    let bytes = fs::read(source::proto().join("baseline.binpb")).expect("the baseline is there");
    DescriptorPool::decode(bytes.as_slice()).expect("the baseline is a descriptor set")
}

#[test]
fn every_service_of_the_baseline_is_still_there() {
    let baseline = baseline();
    assert!(baseline.services().len() > 0);
    for was in baseline.services() {
        let is = pool().get_service_by_name(was.full_name());
        rpcs(&was, &is.unwrap_or_else(|| panic!("{} is gone", was.full_name())));
    }
}

#[test]
fn every_message_of_the_baseline_is_still_there() {
    for was in baseline()
        .all_messages()
        .filter(|message| ours(message.full_name()))
    {
        let is = pool().get_message_by_name(was.full_name());
        fields(&was, &is.unwrap_or_else(|| panic!("{} is gone", was.full_name())));
    }
}

#[test]
fn every_enum_of_the_baseline_is_still_there() {
    for was in baseline().all_enums().filter(|set| ours(set.full_name())) {
        let is = pool().get_enum_by_name(was.full_name());
        values(&was, &is.unwrap_or_else(|| panic!("{} is gone", was.full_name())));
    }
}

/// Google's descriptors come with the compiler and follow its version.
fn ours(name: &str) -> bool {
    name.starts_with("toolgate.")
}

fn rpcs(was: &ServiceDescriptor, is: &ServiceDescriptor) {
    for was in was.methods() {
        let is = is.methods().find(|is| is.name() == was.name());
        let is = is.unwrap_or_else(|| panic!("rpc {} is gone", was.full_name()));
        let shape = |rpc: &prost_reflect::MethodDescriptor| {
            let messages = (
                rpc.input().full_name().to_owned(),
                rpc.output().full_name().to_owned(),
            );
            (messages, rpc.is_client_streaming(), rpc.is_server_streaming())
        };
        assert_eq!(shape(&was), shape(&is), "{}", was.full_name());
    }
}

fn fields(was: &MessageDescriptor, is: &MessageDescriptor) {
    for was in was.fields() {
        let reserved = is.reserved_ranges().any(|range| range.contains(&was.number()));
        let Some(is) = is.get_field(was.number()) else {
            assert!(
                reserved,
                "field {} is gone and its number not reserved",
                was.full_name()
            );
            continue;
        };
        let shape = |field: &prost_reflect::FieldDescriptor| {
            let kind = match field.kind() {
                Kind::Message(message) => message.full_name().to_owned(),
                Kind::Enum(set) => set.full_name().to_owned(),
                scalar => format!("{scalar:?}"),
            };
            (
                field.name().to_owned(),
                kind,
                field.cardinality(),
                field.supports_presence(),
            )
        };
        assert_eq!(shape(&was), shape(&is), "{}", was.full_name());
    }
}

fn values(was: &EnumDescriptor, is: &EnumDescriptor) {
    for was in was.values() {
        let is = is.get_value(was.number());
        assert_eq!(
            is.map(|is| is.name().to_owned()).as_deref(),
            Some(was.name()),
            "{}",
            was.full_name()
        );
    }
}
