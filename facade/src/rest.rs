//! The REST dialect: the frozen endpoints by hand, every other route from the contract's table, probes and documents.
//!
//! Decodes requests, asks the core, encodes answers and failures. Knows no rule of who may do what.

mod body;
mod frozen;
mod generated;
mod path;
mod probes;
mod problem;
mod transcode;

pub(crate) use self::{probes::is_probe, problem::Problem};

use std::{any::Any, sync::Arc};

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse, Response},
    routing::{get, patch, post},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use tokio_util::task::TaskTracker;
use toolgate_contract::{registry::ROUTES, v1::ErrorReason};
use tower_http::catch_panic::CatchPanicLayer;

use self::frozen::{adapter, held::Held, invoke, stream, tools};
use crate::{
    CoreService, FacadeConfig, FacadeError, Limits, MetricsText,
    edge::{self, Gauges, Hosts, Rim},
    link::{Link, Refusals},
    serve::Ending,
    uplink,
};

/// What every route needs, made once.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Parts>);

/// The parts of [`Shared`].
pub(crate) struct Parts {
    pub(crate) link: Link,
    pub(crate) behind_proxy: bool,
    pub(crate) limits: Limits,
    /// How far the end of this facade has come.
    pub(crate) ending: Ending,
    lists: tools::Lists,
    held: Held,
    metrics: MetricsText,
    version: String,
}

impl std::ops::Deref for Shared {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// Every route of the facade over a core, without a listener.
///
/// # Errors
/// [`FacadeError::Route`] when the contract's table holds a route that cannot be served.
pub fn router(core: CoreService, config: &FacadeConfig) -> Result<Router, FacadeError> {
    build(core, config, TaskTracker::new(), Ending::default())
}

/// The same, with the owner of its tasks and its end.
pub(crate) fn build(
    core: CoreService,
    config: &FacadeConfig,
    tasks: TaskTracker,
    ending: Ending,
) -> Result<Router, FacadeError> {
    edge::describe();
    let link = Link::new(core, config.limits.core);
    let refusals = Refusals::new(link.clone(), tasks.clone());
    let shared = Shared(Arc::new(Parts {
        link,
        behind_proxy: config.behind_proxy,
        limits: config.limits.clone(),
        held: Held::new(tasks),
        ending: ending.clone(),
        lists: tools::Lists::default(),
        metrics: Arc::clone(&config.metrics),
        version: config.version.clone(),
    }));
    let router = if config.only_uplinks {
        Router::new().route(uplink::PATH, get(uplink::attach))
    } else {
        generated::add(by_hand(), ROUTES, &frozen::ROUTES, toolgate_contract::pool())?
    };
    Ok(router
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(Rim::new(
            Hosts::new(&config.allowed_hosts),
            Gauges::new(templates()),
            refusals,
            config.behind_proxy,
            ending.closed,
        ))
        .with_state(shared))
}

fn by_hand() -> Router<Shared> {
    Router::new()
        .route(tools::PATH, get(tools::tools))
        .route(invoke::PATH, post(invoke::invoke))
        .route(stream::PATH, get(stream::stream))
        .route(adapter::PATH, post(adapter::create))
        .route(adapter::ONE_PATH, patch(adapter::update).delete(adapter::delete))
        .route(probes::HEALTH, get(probes::health))
        .route(probes::READY, get(probes::ready))
        .route(probes::METRICS, get(probes::metrics))
        .route(probes::OPENAPI, get(probes::openapi))
        .route(probes::SIGN_IN, get(probes::sign_in))
        .route(uplink::PATH, get(uplink::attach))
}

/// The closed set of route labels.
fn templates() -> impl Iterator<Item = &'static str> {
    let by_hand = [
        probes::HEALTH,
        probes::READY,
        probes::METRICS,
        probes::OPENAPI,
        probes::SIGN_IN,
        uplink::PATH,
    ];
    ROUTES
        .iter()
        .map(|route| route.path)
        .chain(frozen::ROUTES.map(|(_, path)| path))
        .chain(by_hand)
}

async fn unknown() -> Problem {
    Problem::new(
        ErrorReason::ResourceNotFound,
        "no such path; /openapi.json lists the paths there are",
    )
}

/// The router adds `Allow`.
async fn wrong_method(request: Request) -> Response {
    not_allowed(request.method().as_str())
}

fn not_allowed(method: &str) -> Response {
    let message = format!("this path does not take {method}; the header allow lists the methods it takes");
    Problem::new(ErrorReason::RequestMalformed, message).with_status(StatusCode::METHOD_NOT_ALLOWED)
}

/// For routes that would take a method that the router lets through.
fn method_not_allowed(allow: &'static str) -> Response {
    let mut response = not_allowed("HEAD");
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no text");
    tracing::error!(text, "a request handler panicked");
    Problem::internal().into_response()
}

/// An answer of written JSON.
fn json_answer(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
