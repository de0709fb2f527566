//! What every provider of secrets does.

use std::fmt;

use futures::future::BoxFuture;
use toolgate_contract::ids::TenantId;

use super::{Fault, SecretRef, SecretValue};

/// Someone who has secrets. Neither caches nor waits longer than it is let: [`Secrets`](super::Secrets) does both.
pub trait SecretProvider: Send + Sync + fmt::Debug {
    /// Fetches a tenant's secret. References of other providers are [`Fault::NotConfigured`]. Dropping the future
    /// gives up.
    fn fetch<'a>(
        &'a self,
        tenant: &'a TenantId,
        reference: &'a SecretRef,
    ) -> BoxFuture<'a, Result<SecretValue, Fault>>;
}
