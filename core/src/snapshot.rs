//! What one tenant has, as one immutable value: tokens, targets, policy.
//!
//! Calls read snapshots and nothing else, so a call costs no query. A local change swaps the snapshot at once; changes
//! by others are seen within a second by the tenant's version.

#[cfg(any(test, feature = "conformance"))]
mod fixtures;
mod load;
mod process;
mod shown;
mod standing;
mod wakes;

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use moka::future::Cache;
use toolgate_contract::{
    frame::PublicKey,
    ids::{TargetId, TenantId, TokenId},
    registry::{Effect, ToolDef},
    v1::ListToolsResponse,
};

use self::wakes::Wakes;
pub use self::{
    process::Process,
    shown::Hidden,
    standing::{Source, Standing},
    wakes::Sleeper,
};
use crate::{
    error::Error,
    identity::{Kind, Presented, Principal, Role},
    profiles::Profile,
    registry,
    secrets::SecretRef,
    store::{Store, StoreError},
};

/// At most this many tenants are held at once; the least used goes first.
const MAX_TENANTS: u64 = 10_000;
/// A tenant that does not exist is asked for again after this long.
const ABSENT_FOR: Duration = Duration::from_secs(5);

/// Lists of one tenant that are held at once.
const MOST_LISTS: usize = 256;

/// What a list was made for: the profile, and the project with the hash of its tools.
type ListKey = (Option<Arc<str>>, Option<(TargetId, Arc<str>)>);

/// Everything a call needs to know of its tenant.
#[derive(Debug)]
pub struct Snapshot {
    /// The tenant.
    pub tenant: TenantId,
    /// The tenant's name.
    pub tenant_name: String,
    version: i64,
    tokens: HashMap<[u8; 32], Token>,
    pub(crate) targets: Vec<Arc<Target>>,
    disabled: HashSet<&'static str>,
    /// The tenant's own, by name.
    profiles: HashMap<Arc<str>, Arc<Profile>>,
    /// Where calls go that name no project, by whose they are: '' for all of the tenant, `p:<principal>`, `s:<session>`.
    pub(crate) defaults: HashMap<String, TargetId>,
    /// The core lives for one process, so tools of infrastructure are there where a target of theirs is.
    stand_alone: bool,
    #[cfg(any(test, feature = "conformance"))]
    fixtures: crate::fixtures::Shown,
    lists: Mutex<HashMap<ListKey, Arc<ListToolsResponse>>>,
}

/// One live credential.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Api or session.
    pub kind: Kind,
    /// The principal's name.
    pub name: Arc<str>,
    /// The principal's role.
    pub role: Role,
    /// The pinned profile.
    pub profile: Option<Arc<Profile>>,
    /// When it ends, in microseconds UTC.
    pub expires_us: Option<i64>,
}

/// One configured upstream.
#[derive(Debug)]
pub struct Target {
    /// Its id.
    pub id: TargetId,
    /// The adapter type.
    pub adapter: &'static str,
    /// Its name.
    pub name: String,
    /// A disabled target answers like one that does not exist.
    pub disabled: bool,
    /// How its relay stands with this gateway.
    pub relay: RelayStanding,
    /// The key that its relay enrolled with, where one has.
    pub relay_key: Option<PublicKey>,
    /// Which secret it uses; `None` where it needs none.
    pub secret: Option<SecretRef>,
    /// JSON object of its settings.
    pub settings: serde_json::Value,
    /// JSON object of its last validation.
    pub validation: serde_json::Value,
    /// Grows with every change of its settings or credential.
    pub version: i64,
}

impl Target {
    /// What stands for the projects of a tenant where all of them are asked at once. It is no target of anybody's.
    #[must_use]
    pub fn fleet() -> Arc<Self> {
        static FLEET: LazyLock<Arc<Target>> = LazyLock::new(|| {
            Arc::new(Target {
                id: TargetId::mint(),
                adapter: "fleet",
                name: "fleet".into(),
                disabled: false,
                relay: RelayStanding::Waiting,
                relay_key: None,
                secret: None,
                settings: serde_json::Value::Null,
                validation: serde_json::Value::Null,
                version: 0,
            })
        });
        Arc::clone(&FLEET)
    }

    /// Whether what may change something goes through to it.
    #[must_use]
    pub fn may_write(&self) -> bool {
        self.settings.get("access").and_then(serde_json::Value::as_str) == Some("read_write")
    }

    /// Whether the tool may be called here: a back end of agents is written to only where its settings say so.
    #[must_use]
    pub fn lets(&self, tool: &ToolDef) -> bool {
        tool.http.is_none() || tool.effect != Effect::Write || self.may_write()
    }
}

/// How the relay of a target stands with the gateway, connected or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RelayStanding {
    /// None has enrolled.
    #[default]
    Waiting,
    /// An admin revoked it, and no other has enrolled since.
    Revoked,
    /// Its key was in use twice; a relay has to enrol anew.
    Locked,
    /// Enrolled and welcome.
    Enrolled,
}

impl RelayStanding {
    /// Out of a target's stored validation and whether a relay's key is known.
    #[must_use]
    pub fn of(validation: &serde_json::Value, has_key: bool) -> Self {
        let marked = |mark: &str| validation.get(mark) == Some(&serde_json::Value::Bool(true));
        match has_key {
            true if marked("locked") => Self::Locked,
            true => Self::Enrolled,
            false if marked("revoked") => Self::Revoked,
            false => Self::Waiting,
        }
    }
}

impl Snapshot {
    /// The live token that was presented. A hash that is found proves the claim of kind and tenant.
    #[must_use]
    pub fn token(&self, presented: &Presented, now_us: i64) -> Option<&Token> {
        let token = self.tokens.get(&presented.hash)?;
        let alive = token.expires_us.is_none_or(|end| now_us < end);
        (alive && token.kind == presented.kind).then_some(token)
    }

    /// The live credential of this id, or else the API token of this name.
    #[must_use]
    pub fn token_named(&self, wanted: &str, now_us: i64) -> Option<&Token> {
        let alive = |token: &&Token| token.expires_us.is_none_or(|end| now_us < end);
        let mut live = self.tokens.values().filter(alive);
        if let Ok(id) = wanted.parse::<TokenId>() {
            return live.find(|token| token.id == id);
        }
        live.find(|token| token.kind == Kind::Api && &*token.name == wanted)
    }

    /// The live API token of this principal.
    #[must_use]
    pub fn token_of(&self, principal: &Principal, now_us: i64) -> Option<&Token> {
        self.tokens.values().find(|token| {
            token.kind == Kind::Api
                && token.name == principal.name
                && token.role == principal.role
                && token.expires_us.is_none_or(|end| now_us < end)
        })
    }

    /// Whether the core lives for one process.
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        self.stand_alone
    }

    /// The profile of this name: the contract's, or the tenant's own.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<Arc<Profile>> {
        Profile::built_in(name).or_else(|| self.profiles.get(name).cloned())
    }

    /// The enabled targets of an adapter type, ordered by name.
    pub fn targets_of(&self, adapter: &str) -> impl Iterator<Item = &Arc<Target>> {
        self.targets
            .iter()
            .filter(move |target| target.adapter == adapter && !target.disabled)
    }

    /// The enabled projects, ordered by name.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<Target>> {
        self.targets_of(registry::PROJECT)
    }

    /// The enabled project of this name.
    #[must_use]
    pub fn project(&self, name: &str) -> Option<&Arc<Target>> {
        self.projects().find(|project| project.name == name)
    }

    /// The target of this id, disabled or not.
    #[must_use]
    pub fn target(&self, id: TargetId) -> Option<Arc<Target>> {
        self.targets.iter().find(|target| target.id == id).cloned()
    }

    /// The list of tools under a profile, and with those of a project by its hash, made once per snapshot.
    pub fn list(
        &self,
        profile: Option<&Profile>,
        project: Option<(TargetId, Arc<str>)>,
        make: impl FnOnce() -> ListToolsResponse,
    ) -> Arc<ListToolsResponse> {
        let key = (profile.map(|profile| Arc::clone(&profile.name)), project);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = lists.get(&key) {
            return Arc::clone(list);
        }
        // A project that changes its list all day must not fill the memory with what was.
        if lists.len() >= MOST_LISTS {
            lists.clear();
        }
        let list = Arc::new(make());
        lists.insert(key, Arc::clone(&list));
        list
    }
}

/// The snapshots of all tenants in use.
#[derive(Debug, Clone)]
pub struct Snapshots {
    store: Store,
    loaded: Cache<TenantId, Arc<Snapshot>>,
    absent: Cache<TenantId, ()>,
    wakes: Wakes,
    process: process::Place,
    #[cfg(any(test, feature = "conformance"))]
    fixtures: Option<crate::fixtures::Fixtures>,
}

impl Snapshots {
    /// None loaded yet.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            loaded: Cache::new(MAX_TENANTS),
            absent: Cache::builder()
                .max_capacity(MAX_TENANTS)
                .time_to_live(ABSENT_FOR)
                .build(),
            wakes: Wakes::default(),
            process: process::Place::default(),
            #[cfg(any(test, feature = "conformance"))]
            fixtures: None,
        }
    }

    /// The tenant's snapshot; `None` when there is no such tenant.
    pub async fn get(&self, tenant: &TenantId) -> Result<Option<Arc<Snapshot>>, Error> {
        if let Some(snapshot) = self.loaded.get(tenant).await {
            return Ok(Some(snapshot));
        }
        if self.absent.get(tenant).await.is_some() {
            return Ok(None);
        }
        match load::load(&self.store, tenant).await? {
            None => {
                self.absent.insert(tenant.clone(), ()).await;
                Ok(None)
            }
            Some(snapshot) => Ok(Some(self.put(snapshot).await)),
        }
    }

    /// One who waits for the tenant's snapshot to become another one.
    #[must_use]
    pub fn sleeper(&self, tenant: &TenantId) -> Sleeper {
        self.wakes.sleeper(tenant)
    }

    /// Wakes whoever waits for the tenant, for what no snapshot holds.
    pub fn wake(&self, tenant: &TenantId) {
        self.wakes.wake(tenant);
    }

    /// Reads a tenant anew after a local change, so that the next call sees it.
    pub async fn refresh(&self, tenant: &TenantId) -> Result<(), Error> {
        self.absent.invalidate(tenant).await;
        match load::load(&self.store, tenant).await? {
            Some(snapshot) => drop(self.put(snapshot).await),
            None => self.lose(tenant).await,
        }
        Ok(())
    }

    /// Reads every loaded tenant anew whose version is not the loaded one.
    pub async fn refresh_changed(&self) -> Result<(), StoreError> {
        let tenants = self.store.tenants().await?;
        let versions: HashMap<TenantId, i64> = tenants
            .into_iter()
            .map(|tenant| (tenant.id, tenant.version))
            .collect();
        for (tenant, snapshot) in &self.loaded {
            match versions.get(tenant.as_ref()) {
                Some(version) if *version == snapshot.version => {}
                Some(_) => drop(self.refresh(&tenant).await),
                None => self.lose(&tenant).await,
            }
        }
        Ok(())
    }

    /// The store below, for tests of the whole.
    #[cfg(test)]
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the store answers.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.store.check().await
    }

    // Two loads may cross; the newer version stays.
    async fn put(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        #[cfg(any(test, feature = "conformance"))]
        let snapshot = self.mark(snapshot);
        let snapshot = self.joined(snapshot);
        let snapshot = Arc::new(snapshot);
        let newer = Arc::clone(&snapshot);
        let entry = self
            .loaded
            .entry(snapshot.tenant.clone())
            .and_upsert_with(|former| {
                let former = former.map(moka::Entry::into_value);
                std::future::ready(match former {
                    Some(former) if former.version > newer.version => former,
                    _ => newer,
                })
            });
        let current = entry.await.into_value();
        self.wakes.wake(&current.tenant);
        current
    }

    async fn lose(&self, tenant: &TenantId) {
        self.loaded.invalidate(tenant).await;
        self.wakes.wake(tenant);
    }
}
