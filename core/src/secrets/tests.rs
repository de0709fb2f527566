//! The room in front of a provider that does as told, and over the real store.

mod front;
mod ground;
pub(super) mod overheard;
mod store;

use futures::future::BoxFuture;
use toolgate_contract::ids::TenantId;

use super::{Fault, SecretProvider, SecretRef, SecretValue};

/// A provider that never answers, for the tests of other rooms.
#[derive(Debug)]
pub(super) struct Hangs;

impl SecretProvider for Hangs {
    fn fetch<'a>(&'a self, _: &'a TenantId, _: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        Box::pin(std::future::pending())
    }
}
