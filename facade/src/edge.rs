//! The rim of every route: who may knock at all, what is measured, and headers that every answer carries.
//!
//! Looks at `Host` and `Origin` before anything else of the request is read. Knows no route and no body; of credentials
//! only that `session` may take one from a cookie.

mod describe;
mod hosts;
mod observe;

pub(crate) use describe::describe;
pub(crate) use hosts::Hosts;
pub(crate) use observe::Gauges;

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request},
    response::{IntoResponse, Response},
};
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio_util::sync::CancellationToken;
use toolgate_contract::v1::{ErrorReason, Failure};
use tower::{Layer, Service};
use tracing::Instrument;

use crate::{
    challenge::Challenges,
    link::{Knocker, OwnRefusal, Peer, Refusals, source},
    problem::Problem,
    rest::is_probe,
    session, web,
};

/// When another instance, or this one anew, is likely to be there.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// Wraps the whole router. Cloned with every request, so it is one pointer.
#[derive(Debug, Clone)]
pub(crate) struct Rim(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    hosts: Hosts,
    gauges: Gauges,
    refusals: Refusals,
    challenges: Challenges,
    behind_proxy: bool,
    /// No new request is carried out.
    closed: CancellationToken,
}

impl Rim {
    pub(crate) fn new(
        hosts: Hosts,
        gauges: Gauges,
        refusals: Refusals,
        challenges: Challenges,
        behind_proxy: bool,
        closed: CancellationToken,
    ) -> Self {
        Self(Arc::new(Parts {
            hosts,
            gauges,
            refusals,
            challenges,
            behind_proxy,
            closed,
        }))
    }
}

impl Parts {
    /// Requests that came over a connection from before the doors closed; probes are answered to the last.
    fn check_open(&self, template: &str) -> Result<(), Problem> {
        if !self.closed.is_cancelled() || is_probe(template) {
            return Ok(());
        }
        let text = "the gateway is stopping and takes no new requests; try again in a few seconds";
        Err(Failure::new(ErrorReason::Overloaded, text)
            .retry_after(RETRY_AFTER)
            .into())
    }

    fn knocker(&self, request: &Request) -> Knocker {
        let source = source(request.headers(), request.extensions(), self.behind_proxy);
        Knocker::of(request, source)
    }
}

impl<S> Layer<S> for Rim {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded {
            inner,
            rim: self.clone(),
        }
    }
}

/// The router behind the rim.
#[derive(Debug, Clone)]
pub(crate) struct Guarded<S> {
    inner: S,
    rim: Rim,
}

impl<S> Service<Request> for Guarded<S>
where
    S: Service<Request, Error = Infallible> + Clone + Send + 'static,
    S::Response: IntoResponse,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let began = Instant::now();
        let rim = Arc::clone(&self.rim.0);
        let matched = request.extensions().get::<MatchedPath>().cloned();
        let template = matched.as_ref().map_or("", MatchedPath::as_str);
        let place = rim.gauges.place(template, request.method());
        let span = tracing::debug_span!("request", method = %request.method(), route = template);
        let dialled = request.extensions().get::<Peer>().map(|peer| peer.dialled);
        let hosts = &rim.hosts;
        let framed = check_framing(request.headers());
        let is_misframed = framed.is_err();
        let admitted = hosts
            .check(request.uri(), request.headers(), dialled)
            .and_then(|()| check_names(request.headers()))
            .and(framed)
            .and_then(|()| rim.check_open(template))
            .and_then(|()| session::admit(&mut request, template));
        let knocker = rim.knocker(&request);
        let may_be_packed = web::may_be_packed(&request);
        let (uri, presented) = (
            request.uri().clone(),
            request.headers().contains_key(header::AUTHORIZATION),
        );
        let answer = match admitted {
            Ok(()) => Ok(self.inner.call(request)),
            Err(problem) => Err(problem),
        };
        let whole = async move {
            let mut response = match answer {
                Ok(answer) => answer.await?.into_response(),
                Err(problem) => problem.into_response(),
            };
            protect(&mut response);
            if response.status() == StatusCode::UNAUTHORIZED {
                let challenge = rim.challenges.unauthenticated(uri.path(), presented);
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            if is_misframed {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            if let Some(refusal) = response.extensions_mut().remove::<OwnRefusal>() {
                rim.refusals.report(refusal, knocker);
            }
            if may_be_packed {
                response = web::pack(response).await;
            }
            rim.gauges.observe(place, &response, began.elapsed());
            Ok(response)
        };
        Box::pin(whole.instrument(span))
    }
}

/// Proxies disagree on whether `_` in a name is `-`, so that such a header could slip past one of them.
fn check_names(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.keys().find(|name| name.as_str().contains('_')) {
        None => Ok(()),
        Some(name) => Err(Problem::new(
            ErrorReason::RequestMalformed,
            format!("header {name} has an underscore in its name; such headers are not read"),
        )),
    }
}

/// Two readers of a list of codings may see two ends of one body (`docs/adr/0024`).
fn check_framing(headers: &HeaderMap) -> Result<(), Problem> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(Problem::new(
            ErrorReason::RequestMalformed,
            "header transfer-encoding must be given once, as chunked; other codings are not read",
        )),
    }
}

/// Headers that keep browsers from guessing, storing, framing or telling others.
fn protect(response: &mut Response) {
    const DEFAULTS: [(HeaderName, HeaderValue); 4] = [
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(
                "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            ),
        ),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    let is_document = response.extensions().get::<web::NoDocument>().is_none();
    let defaults = if is_document {
        &DEFAULTS[..]
    } else {
        &DEFAULTS[..1]
    };
    let headers = response.headers_mut();
    headers.reserve(defaults.len());
    for (name, value) in defaults.iter().cloned() {
        headers.entry(name).or_insert(value);
    }
}
