//! A target that is dialled, added or changed: validated first, then stored with its credential in one change.
//!
//! Whatever the validation does not let pass leaves the store as it was and one row on the record. The whole is a task
//! of its own, so a caller that vanishes changes nothing of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Edit, MOST, NO_TARGET, Target, Targets, Wanted, configured, findings, given,
    prove::{self, Dialling},
    refusal, rows,
    rows::Change,
    taken,
};
use crate::{
    adapters::{Kind, Validation},
    audit::{Event, EventKind, Outcome},
    changes::{By, Changes},
    error::Error,
    journal::Contact,
    names,
    secrets::{Credential, Lease, SecretValue, Secrets},
};

/// What shall be stored if its validation passes.
struct Draft {
    by: By,
    kind: Kind,
    /// As it shall be stored.
    target: Target,
    /// The version that it changes; `None` where it is new.
    version: Option<i64>,
    started: Duration,
}

/// The credential that is validated.
enum Offered {
    /// Given by the caller, to be stored.
    New(SecretValue),
    /// Lent by whoever keeps it; the target's row shall name it.
    Named(Lease, Credential),
    /// The one that the target has.
    Kept(Lease),
}

impl Targets {
    /// Adds a target that is dialled.
    pub(super) async fn create_dialled(&self, by: By, kind: Kind, wanted: Wanted) -> Result<Target, Error> {
        names::check("name", &wanted.name)?;
        let settings = given::settings(kind, &wanted.config, self.dialling.defaults)?;
        let target = Target::new(&wanted.adapter, wanted.name, settings, self.changes.now_us());
        self.expect_place(&by, &target).await?;
        let draft = self.draft(by, kind, target, None);
        let credential = self.credential(&draft, &wanted.credential).await?;
        self.submit(draft, Some(credential)).await
    }

    /// Changes settings or credential of a target that is dialled, and whatever else the edit names.
    pub(super) async fn update_dialled(
        &self,
        by: By,
        kind: Kind,
        before: Target,
        edit: Edit,
    ) -> Result<Target, Error> {
        let settings = edit.config.as_deref();
        let settings = settings
            .map(|bytes| given::settings(kind, bytes, self.dialling.defaults))
            .transpose()?;
        let version = before.updated_us;
        let target = Target {
            name: edit.name.unwrap_or(before.name),
            config: settings.unwrap_or(before.config),
            disabled: edit.disabled.unwrap_or(before.disabled),
            updated_us: self.changes.now_us().max(version.saturating_add(1)),
            ..before
        };
        self.expect_free(&by, &target).await?;
        let draft = self.draft(by, kind, target, Some(version));
        let credential = match &edit.credential {
            Some(bytes) => Some(self.credential(&draft, bytes).await?),
            None => None,
        };
        self.submit(draft, credential).await
    }

    fn draft(&self, by: By, kind: Kind, target: Target, version: Option<i64>) -> Draft {
        Draft {
            by,
            kind,
            target,
            version,
            started: self.dialling.clock.monotonic(),
        }
    }

    /// Found out before anything is dialled; the change itself finds it out again.
    async fn expect_place(&self, by: &By, target: &Target) -> Result<(), Error> {
        let tenant = by.tenant.clone();
        let count = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move { rows::count(tx, &tenant).await })
        });
        refuse_more(count.await?)?;
        self.expect_free(by, target).await
    }

    async fn expect_free(&self, by: &By, target: &Target) -> Result<(), Error> {
        let (tenant, wanted) = (by.tenant.clone(), target.clone());
        let is_taken = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move { rows::is_taken(tx, &tenant, &wanted).await })
        });
        match is_taken.await? {
            true => Err(taken(crate::store::StoreError::Duplicate, target)),
            false => Ok(()),
        }
    }

    async fn credential(&self, draft: &Draft, bytes: &[u8]) -> Result<Credential, Error> {
        match given::credential(draft.kind, bytes, |provider| {
            self.dialling.secrets.serves(provider)
        }) {
            Err(error) if given::is_violation(&error) => {
                Err(self.dialling.refuse(draft, None, None, error).await)
            }
            credential => credential,
        }
    }

    async fn submit(&self, draft: Draft, credential: Option<Credential>) -> Result<Target, Error> {
        let places = std::sync::Arc::clone(&self.dialling.places);
        let place = places.try_acquire_owned().map_err(|_| Error::Overloaded)?;
        let (changes, dialling) = (self.changes.clone(), self.dialling.clone());
        let carried = self.dialling.tasks.spawn(async move {
            let stored = dialling.carry(&changes, draft, credential).await;
            drop(place);
            stored
        });
        carried.await.unwrap_or_else(|lost| Err(Error::internal(lost)))
    }
}

impl Dialling {
    async fn carry(
        &self,
        changes: &Changes,
        draft: Draft,
        credential: Option<Credential>,
    ) -> Result<Target, Error> {
        let offered = match self.offered(changes, &draft, credential).await {
            Ok(offered) => offered,
            Err(error @ Error::SecretUnavailable(_)) => {
                return Err(self.refuse(&draft, None, None, error).await);
            }
            Err(error) => return Err(error),
        };
        let (contact, validation) = self.validated(&draft, &offered).await?;
        let mut found = findings::stored(&validation, None, self.clock.wall_us());
        if let Offered::Named(..) = &offered {
            findings::point_elsewhere(&mut found);
        }
        if let Some(error) = refusal::of(draft.kind, &validation, &found) {
            return Err(self.refuse(&draft, contact, Some(&found), error).await);
        }
        match store(self.secrets.clone(), changes, &draft, offered, found.clone()).await {
            Ok(target) => {
                self.withdraw(contact).await;
                Ok(target)
            }
            Err(error) => Err(self.refuse(&draft, contact, Some(&found), error).await),
        }
    }

    /// The credential's value, from whoever has it.
    async fn offered(
        &self,
        changes: &Changes,
        draft: &Draft,
        credential: Option<Credential>,
    ) -> Result<Offered, Error> {
        let tenant = &draft.by.tenant;
        match credential {
            Some(Credential::Value(value)) => Ok(Offered::New(value)),
            Some(Credential::Elsewhere(reference)) => {
                let lent = self.secrets.lend(tenant, &reference).await;
                let lent = lent.map_err(Error::SecretUnavailable)?;
                // What was cached may be what stood there before.
                let renewed = self
                    .secrets
                    .renew(&lent)
                    .await
                    .map_err(Error::SecretUnavailable)?;
                Ok(Offered::Named(
                    renewed.unwrap_or(lent),
                    Credential::Elsewhere(reference),
                ))
            }
            None => {
                let (owner, id) = (tenant.clone(), draft.target.id);
                let reference = changes.read(tenant, move |tx| {
                    Box::pin(async move { rows::secret_of(tx, &owner, id).await })
                });
                let reference = reference.await?.ok_or_else(|| {
                    Error::invalid(
                        "credential",
                        "is required, since the target has none that could be used",
                    )
                })?;
                let lent = self.secrets.lend(tenant, &reference).await;
                lent.map(Offered::Kept).map_err(Error::SecretUnavailable)
            }
        }
    }

    // Settings that cannot be opened reach nothing, so there is no contact then.
    async fn validated(
        &self,
        draft: &Draft,
        offered: &Offered,
    ) -> Result<(Option<Contact>, Validation), Error> {
        let adapter = match self.open(draft.kind, &draft.target.config, offered.value()) {
            Ok(adapter) => adapter,
            Err(error) => return Ok((None, prove::unseen(error))),
        };
        let intent = self.intent(&draft.by, &draft.target, draft.is_new());
        let contact = self.journal.intend(&draft.by.tenant, intent).await?;
        let validation = prove::validate(adapter.as_ref(), &contact).await;
        Ok((Some(contact), validation))
    }

    /// Puts a refusal on the record, in place of the contact's intent where there was one, and gives the error to
    /// answer with.
    async fn refuse(
        &self,
        draft: &Draft,
        contact: Option<Contact>,
        found: Option<&Value>,
        error: Error,
    ) -> Error {
        let event = self.refused(draft, found, &error);
        let recorded = match contact {
            Some(contact) => self.journal.settle(contact, event).await,
            None => self.journal.record(&draft.by.tenant, event).await,
        };
        recorded.map_or_else(Error::from, |_| error)
    }

    fn refused(&self, draft: &Draft, found: Option<&Value>, error: &Error) -> Event {
        let mut detail = json!({
            "change": draft.change().as_str(),
            "name": draft.target.name,
            "type": draft.target.adapter,
            "validation": "failed",
            "why": findings::plain(&error.to_string()),
        });
        if let (Value::Object(detail), Some(found)) = (&mut detail, found) {
            detail.extend(findings::on_record(found));
        }
        let took = self.clock.monotonic().saturating_sub(draft.started);
        let kind = EventKind::AdapterConfigurationRefused;
        Event {
            result: Outcome::Refused,
            reason: error.reason().name().to_owned(),
            duration_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            ..self.event(&draft.by, &draft.target, draft.is_new(), kind, &detail)
        }
    }

    // The row of the change tells of the contact. Left over, the intent says `unknown`, which is true as well.
    async fn withdraw(&self, contact: Option<Contact>) {
        if let Some(contact) = contact
            && let Err(error) = self.journal.withdraw(contact).await
        {
            tracing::warn!(%error, "the intent of a validation stays, and will be told as unknown");
        }
    }
}

/// The target, its credential and its row on the record, in one change.
async fn store(
    secrets: Secrets,
    changes: &Changes,
    draft: &Draft,
    offered: Offered,
    found: Value,
) -> Result<Target, Error> {
    let (tenant, version, change) = (draft.by.tenant.clone(), draft.version, draft.change());
    let mut target = draft.target.clone();
    target.validation = found;
    let stored = changes.make(draft.by.clone(), move |tx| {
        Box::pin(async move {
            match version {
                None => {
                    refuse_more(rows::count(tx, &tenant).await?)?;
                    rows::insert(tx, &tenant, &target).await
                }
                Some(version) => {
                    let before = rows::find(tx, &tenant, target.id).await?.ok_or(NO_TARGET)?;
                    if before.updated_us != version {
                        return Err(crossed());
                    }
                    rows::set_validation(tx, &tenant, target.id, &target.validation).await?;
                    rows::update(tx, &tenant, &target).await
                }
            }
            .map_err(|error| taken(error, &target))?;
            let mut detail = findings::on_record(&target.validation);
            if let Some(credential) = offered.into_credential() {
                let named = secrets.give(tx, &tenant, target.id, credential).await?;
                detail.insert("secret".into(), named.to_string().into());
            }
            if version.is_some() {
                detail.insert("disabled".into(), target.disabled.into());
            }
            let fact = configured(&target, change, Value::Object(detail));
            Ok((target, vec![fact]))
        })
    });
    stored.await
}

impl Draft {
    fn is_new(&self) -> bool {
        self.version.is_none()
    }

    fn change(&self) -> Change {
        match self.is_new() {
            true => Change::Created,
            false => Change::Updated,
        }
    }
}

impl Offered {
    fn value(&self) -> &SecretValue {
        match self {
            Self::New(value) => value,
            Self::Named(lease, _) | Self::Kept(lease) => lease.value(),
        }
    }

    /// What the target shall have from now on; `None` where it keeps what it has.
    fn into_credential(self) -> Option<Credential> {
        match self {
            Self::New(value) => Some(Credential::Value(value)),
            Self::Named(_, credential) => Some(credential),
            Self::Kept(_) => None,
        }
    }
}

/// Refuses one more target where there are as many as may be.
pub(super) fn refuse_more(count: i64) -> Result<(), Error> {
    if count < MOST {
        return Ok(());
    }
    Err(Error::Conflict(format!(
        "the tenant has {MOST} targets, which is the limit; remove some first"
    )))
}

fn crossed() -> Error {
    Error::Conflict(
        "the target was changed while this change was validated; look at it, then try again".into(),
    )
}
