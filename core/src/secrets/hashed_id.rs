//! How a secret is named on the record and in logs: by a keyed hash, never by its identifier.

use std::fmt;

use data_encoding::HEXLOWER;
use toolgate_contract::ids::TenantId;

use super::SecretRef;
use crate::keys::Keyring;

/// The keyed hash of a secret's identifier. It can be made of a reference only: no text fits in.
#[derive(Clone, PartialEq, Eq)]
pub struct HashedId {
    text: String,
}

impl HashedId {
    /// The hash under the tenant's key. Equal under one root only, whose id stands in front.
    #[must_use]
    pub fn of(keys: &Keyring, tenant: &TenantId, reference: &SecretRef) -> Self {
        let key = keys.identifiers_key(tenant);
        let hash = key.hash(&reference.identity());
        Self {
            text: format!("{}:{}", key.id(), HEXLOWER.encode(&hash)),
        }
    }
}

impl fmt::Display for HashedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for HashedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
