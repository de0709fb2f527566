//! The contract: messages, services, tools, profiles and error reasons, and what is generated from them.
//!
//! Everything that callers and targets agree on lives here and nothing that decides. May touch prost, tonic and
//! serde_json; must not know core, facade or relay.

#![warn(missing_docs)]

pub mod codec;
pub mod enrolment;
pub mod failure;
pub mod frame;
pub mod ids;
pub mod mirrored;
pub mod pods;
pub mod reason;
pub mod registry;
pub mod scrub;
pub mod splice;
pub mod ssh;

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

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

/// The descriptors of every proto file, tools included, decoded once.
#[must_use]
pub fn pool() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        // The bytes are those the build script compiled; a test decodes them.
        #[allow(clippy::expect_used)]
        DescriptorPool::decode(DESCRIPTOR_SET).expect("the compiled descriptor set decodes")
    });
    &POOL
}
