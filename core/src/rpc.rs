//! The core's gRPC face: decode, ask the room, encode. Holds no rules.
//!
//! One tower service carries everything: management and broker services as generated, the typed tool services by
//! `typed` without generated code. The same service stands in process, on the Unix socket and on the gRPC port.

mod ask;
mod audit;
mod broker;
mod door;
mod fleet;
mod list;
mod manage;
mod outside;
mod overview;
mod pipe;
mod policy;
mod profile_costs;
mod profiles;
mod registry;
mod relays;
mod run;
mod serve;
mod sessions;
mod sign_in;
mod status;
mod targets;
mod tokens;
mod typed;
mod watch_tools;

use tonic::{Status, server::NamedService, service::Routes};
use tonic_health::server::HealthReporter;
use toolgate_contract::{
    DESCRIPTOR_SET,
    v1::{
        audit_service_server::AuditServiceServer, broker_service_server::BrokerServiceServer,
        fleet_service_server::FleetServiceServer, overview_service_server::OverviewServiceServer,
        pipe_service_server::PipeServiceServer, policy_service_server::PolicyServiceServer,
        profile_service_server::ProfileServiceServer, registry_service_server::RegistryServiceServer,
        session_service_server::SessionServiceServer, sign_in_service_server::SignInServiceServer,
        status_service_server::StatusServiceServer, target_service_server::TargetServiceServer,
        token_service_server::TokenServiceServer, uplink_service_server::UplinkServiceServer,
    },
};

pub use self::{
    door::CoreService,
    serve::{GrpcTls, ServeError, serve_tcp, serve_unix},
};
use crate::{
    broker::{Broker, Failed},
    limits::InFlight,
    oidc::Oidc,
    own_profiles::OwnProfiles,
    policy::Policies,
    projects::Projects,
    proof::Records,
    sessions::Sessions,
    store::Store,
    targets::Targets,
    tokens::Tokens,
    uplinks::{AttachService, Uplinks},
};

/// Arguments may hold 1 MiB; the rest of a message is small.
const MAX_MESSAGE: usize = (1 << 20) + (64 << 10);

/// The name under which health is asked for; the empty one means the whole.
const BROKER_NAME: &str = <BrokerServiceServer<Rpc> as NamedService>::NAME;

/// Implements the services of the contract over the rooms.
#[derive(Debug, Clone)]
pub(crate) struct Rpc {
    pub(crate) broker: Broker,
    pub(crate) store: Store,
    pub(crate) records: Records,
    /// Places of verifications.
    pub(crate) verifications: InFlight,
    /// Places of exports, which last as long as somebody reads.
    pub(crate) exports: InFlight,
    pub(crate) tokens: Tokens,
    pub(crate) policies: Policies,
    pub(crate) own_profiles: OwnProfiles,
    pub(crate) sessions: Sessions,
    pub(crate) oidc: Option<Oidc>,
    pub(crate) targets: Targets,
    pub(crate) projects: Projects,
    pub(crate) uplinks: Uplinks,
}

impl Rpc {
    /// Every service, for any door, and what their health is told to.
    pub(crate) async fn routes(self) -> (Routes, HealthReporter) {
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<BrokerServiceServer<Self>>().await;
        let mut routes = Routes::builder();
        routes
            .add_service(health_service)
            .add_service(BrokerServiceServer::new(self.clone()).max_decoding_message_size(MAX_MESSAGE))
            .add_service(AuditServiceServer::new(self.clone()))
            .add_service(FleetServiceServer::new(self.clone()))
            .add_service(OverviewServiceServer::new(self.clone()))
            .add_service(PipeServiceServer::new(self.clone()).max_decoding_message_size(MAX_MESSAGE))
            .add_service(PolicyServiceServer::new(self.clone()))
            .add_service(ProfileServiceServer::new(self.clone()))
            .add_service(RegistryServiceServer::new(self.clone()))
            .add_service(SessionServiceServer::new(self.clone()))
            .add_service(SignInServiceServer::new(self.clone()))
            .add_service(TargetServiceServer::new(self.clone()))
            .add_service(TokenServiceServer::new(self.clone()))
            .add_service(UplinkServiceServer::new(AttachService::new(self.uplinks.clone())))
            .add_service(StatusServiceServer::new(self));
        // Clients still ask for either version.
        if let Some(reflection) = logged(reflection().build_v1()) {
            routes.add_service(reflection);
        }
        if let Some(reflection) = logged(reflection().build_v1alpha()) {
            routes.add_service(reflection);
        }
        (routes.routes(), health)
    }
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

fn logged<T>(built: Result<T, tonic_reflection::server::Error>) -> Option<T> {
    built
        .inspect_err(|error| tracing::error!(%error, "reflection is off"))
        .ok()
}

fn status(failed: Failed) -> Status {
    failed.into_failure().into_status()
}

#[cfg(test)]
mod tests;
