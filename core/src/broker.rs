//! The path of one call: admit, resolve, permit, intend, lend, dispatch, settle.
//!
//! Each step consumes the former value and gives a richer one whose constructor is private to the step, so a call
//! that was not permitted cannot be dispatched and a result that is not on the record cannot be released: neither
//! compiles. Refusals reach the record in one place, `refuse.rs`. Knows no dialect.

mod admit;
mod answer;
mod ask;
mod context;
mod dispatch;
mod entrance;
mod errand;
mod facts;
mod fleet_tools;
mod for_project;
mod inner;
mod intend;
mod lend;
mod local;
mod permit;
mod pipelines;
mod prove;
mod ready;
mod recheck;
mod refuse;
mod resolve;
mod running;
mod settle;
mod share;
mod tidy;
mod unknown_profiles;

use std::{sync::Arc, time::Duration};

use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};
use toolgate_contract::{
    ids::{CallId, TenantId},
    v1::ErrorReason,
};
use tracing::Instrument;

use self::{
    admit::Admitted,
    facts::{Facts, Refusal},
    intend::Intended,
    permit::{Recalled, Way},
    ready::Ready,
};
pub(crate) use self::{
    admit::session_key,
    for_project::{listed, shown},
};
pub(crate) use self::{
    answer::Answer, entrance::Entrance, errand::Fault, recheck::Rechecks, unknown_profiles::UnknownProfiles,
};
pub use self::{
    ask::{Ask, Caller, Door, Wish},
    for_project::Piped,
    refuse::Failed,
    running::{RunEvent, Running},
    settle::Settled,
};
use crate::{
    adapters::Adapters,
    cache::{self, Cache},
    clock::Clock,
    error::Error,
    figures::Figures,
    fleet::Fleet,
    flights::Flights,
    identity::Action,
    internal_issues::InternalIssues,
    issuer::Issuer,
    journal::Journal,
    keys::Keyring,
    limits::{Buckets, InFlight, Watches},
    mcp_sessions::McpSessions,
    rests::Rests,
    results::{Ended, Results},
    secrets::Secrets,
    snapshot::{Snapshots, Target},
    targets::Targets,
    telemetry,
    upstream::{Reports, Told, Wanted},
    uses::Uses,
};

/// The path and what it needs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Broker(Arc<Rooms>);

#[derive(Debug)]
pub(crate) struct Rooms {
    pub(crate) clock: Clock,
    pub(crate) keys: Arc<Keyring>,
    pub(crate) journal: Journal,
    pub(crate) snapshots: Snapshots,
    pub(crate) buckets: Buckets,
    /// What was counted lately.
    pub(crate) figures: Figures,
    /// When credentials were last used.
    pub(crate) uses: Uses,
    pub(crate) in_flight: InFlight,
    pub(crate) adapters: Adapters,
    /// What projects bring, and where calls go that name none.
    pub(crate) fleet: Fleet,
    pub(crate) cache: Cache,
    /// Inventory reads under way.
    pub(crate) flights: Flights<cache::Key, Result<Answer, Fault>>,
    pub(crate) rechecks: Rechecks,
    /// Where it is put down what a re-check found.
    pub(crate) targets: Targets,
    pub(crate) results: Results,
    /// What capped results left.
    pub(crate) rests: Rests,
    pub(crate) secrets: Secrets,
    /// Whose JWTs are taken beside tokens of our own.
    pub(crate) issuer: Option<Issuer>,
    pub(crate) entrance: Entrance,
    /// Where problems of the platform are reported.
    pub(crate) internal_issues: InternalIssues,
    /// Sessions of MCP clients, which every request of one names.
    pub(crate) mcp_sessions: McpSessions,
    /// What becomes of profiles that nobody knows.
    pub(crate) unknown_profiles: UnknownProfiles,
    /// Places of those who watch their catalogs.
    pub(crate) watches: Watches,
    /// Total time a target has.
    pub(crate) upstream_timeout: Duration,
    /// Owns every call from its intent on: a vanished caller changes nothing about its settlement.
    pub(crate) calls: TaskTracker,
}

impl Broker {
    pub(crate) fn new(rooms: Rooms) -> Self {
        Self(Arc::new(rooms))
    }

    /// Carries a call and waits for its settlement. Dropping the future is the caller's cancellation.
    pub async fn call(&self, ask: &Ask, wish: Wish) -> Result<Settled, Failed> {
        let (inside, ready) = self.prepare(ask, wish, Reports::none()).await?;
        self.carry(inside, ready, None).end().await
    }

    /// Starts a call that tells what it is doing, as far as that is wanted. Everything up to the secret is checked first;
    /// dropping what is given here is the caller's cancellation.
    pub async fn run(&self, ask: &Ask, wish: Wish, wanted: Wanted) -> Result<Running, Failed> {
        let (reports, told) = Reports::wanted(wanted);
        let (inside, ready) = self.prepare(ask, wish, reports).await?;
        Ok(self.carry(inside, ready, Some(told)))
    }

    /// Starts a request that a client of the pipe sends to a project's server, and tells everything that the server says
    /// and asks meanwhile.
    pub async fn pipe(&self, ask: &Ask, wish: Wish, piped: Piped) -> Result<Running, Failed> {
        let (reports, told) = Reports::wanted(Wanted {
            everything: true,
            ..Wanted::default()
        });
        let caller = self.caller(ask, Action::UseTools).await?;
        let inside = self.enter(&caller).await?;
        let way = pipe_path(&self.0, caller, ask, (wish, piped), reports).await;
        let ready = self.ready(way).await?;
        Ok(self.carry(inside, ready, Some(told)))
    }

    /// Starts a call whose events are watched by its correlation id. Everything up to the secret is checked first.
    pub async fn invoke(&self, ask: &Ask, wish: Wish) -> Result<CallId, Failed> {
        let (_inside, ready) = self.prepare(ask, wish, Reports::none()).await?;
        let facts = ready.facts();
        let call = facts.call;
        let stream = self
            .0
            .results
            .open(call, facts.caller.principal(), ready.cancelled());
        let rooms = Arc::clone(&self.0);
        let span = telemetry::call_span(call, facts.caller.principal());
        let rest = async move {
            let ended = match ready.finish(&rooms).await {
                Ok(settled) => Ended::Released {
                    result: settled.release(),
                    duration_ms: settled.duration_ms(),
                },
                Err(failed) => Ended::Failed(failed.into_failure()),
            };
            rooms.results.finish(&stream, ended);
        };
        self.0.calls.spawn(rest.instrument(span));
        Ok(call)
    }

    /// Tests the connection to a target through the same path; an internal capability that is in no list.
    pub async fn test(&self, ask: &Ask, target_id: &str) -> Result<Settled, Failed> {
        let caller = self.caller(ask, Action::TestTargets).await?;
        let inside = self.enter(&caller).await?;
        let admitted = Admitted::for_test(&self.0, caller, ask);
        let way = test_path(&self.0, admitted, target_id).await;
        let ready = self.ready(way).await?;
        self.carry(inside, ready, None).end().await
    }

    /// Verifies who asks and that its role may do this. A refusal is on the record before it is told.
    pub async fn caller(&self, ask: &Ask, action: Action) -> Result<Caller, Failed> {
        let caller = match admit::authenticate(&self.0, ask).await {
            Ok(caller) => caller,
            Err(error) => return Err(refuse::unknown(&self.0, ask, error)),
        };
        let allowed =
            admit::in_session(&self.0, ask, &caller).and_then(|()| caller.principal().role.require(action));
        match allowed {
            Ok(()) => Ok(caller),
            Err(error) => {
                let facts = Facts::without_call(&self.0, caller);
                Err(refuse::refused(&self.0, Refusal { facts, error }).await)
            }
        }
    }

    /// Records that a request of this caller was refused outside the path of a call, and gives the answer.
    pub async fn refuse(&self, caller: &Caller, error: Error) -> Failed {
        let facts = Facts::without_call(&self.0, caller.clone());
        let failed = refuse::refused(&self.0, Refusal { facts, error }).await;
        // No call was asked for, so there is none to name; two such refusals are the same to the byte.
        Failed { call: None, ..failed }
    }

    /// Counts on the record what was refused before it came to a method: by a facade, or around the services.
    pub async fn refused_outside(&self, ask: &Ask, reason: ErrorReason) {
        refuse::outside(&self.0, ask, reason).await;
    }

    /// Counts a bad credential that came in a message, and gives the answer.
    #[must_use]
    pub fn refuse_unknown(&self, ask: &Ask, error: Error) -> Failed {
        refuse::unknown(&self.0, ask, error)
    }

    /// Counts somebody whom a provider named and who was not let in, and gives the answer.
    #[must_use]
    pub fn refuse_person(&self, ask: &Ask, (tenant, name): (TenantId, String), error: Error) -> Failed {
        refuse::person(&self.0, ask, (tenant, name), error)
    }

    /// The project of this name, where this caller may see it.
    ///
    /// # Errors
    /// When there is none.
    pub fn project(&self, caller: &Caller, name: &str) -> Result<Arc<Target>, Error> {
        for_project::named(caller, name)
    }

    /// Whether the project can be spoken to now: connected, and its tools not kept back.
    ///
    /// # Errors
    /// Why not.
    pub fn is_reachable(&self, project: &Target) -> Result<(), Error> {
        for_project::is_reachable(&self.0, project)
    }

    pub(crate) fn rooms(&self) -> &Rooms {
        &self.0
    }

    /// Counts a call as one under way from before its intent, so that the end waits for it.
    async fn enter(&self, caller: &Caller) -> Result<TaskTrackerToken, Failed> {
        match self.0.entrance.enter(&self.0.calls) {
            Ok(inside) => Ok(inside),
            Err(error) => Err(self.refuse(caller, error).await),
        }
    }

    async fn prepare(
        &self,
        ask: &Ask,
        wish: Wish,
        reports: Reports,
    ) -> Result<(TaskTrackerToken, Ready), Failed> {
        let caller = self.caller(ask, Action::UseTools).await?;
        let inside = self.enter(&caller).await?;
        let way = path(&self.0, caller, ask, wish, reports).await;
        Ok((inside, self.ready(way).await?))
    }

    async fn ready(&self, went: Result<Went, Box<Refusal>>) -> Result<Ready, Failed> {
        match went {
            Ok(Went::On(intended)) => {
                let lent = lend::lend(&self.0, *intended).await?;
                Ok(Ready::Lent(Box::new(lent)))
            }
            Ok(Went::Home(recalled)) => Ok(Ready::Recalled(recalled)),
            Err(refusal) => Err(refuse::refused(&self.0, *refusal).await),
        }
    }

    fn carry(&self, inside: TaskTrackerToken, ready: Ready, told: Option<Told>) -> Running {
        let call = ready.facts().call;
        let caller_is_here = ready.cancelled().drop_guard();
        let rooms = Arc::clone(&self.0);
        let finished = self.0.calls.spawn(async move { ready.finish(&rooms).await });
        // The task is counted by itself.
        drop(inside);
        Running::new(call, told, finished, caller_is_here)
    }
}

/// How far a call went before its secret is needed.
enum Went {
    On(Box<Intended>),
    Home(Box<Recalled>),
}

async fn path(
    rooms: &Rooms,
    caller: Caller,
    ask: &Ask,
    wish: Wish,
    reports: Reports,
) -> Result<Went, Box<Refusal>> {
    let admitted = admit::admit(rooms, caller, ask, wish, reports)?;
    let admitted = inner::unwrap(rooms, admitted)?;
    let resolved = resolve::resolve(rooms, admitted)?;
    go(rooms, permit::permit(rooms, resolved)?).await
}

async fn pipe_path(
    rooms: &Rooms,
    caller: Caller,
    ask: &Ask,
    (wish, piped): (Wish, Piped),
    reports: Reports,
) -> Result<Went, Box<Refusal>> {
    let admitted = admit::admit(rooms, caller, ask, wish, reports)?;
    let resolved = for_project::piped(rooms, admitted, piped)?;
    go(rooms, permit::permit(rooms, resolved)?).await
}

async fn test_path(rooms: &Rooms, admitted: Admitted, target_id: &str) -> Result<Went, Box<Refusal>> {
    let resolved = resolve::connection_test(admitted, target_id)?;
    go(rooms, permit::permit(rooms, resolved)?).await
}

async fn go(rooms: &Rooms, way: Way) -> Result<Went, Box<Refusal>> {
    match way {
        Way::On(permitted) => intend::intend(rooms, permitted).await.map(Box::new).map(Went::On),
        Way::Home(recalled) => Ok(Went::Home(Box::new(recalled))),
    }
}

#[cfg(test)]
mod tests;
