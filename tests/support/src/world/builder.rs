//! What a world consists of, and how it comes up.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;
use toolgate_core::{
    Core, CoreConfig, Door,
    clock::Clock,
    config::{JwtConfig, OidcConfig},
    fixtures::Fixtures,
    profiles::UnknownProfile,
};
use toolgate_facade::{CoreService, FacadeConfig, tls};
use tower::ServiceExt;

use super::World;
use crate::{
    Caller, Postgres, Project, Relay, Role, Seed, Store,
    dialect::Pipes,
    project::{CREATE, WHO},
};

/// The description of a world.
#[derive(Debug, Default)]
pub struct Builder {
    user_limit: Option<u32>,
    tenant_limit: Option<u32>,
    in_flight: Option<u32>,
    upstream_timeout: Option<Duration>,
    clock: Option<Clock>,
    hosts: Vec<String>,
    silent_hosts: Vec<String>,
    projects: Vec<Described>,
    default_project: Option<String>,
    principals: Vec<(String, Role)>,
    strangers: Vec<String>,
    tls: Option<(Vec<u8>, Vec<u8>)>,
    postgres: Option<Arc<Postgres>>,
    jwt: Option<JwtConfig>,
    oidc: Option<OidcConfig>,
    fixtures: Option<Fixtures>,
    unknown_profile: UnknownProfile,
}

/// A project to come.
#[derive(Debug)]
struct Described {
    name: String,
    access: &'static str,
    /// `None` for one whose relay never came.
    tools: Option<Vec<String>>,
}

impl Builder {
    /// Calls a minute for one principal.
    #[must_use]
    pub fn user_limit(mut self, calls: u32) -> Self {
        self.user_limit = Some(calls);
        self
    }

    /// Calls a minute for the tenant.
    #[must_use]
    pub fn tenant_limit(mut self, calls: u32) -> Self {
        self.tenant_limit = Some(calls);
        self
    }

    /// Limits so high that no test meets them.
    #[must_use]
    pub fn unlimited(mut self) -> Self {
        self.in_flight = Some(1_000);
        self.user_limit(1_000_000).tenant_limit(1_000_000)
    }

    /// How long a target has to answer.
    #[must_use]
    pub fn upstream_timeout(mut self, timeout: Duration) -> Self {
        self.upstream_timeout = Some(timeout);
        self
    }

    /// A clock that stands still until it is moved.
    #[must_use]
    pub fn clock_by_hand(mut self) -> Self {
        // Some day in 2026; which one decides nothing.
        self.clock = Some(Clock::manual(1_780_000_000_000_000));
        self
    }

    /// A host with a connected fake relay.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        self.hosts.push(name.to_owned());
        self
    }

    /// A host whose relay never came.
    #[must_use]
    pub fn silent_host(mut self, name: &str) -> Self {
        self.silent_hosts.push(name.to_owned());
        self
    }

    /// A connected fake project that may be written to, with a tool that reads and one that writes.
    #[must_use]
    pub fn project(self, name: &str) -> Self {
        self.project_with(name, &[WHO, CREATE])
    }

    /// The same with these tools.
    #[must_use]
    pub fn project_with(self, name: &str, tools: &[&str]) -> Self {
        self.described(name, "read_write", Some(tools))
    }

    /// A connected fake project with these tools that may only be read.
    #[must_use]
    pub fn read_only_project(self, name: &str, tools: &[&str]) -> Self {
        self.described(name, "read_only", Some(tools))
    }

    /// A project whose relay never came.
    #[must_use]
    pub fn silent_project(self, name: &str) -> Self {
        self.described(name, "read_write", None)
    }

    /// The project that the tenant's callers get who name none.
    #[must_use]
    pub fn default_project(mut self, name: &str) -> Self {
        self.default_project = Some(name.to_owned());
        self
    }

    fn described(mut self, name: &str, access: &'static str, tools: Option<&[&str]>) -> Self {
        let owned = |tools: &[&str]| tools.iter().map(|&tool| tool.to_owned()).collect();
        self.projects.push(Described {
            name: name.to_owned(),
            access,
            tools: tools.map(owned),
        });
        self
    }

    /// A principal of the first tenant.
    #[must_use]
    pub fn principal(mut self, name: &str, role: Role) -> Self {
        self.principals.push((name.to_owned(), role));
        self
    }

    /// An admin of another tenant of the same name.
    #[must_use]
    pub fn stranger(mut self, name: &str) -> Self {
        self.strangers.push(name.to_owned());
        self
    }

    /// TLS with this certificate and key in PEM.
    #[must_use]
    pub fn tls(mut self, certificate: Vec<u8>, key: Vec<u8>) -> Self {
        self.tls = Some((certificate, key));
        self
    }

    /// Takes the tokens of an issuer.
    #[must_use]
    pub fn jwt(mut self, settings: JwtConfig) -> Self {
        self.jwt = Some(settings);
        self
    }

    /// Lets people in whom a provider of OpenID Connect vouches for.
    #[must_use]
    pub fn oidc(mut self, settings: OidcConfig) -> Self {
        self.oidc = Some(settings);
        self
    }

    /// Leaves only what no profile leaves out to whoever asks for a profile that nobody knows.
    #[must_use]
    pub fn closed_to_unknown_profiles(mut self) -> Self {
        self.unknown_profile = UnknownProfile::Closed;
        self
    }

    /// With the record on a server.
    #[must_use]
    pub fn on(mut self, postgres: Arc<Postgres>) -> Self {
        self.postgres = Some(postgres);
        self
    }

    /// With the tools of conformance runs in every list.
    #[must_use]
    pub fn with_fixtures(mut self) -> Self {
        self.fixtures = Some(Fixtures::default());
        self
    }

    /// Starts the world.
    pub async fn start(self) -> World {
        let dir = tempfile::tempdir().expect("a directory for data");
        let clock = self.clock.clone().unwrap_or_else(Clock::system);
        let http = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let grpc = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", http.local_addr().expect("an address"));
        let grpc_url = format!("http://{}", grpc.local_addr().expect("an address"));

        let admin_token = self.first_run(&dir, &clock).await;
        let strangers = self.seed(&dir).await;
        let core = Core::start(self.config(&dir, &url), clock.clone())
            .await
            .expect("the core starts");

        let service = CoreService::new(core.service(Door::Facade).map_err(Into::into));
        let mut admin = Caller::new(&url, &grpc_url, admin_token).piped(Pipes::InProcess(service));
        if let Some((certificate, _)) = &self.tls {
            admin = admin.trusting(certificate);
        }
        let stop = CancellationToken::new();
        let doors = self.open_doors(&core, &url, http, grpc, &stop);
        let mut world = World {
            store: self.store(&dir),
            dir,
            clock,
            principals: strangers
                .into_iter()
                .map(|(name, token)| (name, admin.with_token(token)))
                .collect(),
            admin,
            hosts: BTreeMap::new(),
            projects: BTreeMap::new(),
            targets: BTreeMap::new(),
            fixtures: self.fixtures.clone(),
            stop,
            doors,
            core: Some(core),
        };
        self.people(&mut world).await;
        world
    }

    fn config(&self, dir: &TempDir, url: &str) -> CoreConfig {
        let mut config = CoreConfig::new(dir.path());
        config.public_url = url.to_owned();
        config.jwt = self.jwt.clone();
        config.oidc = self.oidc.clone();
        config.fixtures.clone_from(&self.fixtures);
        config.unknown_profile = self.unknown_profile;
        config.database_url = self
            .postgres
            .as_ref()
            .map(|postgres| postgres.url().parse().expect("the URL of a database"));
        config.limits.user_per_minute = self.user_limit.unwrap_or(config.limits.user_per_minute);
        config.limits.tenant_per_minute = self.tenant_limit.unwrap_or(config.limits.tenant_per_minute);
        config.limits.tenant_in_flight = self.in_flight.unwrap_or(config.limits.tenant_in_flight);
        config.upstream_timeout = self.upstream_timeout.unwrap_or(config.upstream_timeout);
        config
    }

    /// The first start makes tenant and admin.
    async fn first_run(&self, dir: &TempDir, clock: &Clock) -> String {
        let mut config = self.config(dir, "");
        // What is asked of an issuer is asked by the world that is looked at.
        config.jwt = None;
        config.oidc = None;
        let core = Core::start(config, clock.clone()).await.expect("the core starts");
        let first = core.first_run().expect("an empty directory");
        let token = first.admin_token.reveal().to_owned();
        core.shutdown().await;
        token
    }

    async fn seed(&self, dir: &TempDir) -> Vec<(String, String)> {
        if self.strangers.is_empty() {
            return Vec::new();
        }
        let mut seed = Seed::of(self.store(dir));
        let mut made = Vec::new();
        for name in &self.strangers {
            let tenant = seed.tenant(name).expect("a tenant");
            let token = seed.token(&tenant, name, Role::Admin, 0).expect("a token");
            made.push((name.clone(), token));
        }
        seed.finish().await.expect("the store takes it");
        made
    }

    fn store(&self, dir: &TempDir) -> Store {
        match &self.postgres {
            Some(postgres) => Store::Postgres(Arc::clone(postgres)),
            None => Store::Sqlite(dir.path().join("toolgate.db")),
        }
    }

    fn open_doors(
        &self,
        core: &Core,
        url: &str,
        http: TcpListener,
        grpc: TcpListener,
        stop: &CancellationToken,
    ) -> JoinSet<()> {
        let service = core.service(Door::Facade).map_err(Into::into);
        let service = CoreService::new(service);
        let issuers = self.jwt.iter().map(|jwt| jwt.issuer.clone());
        let config = FacadeConfig {
            public_url: Some(url.to_owned()),
            authorization_servers: issuers.collect(),
            tls: self
                .tls
                .as_ref()
                .map(|(certificate, key)| Arc::new(server_config(certificate, key))),
            ..FacadeConfig::default()
        };
        let mut doors = JoinSet::new();
        let facade = toolgate_facade::serve(http, service, config, stop.clone());
        doors.spawn(async move {
            if let Err(error) = facade.await {
                eprintln!("the facade ended: {error}");
            }
        });
        let grpc = core.serve_grpc(grpc, None, stop.clone());
        doors.spawn(async move {
            if let Err(error) = grpc.await {
                eprintln!("gRPC ended: {error}");
            }
        });
        doors
    }

    async fn people(self, world: &mut World) {
        for (name, role) in self.principals {
            let (_, caller) = world.admin.make_token(&name, role).await.expect("a token");
            world.principals.insert(name, caller);
        }
        for name in &self.silent_hosts {
            let (target, _) = world.admin.add_host(name).await.expect("a host");
            world.targets.insert(name.clone(), target);
        }
        for name in &self.hosts {
            let (target, token) = world.admin.add_host(name).await.expect("a host");
            let relay = Relay::enrol(world.admin.url(), &target, &token)
                .await
                .expect("the relay enrols");
            world.targets.insert(name.clone(), target);
            world.hosts.insert(name.clone(), relay);
        }
        for described in &self.projects {
            let (name, access) = (&described.name, described.access);
            let (target, token) = world.admin.add_project(name, access).await.expect("a project");
            world.targets.insert(name.clone(), target.clone());
            let Some(tools) = &described.tools else { continue };
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let project = Project::enrol_with(world.admin.url(), name, &target, &token, &tools)
                .await
                .expect("the project enrols");
            world.projects.insert(name.clone(), project);
        }
        if let Some(name) = &self.default_project {
            world.admin.set_default_project(name).await.expect("a default");
        }
        for described in &self.projects {
            if let Some(tools) = &described.tools {
                world.admin.project_is_up(&described.name, tools.len()).await;
            }
        }
    }
}

fn server_config(certificate: &[u8], key: &[u8]) -> rustls::ServerConfig {
    let dir = tempfile::tempdir().expect("a directory");
    let (certificate_path, key_path) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    std::fs::write(&certificate_path, certificate).expect("written");
    std::fs::write(&key_path, key).expect("written");
    let _ = rustls::crypto::ring::default_provider().install_default();
    tls::load(&certificate_path, &key_path)
        .expect("a certificate")
        .as_ref()
        .clone()
}
