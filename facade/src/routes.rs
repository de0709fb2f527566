//! Every route of the facade: the dialects side by side, the rim around them, and what they share.

use std::{any::Any, sync::Arc};

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use tokio_util::task::TaskTracker;
use toolgate_contract::v1::ErrorReason;
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    CoreService, FacadeConfig, FacadeError, Limits, MetricsText,
    body::Room,
    challenge::Challenges,
    edge::{self, Gauges, Hosts, Rim},
    link::{Link, Refusals},
    mcp, openai,
    problem::Problem,
    rest,
    serve::Ending,
    uplink, web, well_known,
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
    /// What refused callers are told about getting in.
    pub(crate) challenges: Challenges,
    /// Who issues the tokens of services.
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) metrics: MetricsText,
    pub(crate) version: String,
    /// Bodies that are arriving.
    pub(crate) bodies: Room,
    pub(crate) rest: rest::Kept,
    pub(crate) mcp: mcp::Server,
    pub(crate) openai: openai::Kept,
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
    let challenges = Challenges::new(config);
    let shared = Shared(Arc::new(Parts {
        link: link.clone(),
        behind_proxy: config.behind_proxy,
        limits: config.limits.clone(),
        ending: ending.clone(),
        challenges: challenges.clone(),
        authorization_servers: config.authorization_servers.clone(),
        metrics: Arc::clone(&config.metrics),
        version: config.version.clone(),
        bodies: Room::default(),
        rest: rest::Kept::new(tasks),
        mcp: mcp::Server::new(link.clone(), config, ending.closed.clone()),
        openai: openai::Kept::default(),
    }));
    let uplinks = Router::new().route(uplink::PATH, axum::routing::get(uplink::attach));
    let router = if config.only_uplinks {
        uplinks.fallback(unknown)
    } else {
        uplinks
            .merge(rest::routes()?)
            .merge(mcp::routes())
            .merge(openai::routes())
            .merge(well_known::routes())
            .merge(web::routes())
            .fallback(unknown_beside_pages)
    };
    Ok(router
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(Rim::new(
            Hosts::new(&config.allowed_hosts),
            Gauges::new(templates()),
            refusals,
            challenges,
            config.behind_proxy,
            ending.closed,
        ))
        .with_state(shared))
}

/// The closed set of route labels.
fn templates() -> impl Iterator<Item = &'static str> {
    rest::paths()
        .chain(mcp::PATHS)
        .chain(openai::PATHS)
        .chain(well_known::PATHS)
        .chain(web::paths())
        .chain([uplink::PATH])
}

async fn unknown() -> Problem {
    Problem::new(
        ErrorReason::ResourceNotFound,
        "no such path; /openapi.json lists the paths there are",
    )
}

/// The same where there are pages: whoever typed the address sees one.
async fn unknown_beside_pages(request: Request) -> Response {
    match web::nowhere(&request) {
        Some(page) => page,
        None => unknown().await.into_response(),
    }
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
pub(crate) fn method_not_allowed(method: &str, allow: &'static str) -> Response {
    let mut response = not_allowed(method);
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
pub(crate) fn json_answer(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests;
