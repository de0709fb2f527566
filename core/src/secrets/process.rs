//! Secrets that the process was given by its environment: in memory only, gone with the process.
//!
//! The one declared exception to the rule that no variable is a source of credentials (`gateway.md` INV-3): a
//! stand-alone `toolgate mcp`. References to them stand in no row, and none that is read from one leads here.

use std::{collections::HashMap, fmt};

use futures::future::BoxFuture;
use toolgate_contract::ids::TenantId;
use ulid::Ulid;

use super::{Fault, SecretProvider, SecretRef, SecretValue, Traces};

/// The provider. Has what it was given and nothing else; it belongs to no tenant but the process's own, in whose
/// snapshot alone its references are.
#[derive(Default)]
pub struct ProcessSecrets(HashMap<Ulid, SecretValue>);

impl ProcessSecrets {
    /// Takes a secret; gives what refers to it for as long as the process lives.
    pub fn take(&mut self, value: SecretValue) -> SecretRef {
        let id = Ulid::generate();
        self.0.insert(id, value);
        SecretRef::process(id)
    }

    /// What to look for in a text that may quote one of them.
    #[must_use]
    pub fn traces(&self) -> Vec<Traces> {
        self.0.values().map(Traces::of).collect()
    }
}

impl SecretProvider for ProcessSecrets {
    fn fetch<'a>(
        &'a self,
        _: &'a TenantId,
        reference: &'a SecretRef,
    ) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        let found = reference.in_process().and_then(|id| self.0.get(&id));
        let copy = found.and_then(|value| SecretValue::new(value.reveal()));
        Box::pin(std::future::ready(copy.ok_or(Fault::NotFound)))
    }
}

impl fmt::Debug for ProcessSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProcessSecrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_given_is_lent_and_no_row_leads_to_it() {
        let mut secrets = ProcessSecrets::default();
        let reference = secrets.take(SecretValue::new(b"canary").unwrap());
        let tenant = TenantId::local();
        let lent = secrets.fetch(&tenant, &reference).await.unwrap();
        assert_eq!(lent.reveal(), b"canary");
        let other = SecretRef::process(Ulid::generate());
        assert_eq!(secrets.fetch(&tenant, &other).await.unwrap_err(), Fault::NotFound);
        assert_eq!(SecretRef::read(&reference.stored()), None);
        let shown = format!("{secrets:?} {reference:?}");
        assert!(shown.contains("***") && !shown.contains("canary"), "{shown}");
    }
}
