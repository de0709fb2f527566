//! Probes, metrics and the OpenAPI document. None of them needs a credential.

use std::time::Duration;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use tonic::Request;
use toolgate_contract::{
    registry,
    v1::{GetStatusRequest, GetStatusResponse},
};

use crate::routes::{Shared, json_answer};

pub(super) const HEALTH: &str = "/healthz";
pub(super) const READY: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";
pub(super) const OPENAPI: &str = "/openapi.json";

/// Probes are asked often and give up soon.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether this is the route of a probe, which answers for as long as there is anyone to answer.
pub(crate) fn is_probe(template: &str) -> bool {
    [HEALTH, READY, METRICS].contains(&template)
}

#[derive(Serialize)]
struct Readiness<'a> {
    ready: bool,
    checks: Vec<Check<'a>>,
    version: &'a str,
}

#[derive(Serialize)]
struct Check<'a> {
    name: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

/// The process lives.
pub(super) async fn health() -> Response {
    typed("text/plain; charset=utf-8", "ok\n")
}

/// Calls can be carried; if not, 503 with the checks that did not pass.
pub(super) async fn ready(State(shared): State<Shared>) -> Response {
    if shared.ending.told.is_cancelled() {
        return unready(&shared.version, "stay", "the gateway is stopping");
    }
    let mut core = shared.link.status();
    let answer = core.get_status(Request::new(GetStatusRequest {}));
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(Ok(status)) => readiness(status.get_ref()),
        Ok(Err(_)) => unready(&shared.version, "core", "the core cannot be reached"),
        Err(_) => unready(&shared.version, "core", "the core does not answer"),
    }
}

fn readiness(status: &GetStatusResponse) -> Response {
    let checks = status.checks.iter();
    let code = if status.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let checks = checks
        .map(|check| Check {
            name: &check.name,
            ok: check.ok,
            detail: &check.detail,
        })
        .collect();
    written(
        code,
        &Readiness {
            ready: status.ready,
            checks,
            version: &status.version,
        },
    )
}

fn unready(version: &str, name: &str, detail: &str) -> Response {
    let checks = vec![Check {
        name,
        ok: false,
        detail,
    }];
    written(
        StatusCode::SERVICE_UNAVAILABLE,
        &Readiness {
            ready: false,
            checks,
            version,
        },
    )
}

/// The metrics of the process as Prometheus text.
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    typed("text/plain; version=0.0.4; charset=utf-8", (shared.metrics)())
}

/// The OpenAPI document of every route.
pub(super) async fn openapi() -> Response {
    json_answer(StatusCode::OK, Bytes::from_static(registry::OPENAPI.as_bytes()))
}

fn typed(content_type: &'static str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn written<T: Serialize>(status: StatusCode, answer: &T) -> Response {
    // Strings and booleans always serialise.
    json_answer(status, serde_json::to_vec(answer).unwrap_or_default().into())
}
