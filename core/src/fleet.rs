//! The projects of all tenants: what each brings, how it does, and where calls go that name none.
//!
//! A project tells its tools over its uplink; they are asked for when it connects and when it says that they changed,
//! within bounds, and never by a call: calls read what is here. Whose project a target is, the tenant's snapshot says.
//! Knows no caller and no dialect.

mod defaults;
mod definition;
mod ear;
mod fetch;
mod filter;
mod live;
mod pipeline;
mod pipes;
mod refresh;
pub(crate) mod rows;
mod status;
mod tool_list;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, Semaphore},
    time::interval,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use toolgate_contract::ids::{TargetId, TenantId};

pub use self::{
    defaults::{Defaults, Owner},
    definition::{Definition, Published, ROUTING, ROUTING_BESIDE},
    live::Event,
    pipes::{Busy, Pipes},
    status::Status,
    tool_list::ToolList,
};
pub(crate) use self::{
    fetch::{asking, said},
    filter::{are_in_force, only_reads},
    pipeline::{Item, Pipeline},
};
use self::{
    live::{Live, Projects},
    refresh::{Found, look},
};
use crate::{
    changes::{By, Changes},
    clock::Clock,
    config::ProjectScope,
    error::Error,
    journal::Journal,
    snapshot::{Snapshot, Snapshots, Target},
    uplinks::{Conversation, UplinkError, Uplinks, WeakUplinks},
    upstream::{AWAY, UpstreamError},
};

/// Lists that are asked for at the same time.
const AT_ONCE: usize = 16;
/// How long after a look the next one waits at least.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A list that nobody says has changed is looked at again after this long.
const LOOK_AGAIN: Duration = Duration::from_secs(60);
/// The longest wait after looks in vain.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The projects. Clones share them.
#[derive(Clone)]
pub struct Fleet(Arc<Shared>);

struct Shared {
    clock: Clock,
    scope: ProjectScope,
    projects: Mutex<Projects>,
    /// Tells that a list has to be asked for.
    wanted: Notify,
    defaults: Defaults,
    pipes: Pipes,
    /// They tell the fleet what happens, so that each holding the other would keep both, and the store, for ever.
    uplinks: OnceLock<WeakUplinks>,
}

/// What looks at projects need.
#[derive(Debug, Clone)]
pub struct Keeping {
    /// Where projects are reached.
    pub uplinks: Uplinks,
    /// Who has which.
    pub snapshots: Snapshots,
    /// Where it is put down that one is contacted.
    pub journal: Journal,
    /// Where it is put down that one changed.
    pub changes: Changes,
    /// What time it is.
    pub clock: Clock,
    /// Who owns the looks.
    pub tasks: TaskTracker,
}

impl Fleet {
    /// No project is known yet.
    #[must_use]
    pub fn new(clock: Clock, scope: ProjectScope) -> Self {
        Self(Arc::new(Shared {
            scope,
            projects: Mutex::default(),
            wanted: Notify::new(),
            defaults: Defaults::default(),
            pipes: Pipes::new(clock.clone()),
            clock,
            uplinks: OnceLock::new(),
        }))
    }

    /// Whose default `switch_project` sets.
    #[must_use]
    pub fn scope(&self) -> ProjectScope {
        self.0.scope
    }

    /// Says where projects are reached; once, at the start.
    pub fn joins(&self, uplinks: &Uplinks) {
        // A second one would be another gateway's.
        let _ = self.0.uplinks.set(uplinks.downgrade());
    }

    /// Conversations that clients lead through the pipe.
    #[must_use]
    pub fn pipes(&self) -> &Pipes {
        &self.0.pipes
    }

    /// Begins a conversation with a project's server.
    ///
    /// # Errors
    /// When the project is not connected, or there are too many.
    pub fn converse(&self, tenant: &TenantId, target: &Target) -> Result<Conversation, Error> {
        let uplinks = self.0.uplinks.get().and_then(WeakUplinks::get);
        let uplinks = uplinks.ok_or(UplinkError::Offline);
        let begun = uplinks.and_then(|uplinks| uplinks.conversation(tenant, target.id));
        begun.map_err(|error| match error {
            UplinkError::Overloaded => Error::Overloaded,
            _ => Error::Upstream(UpstreamError::ProjectOffline {
                project: target.name.as_str().into(),
                relay: target.id.to_string().into(),
                why: AWAY,
            }),
        })
    }

    /// Choices that are newer than the snapshots.
    #[must_use]
    pub fn defaults(&self) -> &Defaults {
        &self.0.defaults
    }

    /// The tools that callers see of a project; `None` where none are known, or they are kept back.
    #[must_use]
    pub fn list(&self, target: &Target) -> Option<Arc<ToolList>> {
        let list = self.projects().get(&target.id)?.list.clone()?;
        if *list.project == *target.name {
            return Some(list);
        }
        // It was renamed since.
        let renamed = Arc::new(list.renamed(&target.name));
        if let Some(live) = self.projects().get_mut(&target.id) {
            live.list = Some(Arc::clone(&renamed));
        }
        Some(renamed)
    }

    /// Whether a changed list of the project waits for an admin's word.
    #[must_use]
    pub fn is_withheld(&self, target: TargetId) -> bool {
        self.projects()
            .get(&target)
            .is_some_and(|live| live.withheld.is_some())
    }

    /// The list that waits for an admin's word, and the one it would take the place of, where that was seen.
    #[must_use]
    pub fn withheld(&self, target: TargetId) -> Option<(Arc<ToolList>, Option<Arc<ToolList>>)> {
        let projects = self.projects();
        let live = projects.get(&target)?;
        Some((live.withheld.clone()?, live.former.clone()))
    }

    /// The list that waits for an admin's word was accepted, durably.
    pub fn accepted(&self, target: TargetId, hash: &str) {
        if let Some(live) = self.projects().get_mut(&target)
            && live.withheld.as_ref().is_some_and(|list| *list.hash == *hash)
        {
            live.list = live.withheld.take();
            live.former = None;
        }
        self.ask_again(target);
    }

    /// What a project's server told last, the newest first.
    #[must_use]
    pub fn events(&self, target: TargetId) -> Vec<Event> {
        let projects = self.projects();
        let events = projects
            .get(&target)
            .map(|live| live.events.iter().rev().cloned().collect());
        events.unwrap_or_default()
    }

    /// Asks for a project's list again.
    pub fn ask_again(&self, target: TargetId) {
        if let Some(live) = self.projects().get_mut(&target) {
            live.asking.wanted = true;
        }
        self.0.wanted.notify_one();
    }

    /// Forgets projects of a tenant that are gone.
    pub fn sweep(&self, current: &Snapshot) {
        self.0.defaults.sweep(current);
        self.projects()
            .retain(|id, live| live.tenant != current.tenant || current.target(*id).is_some());
    }

    /// The tenants of the projects that are known.
    #[must_use]
    pub fn tenants(&self) -> Vec<TenantId> {
        let mut tenants: Vec<TenantId> = self.projects().values().map(|live| live.tenant.clone()).collect();
        tenants.sort_unstable();
        tenants.dedup();
        tenants
    }

    /// Looks at projects whose lists are wanted, until `stop`.
    pub async fn keep(self, rooms: Keeping, stop: CancellationToken) {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        // For those that were told to wait.
        let mut tick = interval(BETWEEN_LOOKS);
        let mut hours = interval(HOUR);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.0.wanted.notified() => {}
                _ = tick.tick() => {}
                _ = hours.tick() => self.forget_old_sessions(&rooms).await,
            }
            for (tenant, target) in self.due() {
                let (fleet, rooms, places) = (self.clone(), rooms.clone(), Arc::clone(&places));
                let tasks = rooms.tasks.clone();
                tasks.spawn(async move {
                    // Never closed.
                    let _place = places.acquire().await;
                    let found = look(&rooms, &tenant, target).await;
                    if fleet.found(target, found) {
                        rooms.snapshots.wake(&tenant);
                    }
                });
            }
        }
    }

    /// No session lives for longer than a day, so no choice of one has to.
    async fn forget_old_sessions(&self, rooms: &Keeping) {
        let before_us = rooms.clock.wall_us() - i64::try_from(DAY.as_micros()).unwrap_or(i64::MAX);
        for tenant in self.tenants() {
            let owner = tenant.clone();
            let swept = rooms.changes.make(By::gateway(tenant), move |tx| {
                Box::pin(async move { Ok((rows::sweep_sessions(tx, &owner, before_us).await?, vec![])) })
            });
            if let Err(error) = swept.await {
                tracing::warn!(%error, "the choices of former sessions cannot be forgotten now");
            }
        }
    }

    fn due(&self) -> Vec<(TenantId, TargetId)> {
        let now = self.0.clock.monotonic();
        let mut projects = self.projects();
        let uplinks = self.0.uplinks.get().and_then(WeakUplinks::get);
        let due = projects.iter_mut().filter(|(id, live)| {
            let asking = &live.asking;
            if asking.under_way || now < asking.not_before {
                return false;
            }
            // A server that changes its tools in silence is found out as well.
            let is_old = || now.saturating_sub(asking.looked) >= LOOK_AGAIN;
            asking.wanted || (is_old() && uplinks.as_ref().is_some_and(|uplinks| uplinks.is_connected(**id)))
        });
        due.map(|(id, live)| {
            live.asking.wanted = false;
            live.asking.under_way = true;
            (live.tenant.clone(), *id)
        })
        .collect()
    }

    /// True where callers see another list now.
    fn found(&self, target: TargetId, found: Found) -> bool {
        let now = self.0.clock.monotonic();
        let mut projects = self.projects();
        let Some(live) = projects.get_mut(&target) else {
            return false;
        };
        live.asking.under_way = false;
        live.asking.failures = match found {
            Found::Nothing(_) => live.asking.failures.saturating_add(1),
            _ => 0,
        };
        live.asking.not_before = now + wait(live.asking.failures);
        live.asking.looked = now;
        let before = live.list.as_ref().map(|list| Arc::clone(&list.hash));
        match found {
            Found::InForce(list) => {
                (live.list, live.former, live.withheld, live.why) = (Some(list), None, None, None);
            }
            Found::Withheld(list) => {
                if live.withheld.is_none() {
                    tracing::warn!(%target, project = &*list.project, "the tools of a project have changed, and are kept back until an admin accepts them");
                }
                live.former = live.list.take().or(live.former.take());
                (live.withheld, live.why) = (Some(list), None);
            }
            Found::Nothing(why) => {
                tracing::warn!(%target, why, "the tools of a project are not known");
                live.why = Some(why);
                live.asking.wanted = true;
            }
            Found::Gone => {}
        }
        live.list.as_ref().map(|list| &list.hash) != before.as_ref()
    }

    fn projects(&self) -> MutexGuard<'_, Projects> {
        self.0.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, tenant: &TenantId, target: TargetId, change: impl FnOnce(&mut Live)) {
        change(self.projects().entry(target).or_insert_with(|| Live::of(tenant)));
    }
}

fn wait(failures: u32) -> Duration {
    BETWEEN_LOOKS
        .saturating_mul(1 << failures.min(6))
        .min(LONGEST_WAIT)
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fleet({} projects)", self.projects().len())
    }
}

#[cfg(test)]
mod tests;
