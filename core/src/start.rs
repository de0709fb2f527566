//! Puts the rooms together, keeps them going, and takes them down in order.

mod alarms;
mod stand_alone;

use std::{path::Path, sync::Arc, time::Duration};

use futures::future::OptionFuture;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use toolgate_contract::ids::TenantId;

use crate::{
    adapters::Adapters,
    anchor::{Anchor, AnchorError, AnchorWatch},
    audit::Sealer,
    broker::{Broker, Door, Entrance, Rechecks, Rooms, UnknownProfiles},
    cache::Cache,
    changes::Changes,
    clock::Clock,
    config::CoreConfig,
    data_dir::{DataDir, DataDirError},
    discovery,
    error::Error,
    figures::Figures,
    fleet::{Fleet, Keeping},
    flights::Flights,
    identity::Secret,
    internal_issues::{self, InternalIssues},
    issuer::{Issuer, IssuerError},
    journal::{Journal, JournalError},
    keys::{KeyError, Keyring},
    limits::{Buckets, InFlight, Watches},
    mcp_sessions::McpSessions,
    oidc::{Oidc, OidcError},
    own_profiles::OwnProfiles,
    policy::Policies,
    projects::Projects,
    proof::Records,
    registry,
    rests::Rests,
    results::Results,
    rpc::{self, CoreService, GrpcTls, Rpc, ServeError},
    secrets::{Local, Providers, Secrets, SetupError},
    sessions::Sessions,
    snapshot::Snapshots,
    store::{Store, StoreError},
    targets::{BuiltInHost, Dialling, Relays, Targets},
    telemetry,
    tenants::{self, FirstRun},
    tokens::Tokens,
    uplinks::Uplinks,
    uses::Uses,
};

/// How often other instances' changes are looked for and old results forgotten.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
/// Calls in flight have this long to settle at shutdown.
const SETTLE_WITHIN: Duration = Duration::from_secs(15);
/// Verifications of one tenant at once: each goes through the whole record.
const VERIFICATIONS: u32 = 4;
/// Exports of one tenant at once, whatever is exported: each lasts as long as its reader takes, and holds what it read.
const EXPORTS: u32 = 8;
/// What is left to be written after the uplinks closed has this long.
const LAST_ROWS: Duration = Duration::from_secs(1);

/// Why the core did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The keys.
    #[error("the keys cannot be used: {0}")]
    Keys(#[from] KeyError),
    /// The checkpoints.
    #[error(transparent)]
    Anchor(#[from] AnchorError),
    /// The store.
    #[error("the store cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// A provider of secrets.
    #[error("secrets cannot be provided: {0}")]
    Secrets(#[from] SetupError),
    /// The issuer of JWTs.
    #[error("JWTs cannot be taken: {0}")]
    Issuer(#[from] IssuerError),
    /// The provider that people sign in with.
    #[error("people cannot sign in with OpenID Connect: {0}")]
    Oidc(#[from] OidcError),
    /// The first tenant.
    #[error("the first tenant cannot be made: {0}")]
    FirstRun(#[source] Error),
    /// A back end that the process was given.
    #[error("the address of {adapter} cannot be used: {what}")]
    BackEnd {
        /// Its adapter type.
        adapter: &'static str,
        /// What is wrong with it.
        what: String,
    },
}

/// A running core.
#[derive(Debug)]
pub struct Core {
    broker: Broker,
    service: CoreService,
    targets: Targets,
    projects: Projects,
    uplinks: Uplinks,
    first_run: Option<FirstRun>,
    process: Option<Secret>,
    housekeeping: JoinHandle<()>,
    anchor: Anchor,
    // Ends with the anchor, which raises them.
    alarms: Option<JoinHandle<()>>,
    stop: CancellationToken,
    // Released last: whoever gets the lock next may trust that nothing here writes any more.
    data_dir: DataDir,
}

impl Core {
    /// Opens the data directory and starts every room.
    pub async fn start(config: CoreConfig, clock: Clock) -> Result<Self, StartError> {
        let data_dir = DataDir::own(&config.data_dir)?;
        let place = config.store();
        data_dir.expect_record(&place.place)?;
        let store = Store::open(place.clone()).await?;
        let mut needed = store.sealed_with().await?;
        data_dir.expect_rows(!needed.is_empty())?;
        needed.extend(Local::roots_in_use(&store).await?);
        needed.sort_unstable();
        needed.dedup();
        let keys = Keyring::open_for(data_dir.path(), &needed, config.accept_lost_keys).map(Arc::new)?;
        let journal = Journal::start(store.clone(), Sealer::new(Arc::clone(&keys)), clock.clone());
        registry::warm_up();
        discovery::warm_up();
        telemetry::describe();
        internal_issues::begin();
        let calls = TaskTracker::new();
        let local = Local::new(store.clone(), Arc::clone(&keys));
        let alone = config.stand_alone.as_ref();
        let given = alone.map(stand_alone::read).transpose()?.unwrap_or_default();
        let internal_issues = alone.map_or_else(InternalIssues::default, |alone| InternalIssues {
            repo: alone.repo.clone(),
            kind: alone.kind.clone(),
            known: given.secrets.traces(),
        });
        let providers = Providers {
            process: alone.map(|_| Arc::new(given.secrets) as _),
            ..Providers::set_up(local.clone(), &config.secrets, &clock)?
        };
        let secrets = Secrets::new(providers, Arc::clone(&keys), clock.clone(), calls.clone());
        let snapshots = Snapshots::new(store.clone());
        #[cfg(any(test, feature = "conformance"))]
        let snapshots = snapshots.with_fixtures(config.fixtures.clone());
        let changes = Changes::new(
            store.clone(),
            journal.clone(),
            snapshots.clone(),
            clock.clone(),
            calls.clone(),
        );
        let relays = Arc::new(Relays::new(changes.clone(), journal.clone(), calls.clone()));
        let fleet = Fleet::new(clock.clone(), config.active_project_scope);
        let ear = Arc::new(fleet.ear(Arc::clone(&relays)));
        let uplinks = Uplinks::new(Arc::clone(&keys), relays, ear);
        fleet.joins(&uplinks);
        let (first_run, process) = match alone {
            None => (tenants::first_run(&changes, data_dir.path()).await, None),
            Some(alone) => {
                let begun = tenants::first_run_alone(&changes, data_dir.path()).await;
                let (tenant, first_run) = begun.map_err(StartError::FirstRun)?;
                let brought = stand_alone::bring(&snapshots, tenant, given.back_ends, alone.read_only).await;
                (Ok(first_run), Some(brought.map_err(StartError::FirstRun)?))
            }
        };
        let first_run = first_run.map_err(StartError::FirstRun)?;
        data_dir.note_record(&place.place)?;
        let targets = Targets::new(
            changes.clone(),
            Arc::clone(&keys),
            Arc::new(uplinks.clone()),
            &config.public_url,
            Dialling::new(secrets.clone(), journal.clone(), clock.clone(), calls.clone()),
        )
        .with_certificate(config.ca_cert.as_deref())
        .with_local_defaults(config.only_local);
        let mut anchor = Anchor::start(
            data_dir.path(),
            &config.checkpoint,
            config.accept_lost_keys,
            store.clone(),
            journal.progress(),
            clock.clone(),
        )
        .await?;
        let alarms = anchor
            .alarms()
            .map(|alarms| tokio::spawn(alarms::record(alarms, journal.clone(), clock.clone())));
        let adapters = Adapters::new(uplinks.clone(), clock.clone());
        #[cfg(feature = "conformance")]
        let adapters = adapters.answered_by(
            config
                .echo_hosts
                .then(|| Arc::new(crate::adapters::echo::Echo) as _),
        );
        let issuer = issuer(&config, &changes, &clock).await?;
        let sessions = Sessions::new(changes.clone());
        let oidc = oidc(&config, &changes, &keys, &sessions, &clock).await?;
        #[cfg(any(test, feature = "conformance"))]
        let adapters =
            adapters.with_fixtures(config.fixtures.map(|fixtures| {
                crate::adapters::fixtures::FixtureTools::new(fixtures, snapshots.clone()) as _
            }));
        let records =
            Records::new(store.clone(), Arc::clone(&keys), data_dir.path()).signed_by(journal.progress());
        let uses = Uses::new(store.clone(), clock.clone());
        let broker = Broker::new(Rooms {
            figures: Figures::new(clock.clone()),
            uses: uses.clone(),
            buckets: Buckets::new(config.limits, clock.clone()),
            in_flight: InFlight::new(config.limits.tenant_in_flight),
            adapters,
            fleet: fleet.clone(),
            cache: Cache::new(clock.clone()),
            flights: Flights::new(calls.clone()),
            rechecks: Rechecks::new(calls.clone()),
            targets: targets.clone(),
            results: Results::new(clock.clone()),
            rests: Rests::new(clock.clone()),
            secrets,
            issuer: issuer.clone(),
            entrance: Entrance::default(),
            internal_issues,
            watches: Watches::default(),
            unknown_profiles: UnknownProfiles::new(config.unknown_profile, clock.clone()),
            mcp_sessions: McpSessions::new(Arc::clone(&keys), clock.clone()),
            snapshots,
            upstream_timeout: config.upstream_timeout,
            calls,
            clock,
            keys,
            journal,
        });
        let projects = Projects::new(
            changes.clone(),
            targets.clone(),
            fleet.clone(),
            broker.rooms().snapshots.clone(),
        );
        let service = CoreService::over(Rpc {
            broker: broker.clone(),
            store,
            records,
            verifications: InFlight::new(VERIFICATIONS),
            exports: InFlight::new(EXPORTS),
            tokens: Tokens::new(changes.clone()),
            policies: Policies::new(changes.clone()),
            own_profiles: OwnProfiles::new(changes.clone()),
            sessions,
            oidc: oidc.clone(),
            targets: targets.clone(),
            projects: projects.clone(),
            uplinks: uplinks.clone(),
        })
        .await;
        let stop = CancellationToken::new();
        let keeping = Keeping {
            uplinks: uplinks.clone(),
            snapshots: broker.rooms().snapshots.clone(),
            journal: broker.rooms().journal.clone(),
            changes,
            clock: broker.rooms().clock.clone(),
            tasks: broker.rooms().calls.clone(),
        };
        let looks = fleet.keep(keeping, stop.clone());
        let house = keep_house(broker.clone(), anchor.watch(), stop.clone());
        let wrapped = local.keep(broker.rooms().clock.clone(), stop.clone());
        let used = uses.keep(stop.clone());
        let keys_of_issuer = issuer.map(|issuer| issuer.keep(stop.clone()));
        let provider = oidc.map(|oidc| oidc.keep(stop.clone()));
        let read_anew = (OptionFuture::from(keys_of_issuer), OptionFuture::from(provider));
        let housekeeping = tokio::spawn(async {
            tokio::join!(house, looks, wrapped, used, read_anew.0, read_anew.1);
        });
        Ok(Self {
            broker,
            service,
            targets,
            projects,
            uplinks,
            first_run,
            process,
            housekeeping,
            anchor,
            alarms,
            stop,
            data_dir,
        })
    }

    /// The core as a tower service, for a facade in the same process.
    #[must_use]
    pub fn service(&self, door: Door) -> CoreService {
        self.service.behind(door)
    }

    /// Serves the gRPC port until `shutdown` ends.
    pub fn serve_grpc(
        &self,
        listener: TcpListener,
        tls: Option<GrpcTls>,
        shutdown: CancellationToken,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + 'static {
        rpc::serve_tcp(self.service.clone(), listener, tls, shutdown.cancelled_owned())
    }

    /// Serves `core.sock` in the data directory until `shutdown` ends.
    pub fn serve_unix(
        &self,
        shutdown: CancellationToken,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + 'static {
        let path = self.data_dir.path().join("core.sock");
        let service = self.service.clone();
        async move { rpc::serve_unix(service, &path, shutdown.cancelled_owned()).await }
    }

    /// Watches what keeps the record until `shutdown`. An error when it has ended: then this process must end too.
    pub fn watch_record(
        &self,
        shutdown: CancellationToken,
    ) -> impl Future<Output = Result<(), JournalError>> + Send + 'static {
        let journal = self.broker.rooms().journal.clone();
        async move {
            tokio::select! {
                () = shutdown.cancelled() => Ok(()),
                () = journal.ended() => Err(JournalError::Ended),
            }
        }
    }

    /// What this start made of an empty store; `None` when there was a tenant before.
    #[must_use]
    pub fn first_run(&self) -> Option<&FirstRun> {
        self.first_run.as_ref()
    }

    /// The credential of the process that the core lives for; `None` where it is a gateway's.
    #[must_use]
    pub fn process(&self) -> Option<&Secret> {
        self.process.as_ref()
    }

    /// Makes sure that this very host is a target, unless an admin removed it, and says what the relay inside the
    /// gateway is to do. `has_key` is true where that relay has enrolled before and still has its key.
    pub async fn built_in_host(&self, host_name: &str, has_key: bool) -> Result<BuiltInHost, Error> {
        // A new store knows of no host, whatever a former one did with its key.
        let was_target = has_key && self.first_run.is_none();
        self.targets.built_in_host(host_name, has_key, was_target).await
    }

    /// The projects, for whoever follows a file of them.
    #[must_use]
    pub fn projects(&self) -> Projects {
        self.projects.clone()
    }

    /// Tokens for the relay inside the gateway, as admins ask for them.
    #[must_use]
    pub fn built_in_tokens(&self) -> watch::Receiver<Option<Secret>> {
        self.targets.built_in_tokens()
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// The first step of an end: probes hear at once that this gateway is going, while calls are still carried, so that
    /// whoever spreads calls over instances can look elsewhere.
    pub async fn announce_end(&self) {
        self.broker.rooms().entrance.announce_end();
        self.service.announce_end().await;
    }

    /// The second step: no new call is let in, and those under way have so long to settle over uplinks that still
    /// stand. Their answers and streams can be read until the doors close.
    pub async fn drain(&self, within: Duration) {
        let rooms = self.broker.rooms();
        rooms.entrance.close();
        rooms.calls.close();
        if time::timeout(within, rooms.calls.wait()).await.is_err() {
            tracing::warn!(
                open = rooms.calls.len(),
                "calls did not settle in time; they end with their uplinks"
            );
        }
    }

    /// The third step: every relay is told goodbye, and whoever watches health or a catalog is let go. Doors may close after it.
    pub async fn part(&self) {
        self.uplinks.shutdown().await;
        self.broker.rooms().watches.end();
        self.service.end_watches().await;
    }

    /// The last step: stops every room, after the steps before it where nobody took them.
    pub async fn shutdown(self) {
        self.drain(SETTLE_WITHIN).await;
        self.part().await;
        let rooms = self.broker.rooms();
        // What lost its uplink settles at once; the rows of relays that left ride here too.
        if time::timeout(LAST_ROWS, rooms.calls.wait()).await.is_err() {
            tracing::warn!(
                open = rooms.calls.len(),
                "calls did not settle; their intents are reconciled at the next start"
            );
        }
        self.stop.cancel();
        if let Err(error) = self.housekeeping.await {
            tracing::error!(%error, "housekeeping did not end well");
        }
        rooms.journal.close().await;
        // After the last row, so that it is signed as well.
        self.anchor.close().await;
        if let Some(alarms) = self.alarms
            && let Err(error) = alarms.await
        {
            tracing::error!(%error, "the alarms of the checkpoints did not end well");
        }
    }
}

/// Whose JWTs are taken; callers of it belong to the oldest tenant, unless the settings name another.
async fn issuer(config: &CoreConfig, changes: &Changes, clock: &Clock) -> Result<Option<Issuer>, StartError> {
    let Some(jwt) = &config.jwt else {
        return Ok(None);
    };
    let home = changes.home_tenant().await.map_err(StartError::FirstRun)?;
    let home = home.unwrap_or_else(TenantId::system);
    Ok(Some(Issuer::new(jwt, home, clock.clone())?))
}

/// Whom people sign in with; they belong to the oldest tenant, unless the settings name another.
async fn oidc(
    config: &CoreConfig,
    changes: &Changes,
    keys: &Arc<Keyring>,
    sessions: &Sessions,
    clock: &Clock,
) -> Result<Option<Oidc>, StartError> {
    let Some(oidc) = &config.oidc else {
        return Ok(None);
    };
    let home = changes.home_tenant().await.map_err(StartError::FirstRun)?;
    let home = home.unwrap_or_else(TenantId::system);
    let address = (config.public_url.as_str(), config.only_local);
    let oidc = Oidc::new(
        oidc,
        address,
        home,
        Arc::clone(keys),
        sessions.clone(),
        clock.clone(),
    )?;
    let known = changes.has_tenant(oidc.tenant()).await;
    match known.map_err(StartError::FirstRun)? {
        true => Ok(Some(oidc)),
        false => Err(OidcError::unknown_tenant().into()),
    }
}

async fn keep_house(broker: Broker, anchor: AnchorWatch, stop: CancellationToken) {
    let mut tick = time::interval(HOUSEKEEPING);
    tick.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tick.tick() => {}
        }
        let rooms = broker.rooms();
        rooms.results.sweep();
        rooms.rests.sweep();
        rooms.figures.sweep();
        rooms.secrets.sweep();
        rooms.mcp_sessions.sweep();
        anchor.tell_age();
        rooms.journal.end_if_displaced();
        if let Err(error) = rooms.snapshots.refresh_changed().await {
            tracing::warn!(%error, "changes by other instances cannot be seen now");
        }
        if let Err(error) = rooms.tidy().await {
            tracing::warn!(%error, "what is held for targets cannot be looked through now");
        }
    }
}

#[cfg(test)]
mod tests;
