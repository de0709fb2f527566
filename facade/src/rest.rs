//! The REST dialect: the frozen endpoints by hand, every other route from the contract's table, probes and documents.
//!
//! Decodes requests, asks the core, encodes answers and failures. Knows no rule of who may do what.

mod frozen;
mod generated;
mod path;
mod probes;
mod session;
mod transcode;

pub(crate) use self::{probes::is_probe, session::BEGIN as BEGIN_SESSION};

use axum::{
    Router,
    routing::{get, patch, post},
};
use bytes::Bytes;
use tokio_util::task::TaskTracker;
use toolgate_contract::registry::ROUTES;

use self::frozen::{adapter, held::Held, invoke, stream, tools};
use crate::{FacadeError, catalog::Lists, routes::Shared};

/// What this dialect keeps between requests.
#[derive(Debug)]
pub(crate) struct Kept {
    lists: Lists<Bytes>,
    held: Held,
}

impl Kept {
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self {
            lists: Lists::default(),
            held: Held::new(tasks),
        }
    }
}

/// The routes of this dialect.
pub(crate) fn routes() -> Result<Router<Shared>, FacadeError> {
    generated::add(by_hand(), ROUTES, &frozen::ROUTES, toolgate_contract::pool())
}

fn by_hand() -> Router<Shared> {
    Router::new()
        .route(tools::PATH, get(tools::tools))
        .route(invoke::PATH, post(invoke::invoke))
        .route(stream::PATH, get(stream::stream))
        .route(adapter::PATH, post(adapter::create))
        .route(adapter::ONE_PATH, patch(adapter::update).delete(adapter::delete))
        .route(
            session::PATH,
            get(session::current).post(session::begin).delete(session::end),
        )
        .route(probes::HEALTH, get(probes::health))
        .route(probes::READY, get(probes::ready))
        .route(probes::METRICS, get(probes::metrics))
        .route(probes::OPENAPI, get(probes::openapi))
}

/// The templates of its paths.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    let by_hand = [probes::HEALTH, probes::READY, probes::METRICS, probes::OPENAPI];
    ROUTES
        .iter()
        .map(|route| route.path)
        .chain(frozen::ROUTES.map(|(_, path)| path))
        .chain(by_hand)
}
