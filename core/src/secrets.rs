//! The room that lends credentials: to one call, for its target, for as long as the call lasts.
//!
//! A target's row names its secret ([`SecretRef`]) and never holds a value. [`Secrets`] stands in front of the
//! providers: one fetch per tenant and secret however many wait, five seconds in total, a minute of cache that is never
//! outlived. Values are types that cannot be shown; identifiers leave this room as keyed hashes only. There is no other
//! source of credentials: no variable, no setting, no column is fallen back to; what a process was given for itself is a
//! provider like the others. Knows no target, no tool, no dialect.

#[cfg(feature = "aws")]
pub mod aws;
mod cache;
mod error;
mod give;
mod hashed_id;
pub mod local;
mod metering;
mod process;
mod provider;
mod reference;
#[cfg(any(feature = "aws", feature = "vault"))]
pub mod remote;
mod setup;
mod traces;
mod value;
#[cfg(feature = "vault")]
pub mod vault;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};
use tokio_util::task::TaskTracker;
use toolgate_contract::ids::TenantId;

use self::cache::{Ages, Answer, Flight, Found, Held, Key, Table};
pub use self::{
    error::{Fault, ProviderKind, PutError, SecretError},
    give::Credential,
    hashed_id::HashedId,
    local::Local,
    process::ProcessSecrets,
    provider::SecretProvider,
    reference::SecretRef,
    setup::SetupError,
    traces::Traces,
    value::{LONGEST, SecretValue},
};
use crate::{clock::Clock, keys::Keyring};

/// A fetch, and whoever waits for one, takes no longer than this in total.
const TOTAL: Duration = Duration::from_secs(5);
const AGES: Ages = Ages {
    value: Duration::from_secs(60),
    no: Duration::from_secs(5),
    fault: Duration::from_secs(1),
};

/// Everyone who has secrets.
#[derive(Debug, Clone)]
pub struct Providers {
    /// The gateway's own store.
    pub local: Local,
    /// AWS Secrets Manager, where it is set up.
    pub aws: Option<Arc<dyn SecretProvider>>,
    /// Vault, where it is set up.
    pub vault: Option<Arc<dyn SecretProvider>>,
    /// What the process was given for itself, where it stands alone.
    pub process: Option<Arc<dyn SecretProvider>>,
}

/// A secret lent to one call. Clones share the value; the last one dropped wipes it, unless the cache still has it.
#[derive(Clone)]
pub struct Lease {
    key: Key,
    held: Held,
}

/// The room. Clones share it.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Room>);

struct Room {
    providers: Providers,
    #[cfg(test)]
    stand_in: Option<Arc<dyn SecretProvider>>,
    table: Mutex<Table>,
    keys: Arc<Keyring>,
    clock: Clock,
    total: Duration,
    /// Owns every fetch: a vanished caller takes nobody's answer away.
    tasks: TaskTracker,
}

impl Lease {
    /// The credential, for the adapter that sends it.
    #[must_use]
    pub fn value(&self) -> &SecretValue {
        &self.held.value
    }

    /// Whose secret it is.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.key.tenant
    }

    /// A lease of this value, for tests of what is opened with one.
    #[cfg(test)]
    pub(crate) fn for_tests(tenant: &TenantId, value: SecretValue) -> Self {
        let key = Key {
            tenant: tenant.clone(),
            reference: SecretRef::local(ulid::Ulid::nil(), 1),
        };
        let value = Arc::new(value);
        Self {
            key,
            held: Held { value, serial: 0 },
        }
    }

    /// Whether this is the same credential of the same tenant.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.key.tenant == other.key.tenant && self.value().is_same(other.value())
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({:?})", self.key.reference)
    }
}

impl Secrets {
    /// Over the providers; fetches under way are owned by `tasks`.
    #[must_use]
    pub fn new(providers: Providers, keys: Arc<Keyring>, clock: Clock, tasks: TaskTracker) -> Self {
        metering::begin();
        Self(Arc::new(Room {
            providers,
            #[cfg(test)]
            stand_in: None,
            table: Mutex::new(Table::new(AGES)),
            keys,
            clock,
            total: TOTAL,
            tasks,
        }))
    }

    /// With the gateway's own store alone.
    #[cfg(test)]
    pub(crate) fn local_only(store: crate::store::Store, keys: Arc<Keyring>, clock: Clock) -> Self {
        let local = Local::new(store, Arc::clone(&keys));
        let providers = Providers {
            local,
            aws: None,
            vault: None,
            process: None,
        };
        Self::new(providers, keys, clock, TaskTracker::new())
    }

    /// Where every provider but the gateway's own store hangs.
    #[cfg(test)]
    pub(crate) fn hanging(store: crate::store::Store, keys: Arc<Keyring>, clock: Clock) -> Self {
        let hangs: Arc<dyn SecretProvider> = Arc::new(tests::Hangs);
        let providers = Providers {
            local: Local::new(store, Arc::clone(&keys)),
            aws: Some(Arc::clone(&hangs)),
            vault: Some(hangs),
            process: None,
        };
        Self::new(providers, keys, clock, TaskTracker::new())
    }

    /// Lends a tenant's secret to a call.
    ///
    /// # Errors
    /// When it cannot be had within five seconds. The same answer may be given to others for a few seconds.
    pub async fn lend(&self, tenant: &TenantId, reference: &SecretRef) -> Result<Lease, SecretError> {
        let key = Key {
            tenant: tenant.clone(),
            reference: reference.clone(),
        };
        let found = self.0.table().look(&key, self.0.clock.monotonic());
        self.take(key, found).await
    }

    /// Lends it anew after the target rejected it: what is cached is dropped and fetched again, once for all who ask.
    /// `None` where that was done a moment ago, so that a wrong credential is not fetched without end.
    ///
    /// # Errors
    /// As [`Secrets::lend`].
    pub async fn renew(&self, rejected: &Lease) -> Result<Option<Lease>, SecretError> {
        let (key, serial) = (rejected.key.clone(), rejected.held.serial);
        let found = self.0.table().renew(&key, serial, self.0.clock.monotonic());
        match found {
            None => Ok(None),
            Some(found) => self.take(key, found).await.map(Some),
        }
    }

    /// Whether references to this provider can be served.
    #[must_use]
    pub fn serves(&self, provider: ProviderKind) -> bool {
        match provider {
            ProviderKind::Local => true,
            ProviderKind::Aws => self.0.providers.aws.is_some(),
            ProviderKind::Vault => self.0.providers.vault.is_some(),
            // Of the process alone: nobody can name one.
            ProviderKind::Process => false,
        }
    }

    /// Wipes what is cached and past its end. Whoever keeps house asks for it every second.
    pub fn sweep(&self) {
        self.0.table().sweep(self.0.clock.monotonic());
    }

    async fn take(&self, key: Key, found: Found) -> Result<Lease, SecretError> {
        let provider = key.reference.provider();
        let (answer, how) = match found {
            Found::Kept(answer @ Ok(_)) => (answer, "hit"),
            Found::Kept(answer @ Err(_)) => (answer, "refused"),
            Found::Flying(waiting) => (self.wait(waiting).await, "joined"),
            Found::Launched(flight, waiting) => {
                self.fly(key.clone(), flight);
                (self.wait(waiting).await, "missed")
            }
        };
        metering::asked(provider, how);
        match answer {
            Ok(held) => Ok(Lease { key, held }),
            Err(fault) => Err(SecretError { provider, fault }),
        }
    }

    async fn wait(&self, mut waiting: watch::Receiver<Option<Answer>>) -> Answer {
        let arrived = timeout(self.0.total, waiting.wait_for(Option::is_some)).await;
        match arrived {
            Ok(Ok(answer)) => answer.clone().unwrap_or(Err(Fault::Unavailable)),
            // The flight was lost without an answer.
            Ok(Err(_)) => Err(Fault::Unavailable),
            Err(_) => Err(Fault::Timeout),
        }
    }

    fn fly(&self, key: Key, flight: Flight) {
        let room = Arc::clone(&self.0);
        self.0.tasks.spawn(async move {
            let landing = Landing {
                room: &room,
                key: &key,
                serial: flight.serial,
            };
            let answer = room.fetch(&key).await.map(|value| Held {
                value: Arc::new(value),
                serial: flight.serial,
            });
            let now = room.clock.monotonic();
            landing.room.table().land(&key, &flight, answer, now);
        });
    }
}

impl Room {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self, key: &Key) -> Result<SecretValue, Fault> {
        let (kind, began) = (key.reference.provider(), self.clock.monotonic());
        let fetched = match self.provider(kind) {
            None => Err(Fault::NotConfigured),
            Some(provider) => timeout(self.total, provider.fetch(&key.tenant, &key.reference))
                .await
                .unwrap_or(Err(Fault::Timeout)),
        };
        let took = self.clock.monotonic().saturating_sub(began);
        metering::fetched(kind, took);
        if let Err(fault) = &fetched {
            metering::failed(kind, *fault);
            let secret = HashedId::of(&self.keys, &key.tenant, &key.reference);
            tracing::warn!(tenant = %key.tenant, %secret, provider = kind.as_str(), fault = fault.as_str(), "a secret cannot be had");
        }
        fetched
    }

    fn provider(&self, kind: ProviderKind) -> Option<&dyn SecretProvider> {
        #[cfg(test)]
        if let Some(stand_in) = &self.stand_in {
            return Some(stand_in.as_ref());
        }
        match kind {
            ProviderKind::Local => Some(&self.providers.local),
            ProviderKind::Aws => self.providers.aws.as_deref(),
            ProviderKind::Vault => self.providers.vault.as_deref(),
            ProviderKind::Process => self.providers.process.as_deref(),
        }
    }
}

/// Takes a flight that never landed, because its task panicked or its runtime ended, out of the table.
struct Landing<'a> {
    room: &'a Room,
    key: &'a Key,
    serial: u64,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.room.table().lost(self.key, self.serial);
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets")
            .field("providers", &self.providers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
