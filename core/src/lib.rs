//! Everything that decides: who calls, what they may see, whether a call may run, and what stands on the record.
//!
//! Knows the contract. Must not know facades, the command line or any dialect but gRPC.

pub mod audit;
pub mod canonical;
pub mod clock;
pub mod error;
pub mod journal;
pub mod keys;
pub mod rfc3339;
pub mod store;
pub mod uplinks;
pub mod upstream;
