//! The contract: messages, services, tools, profiles and error reasons, and what is generated from them.
//!
//! Everything that callers and targets agree on lives here and nothing that decides. May touch prost, tonic and
//! serde_json; must not know core, facade or relay.

pub mod enrolment;
pub mod frame;
pub mod ids;
pub mod ssh;

/// Messages, clients and servers of `toolgate.v1`.
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::unwrap_used
)]
pub mod v1 {
    tonic::include_proto!("toolgate.v1");
}

/// The encoded descriptor set of every proto file, comments included.
pub static DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptor.bin"));
