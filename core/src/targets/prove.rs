//! Finds out what a credential can do before it is stored: the intent, the adapter, one validation of ten seconds.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::Semaphore, time::timeout};
use tokio_util::task::TaskTracker;

use super::rows::Target;
use crate::{
    adapters::{Adapter, Defaults, Kind, Validation, Verdict},
    audit::{Event, EventKind, Outcome},
    changes::By,
    clock::Clock,
    journal::{Contact, Intent, Journal},
    secrets::{SecretValue, Secrets},
    upstream::UpstreamError,
};
use toolgate_contract::ids::EventId;

/// A validation at submit ends within this.
const TOTAL: Duration = Duration::from_secs(10);
/// Validations of all tenants at once; each may hold a connection for its whole time.
const AT_ONCE: usize = 16;

/// What this room dials with. Clones share it.
#[derive(Debug, Clone)]
pub struct Dialling {
    pub(super) secrets: Secrets,
    pub(super) journal: Journal,
    pub(super) clock: Clock,
    /// Owns every validation: a vanished caller ends none.
    pub(super) tasks: TaskTracker,
    pub(super) places: Arc<Semaphore>,
    pub(super) defaults: Defaults,
    #[cfg(test)]
    pub(super) stand_in: Option<StandIn>,
}

/// An adapter in place of every target's own.
#[cfg(test)]
pub(super) type StandIn = Arc<dyn Adapter>;

impl Dialling {
    /// Over the rooms that lend secrets and keep intents; validations under way are owned by `tasks`.
    #[must_use]
    pub fn new(secrets: Secrets, journal: Journal, clock: Clock, tasks: TaskTracker) -> Self {
        Self {
            secrets,
            journal,
            clock,
            tasks,
            places: Arc::new(Semaphore::new(AT_ONCE)),
            defaults: Defaults::default(),
            #[cfg(test)]
            stand_in: None,
        }
    }

    /// What reads a target with these settings.
    pub(super) fn open(
        &self,
        kind: Kind,
        settings: &Value,
        credential: &SecretValue,
    ) -> Result<Arc<dyn Adapter>, UpstreamError> {
        #[cfg(test)]
        if let Some(stand_in) = &self.stand_in {
            return Ok(Arc::clone(stand_in));
        }
        kind.open(settings, &json!({}), credential)
    }

    /// What a row says if nobody lives to tell how this contact ended.
    pub(super) fn intent(&self, by: &By, target: &Target, is_new: bool) -> Intent {
        let detail = json!({"name": target.name});
        Intent::new(Event {
            capability: "validate".into(),
            ..self.event(by, target, is_new, EventKind::CapabilityInvoked, &detail)
        })
    }

    /// A row about a target; a target that is not stored has no id to be known by.
    pub(super) fn event(
        &self,
        by: &By,
        target: &Target,
        is_new: bool,
        kind: EventKind,
        detail: &Value,
    ) -> Event {
        Event {
            id: EventId::mint(),
            kind,
            time_us: self.clock.wall_us(),
            principal: by.principal.clone(),
            role: by.role.to_owned(),
            facade: by.facade.to_owned(),
            adapter_type: target.adapter.clone(),
            target_id: (!is_new).then_some(target.id),
            capability: String::new(),
            params_hash: None,
            result: Outcome::Refused,
            reason: String::new(),
            duration_ms: 0,
            correlation_id: None,
            detail: detail.to_string(),
        }
    }
}

/// What the adapter finds, within the time there is.
pub(super) async fn validate(adapter: &dyn Adapter, contact: &Contact) -> Validation {
    timeout(TOTAL, adapter.validate(contact))
        .await
        .unwrap_or_else(|_| unseen(UpstreamError::Timeout))
}

/// A validation that learned nothing.
pub(super) fn unseen(error: UpstreamError) -> Validation {
    Validation::of(Verdict::Unknown(error))
}
