//! What the providers over HTTP share: a client that follows nothing and tells nothing, attempts within a budget, and
//! credential files of the gateway's own.
//!
//! Errors of the HTTP client may hold addresses and headers, so none goes further than this folder: a fault is all that
//! is left of them.

mod attempts;
mod endpoint;
mod file;
mod http;
#[cfg(test)]
pub(super) mod stand_in;

pub(super) use self::{
    attempts::{Attempt, Attempts},
    http::{Answer, Http},
};
pub use self::{endpoint::Endpoint, file::SecretFile};
