//! The configured upstreams of a tenant: added, listed, changed, removed, and their enrolments.
//!
//! Hosts (`ssh`) and projects are never dialled: adding one mints a one-time enrolment token, and its relay dials in. How
//! relays are kept stands in `relays`, what is said of a project in `project`. Every other target is dialled, so its credential is validated before it is stored: that
//! stands in `submit`. Who may do what is decided before this room is asked.

mod built_in;
mod checked;
mod config;
mod enrolment;
mod findings;
mod forms;
mod given;
mod live;
mod project;
mod projects;
mod prove;
mod refusal;
mod relayed;
mod relays;
mod repin;
mod rows;
mod submit;
mod tested;

mod verdict;

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use tokio::sync::watch;
use toolgate_contract::ids::{TargetId, TenantId};

pub(crate) use self::findings::plain;
pub use self::{
    built_in::{BuiltInHost, BuiltInRelay},
    enrolment::Enrolment,
    forms::TargetType,
    live::Live,
    projects::{Entry, Followed},
    prove::Dialling,
    relays::Relays,
    rows::Target,
    tested::LastTest,
};
use self::{
    enrolment::{NewEnrolment, Reach},
    rows::Change,
    tested::Tested,
};
use crate::{
    adapters::{Defaults, Kind},
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::{Error, Missing},
    identity::Secret,
    keys::Keyring,
    pages::Page,
    registry,
    snapshot::RelayStanding,
    store::StoreError,
};

/// Targets of one tenant.
const MOST: i64 = 1_000;
/// The adapter type of hosts, whose relays dial in.
const SSH: &str = "ssh";

/// The targets of all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct Targets {
    changes: Changes,
    keys: Arc<Keyring>,
    live: Arc<dyn Live>,
    reach: Reach,
    dialling: Dialling,
    tested: Tested,
    /// Tokens for the relay inside the gateway, while there is one to take them.
    built_in: watch::Sender<Option<Secret>>,
}

/// What a new target shall be, as asked.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Adapter type.
    pub adapter: String,
    /// Name.
    pub name: String,
    /// JSON object.
    pub config: bytes::Bytes,
    /// JSON object.
    pub credential: bytes::Bytes,
}

/// What shall be different about a target; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct Edit {
    /// New name.
    pub name: Option<String>,
    /// New settings, whole.
    pub config: Option<bytes::Bytes>,
    /// New credential.
    pub credential: Option<bytes::Bytes>,
    /// The switch.
    pub disabled: Option<bool>,
}

impl Targets {
    /// Over the door for changes, the gateway's identity, the live uplinks, the URL that relays dial, and what targets
    /// are dialled with.
    #[must_use]
    pub fn new(
        changes: Changes,
        keys: Arc<Keyring>,
        live: Arc<dyn Live>,
        public_url: &str,
        dialling: Dialling,
    ) -> Self {
        Self {
            changes,
            keys,
            live,
            reach: Reach {
                public_url: public_url.trim_end_matches('/').into(),
                ca_cert: None,
            },
            dialling,
            tested: Tested::default(),
            built_in: watch::Sender::new(None),
        }
    }

    /// Commands for hosts name this certificate, with which relays trust the gateway's own TLS.
    #[must_use]
    pub fn with_certificate(mut self, path: Option<&Path>) -> Self {
        self.reach.ca_cert = path.map(|path| path.display().to_string().into());
        self
    }

    /// Targets may be on this machine and speak plain HTTP unless their settings say otherwise: for a gateway that only
    /// this machine reaches.
    #[must_use]
    pub fn with_local_defaults(mut self, local: bool) -> Self {
        self.dialling.defaults = Defaults { local };
        self
    }

    /// Adds a target: a host or a project with its first enrolment, every other after its credential was validated.
    pub async fn create(&self, by: By, wanted: Wanted) -> Result<(Target, Option<Enrolment>), Error> {
        let adapter = addable(&wanted.adapter)?;
        if let Some(kind) = Kind::of(adapter) {
            let target = self.create_dialled(by, kind, wanted).await?;
            return Ok((target, None));
        }
        relayed::check_name(adapter, &wanted.name)?;
        let config = relayed::settings(adapter, &wanted.config, &wanted.name)?;
        config::refuse_credential(adapter, &wanted.credential)?;
        let target = Target::new(adapter, wanted.name, config, self.changes.now_us());
        let (target, enrolment) = self.add(by, target).await?;
        Ok((target, Some(enrolment)))
    }

    /// A page of targets by type and name, and the token of the next page.
    pub async fn list(
        &self,
        by: &By,
        adapter: Option<&str>,
        page: Page<2>,
    ) -> Result<(Vec<Target>, String), Error> {
        let (tenant, limit) = (by.tenant.clone(), page.limit());
        let adapter = adapter.unwrap_or_default().to_owned();
        let [after_type, after_name] = page.after.clone().unwrap_or_default();
        let read = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move { rows::list(tx, &tenant, &adapter, &after_type, &after_name, limit).await })
        });
        let mut targets = read.await?;
        let next = page.cut(&mut targets, |last| [last.adapter.clone(), last.name.clone()]);
        Ok((targets, next))
    }

    /// One target.
    pub async fn get(&self, by: &By, id: &str) -> Result<Target, Error> {
        let (id, tenant) = (known_id(id)?, by.tenant.clone());
        let found = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move { rows::find(tx, &tenant, id).await })
        });
        found.await?.ok_or(NO_TARGET)
    }

    /// Changes a target; an edit that changes nothing leaves no row. New settings or another credential of a target that
    /// is dialled are validated first.
    pub async fn update(&self, by: By, id: &str, mut edit: Edit) -> Result<Target, Error> {
        let before = self.get(&by, id).await?;
        if let Some(name) = &edit.name {
            relayed::check_name(&before.adapter, name)?;
        }
        match Kind::of(&before.adapter) {
            Some(kind) if edit.config.is_some() || edit.credential.is_some() => {
                self.update_dialled(by, kind, before, edit).await
            }
            Some(_) => self.change(by, before.id, edit, None).await,
            None => {
                let config = edit.config.take();
                let read = |bytes: bytes::Bytes| relayed::Edit::read(&before.adapter, &bytes);
                let config = config.map(read).transpose()?;
                config::refuse_credential(&before.adapter, edit.credential.as_deref().unwrap_or_default())?;
                self.change(by, before.id, edit, config).await
            }
        }
    }

    /// Removes a target with its enrolments and its relay's key, and closes the relay's connection.
    pub async fn delete(&self, by: By, id: &str) -> Result<(), Error> {
        let (id, tenant) = (known_id(id)?, by.tenant.clone());
        let removed = self.changes.make_then(
            by,
            move |tx| {
                Box::pin(async move {
                    let target = rows::find(tx, &tenant, id).await?.ok_or(NO_TARGET)?;
                    // One that has left its file is disabled, and may go.
                    if !target.disabled {
                        relayed::refuse_of_file(&target)?;
                    }
                    rows::delete(tx, &tenant, id).await?;
                    Ok(((), vec![configured(&target, Change::Removed, json!({}))]))
                })
            },
            self.cut_off(id),
        );
        removed.await
    }

    /// Mints a new enrolment in place of any unused one. A relay that is enrolled stays until the new one has. The
    /// relay inside the gateway, where it runs, takes its token by itself.
    pub async fn enrol(&self, by: By, id: &str) -> Result<Enrolment, Error> {
        let (target, enrolment) = self.enrol_known(by, known_id(id)?).await?;
        if config::is_built_in(&target.config) && self.built_in.receiver_count() > 0 {
            self.built_in.send_replace(Some(enrolment.token.clone()));
            return Ok(enrolment.taken());
        }
        Ok(enrolment)
    }

    /// Forgets the key of a target's relay and closes its connection.
    pub async fn revoke_relay(&self, by: By, id: &str) -> Result<(), Error> {
        let (id, tenant) = (known_id(id)?, by.tenant.clone());
        let revoked = self.changes.make_then(
            by,
            move |tx| {
                Box::pin(async move {
                    let target = rows::find(tx, &tenant, id).await?.ok_or(NO_TARGET)?;
                    let key = target
                        .relay_key
                        .ok_or(Error::NotFound(Missing::Resource("enrolled relay")))?;
                    rows::forget_relay(tx, &tenant, id).await?;
                    rows::set_validation(tx, &tenant, id, &verdict::revoked()).await?;
                    let detail = json!({"key": key.to_string(), "name": target.name});
                    let fact = Fact::new(EventKind::RelayRevoked, detail).about(target.adapter(), id);
                    Ok(((), vec![fact]))
                })
            },
            self.cut_off(id),
        );
        revoked.await
    }

    /// `ready` or `disabled`; of a target that is dialled also `drifted`, of a host or a project also `waiting`,
    /// `offline`, `revoked` or `locked`.
    #[must_use]
    pub fn status(&self, target: &Target) -> &'static str {
        if Kind::of(&target.adapter).is_some() {
            return match (target.disabled, target.validation["verdict"].as_str()) {
                (true, _) => "disabled",
                (false, Some("drifted")) => "drifted",
                (false, _) => "ready",
            };
        }
        match (target.disabled, target.standing()) {
            (true, _) => "disabled",
            (false, RelayStanding::Waiting) => "waiting",
            (false, RelayStanding::Revoked) => "revoked",
            (false, RelayStanding::Locked) => "locked",
            (false, RelayStanding::Enrolled) if self.live.is_connected(target.id) => "ready",
            (false, RelayStanding::Enrolled) => "offline",
        }
    }

    /// Changes what needs no validation.
    async fn change(
        &self,
        by: By,
        id: TargetId,
        edit: Edit,
        config: Option<relayed::Edit>,
    ) -> Result<Target, Error> {
        let (tenant, now_us) = (by.tenant.clone(), self.changes.now_us());
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let before = rows::find(tx, &tenant, id).await?.ok_or(NO_TARGET)?;
                    relayed::refuse_of_file(&before)?;
                    let mut after = before.clone();
                    after.name = edit.name.unwrap_or(after.name);
                    after.disabled = edit.disabled.unwrap_or(after.disabled);
                    if let Some(config) = config {
                        after.config = config.over(&before.config)?;
                    }
                    if after == before {
                        return Ok((before, vec![]));
                    }
                    after.updated_us = now_us.max(before.updated_us.saturating_add(1));
                    rows::update(tx, &tenant, &after)
                        .await
                        .map_err(|error| taken(error, &after))?;
                    let fact = configured(&after, Change::Updated, json!({"disabled": after.disabled}));
                    Ok((after, vec![fact]))
                })
            })
            .await
    }

    async fn add(&self, by: By, target: Target) -> Result<(Target, Enrolment), Error> {
        let tenant = by.tenant.clone();
        let enrolment = self.mint(&tenant, target.id)?;
        let shown = enrolment.shown(&self.reach, &target.adapter, &target.name);
        let added = self.changes.make(by, move |tx| {
            Box::pin(async move {
                submit::refuse_more(rows::count(tx, &tenant).await?)?;
                rows::insert(tx, &tenant, &target)
                    .await
                    .map_err(|error| taken(error, &target))?;
                enrolment.replace(tx).await?;
                let fact = configured(&target, Change::Created, enrolment.detail());
                Ok((target, vec![fact]))
            })
        });
        Ok((added.await?, shown))
    }

    async fn enrol_known(&self, by: By, id: TargetId) -> Result<(Target, Enrolment), Error> {
        let tenant = by.tenant.clone();
        let enrolment = self.mint(&tenant, id)?;
        let token = enrolment.clone();
        let target = self.changes.make(by, move |tx| {
            Box::pin(async move {
                let target = rows::find(tx, &tenant, id).await?.ok_or(NO_TARGET)?;
                if Kind::of(&target.adapter).is_some() {
                    let what = format!("targets of type {} are dialled and have no relay", target.adapter);
                    return Err(Error::invalid("id", what));
                }
                enrolment.replace(tx).await?;
                // Whoever revoked the former relay has now asked for another one.
                if target.standing() == RelayStanding::Revoked {
                    rows::set_validation(tx, &tenant, id, &verdict::pending()).await?;
                }
                let fact = configured(&target, Change::Updated, enrolment.detail());
                Ok((target, vec![fact]))
            })
        });
        let target = target.await?;
        let shown = token.shown(&self.reach, &target.adapter, &target.name);
        Ok((target, shown))
    }

    fn cut_off(&self, id: TargetId) -> impl FnOnce() + Send + 'static {
        self.tested.forget(id);
        let live = Arc::clone(&self.live);
        move || {
            live.disconnect(id);
            live.unlock(id);
        }
    }

    fn mint(&self, tenant: &TenantId, target: TargetId) -> Result<NewEnrolment, Error> {
        NewEnrolment::mint(
            tenant,
            target,
            self.keys.gateway_identity().public_key(),
            self.changes.now_us(),
        )
    }
}

const NO_TARGET: Error = Error::NotFound(Missing::Resource("target"));

// An id that is none names nothing: no need to say which of the two it was.
fn known_id(id: &str) -> Result<TargetId, Error> {
    id.parse().map_err(|_| NO_TARGET)
}

fn addable(adapter: &str) -> Result<&'static str, Error> {
    registry::addable_adapter(adapter).ok_or_else(|| {
        let there = registry::ADDABLE.join(", ");
        Error::invalid("type", format!("no adapter type of this name; there are {there}"))
    })
}

fn taken(error: StoreError, target: &Target) -> Error {
    if error == StoreError::Duplicate {
        let Target { adapter, name, .. } = target;
        return Error::Conflict(format!(
            "a target of type {adapter} is already named {name}; choose another name"
        ));
    }
    error.into()
}

fn configured(target: &Target, change: Change, more: Value) -> Fact {
    let kind = match (target.adapter(), change) {
        (registry::PROJECT, Change::Created) => EventKind::ProjectRegistered,
        (registry::PROJECT, Change::Removed) => EventKind::ProjectRemoved,
        _ => EventKind::AdapterConfigured,
    };
    let mut detail = json!({
        "change": change.as_str(),
        "name": target.name,
        "type": target.adapter,
        "validation": target.validation.get("verdict").cloned().unwrap_or_default(),
    });
    // How far it is trusted has no other row.
    if target.adapter() == registry::PROJECT {
        detail["access"] = target.config.get("access").cloned().unwrap_or_default();
        detail["onDrift"] = target.config.get("onDrift").cloned().unwrap_or_default();
    }
    if let (Value::Object(detail), Value::Object(more)) = (&mut detail, more) {
        detail.extend(more);
    }
    Fact::new(kind, detail).about(target.adapter(), target.id)
}

#[cfg(test)]
mod tests;
