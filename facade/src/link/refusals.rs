//! Tells the core what the facade refused by itself, so that it is counted on the record.
//!
//! Best effort and bounded: an answer never waits for it, and a flood of refusals cannot become a flood of rpcs. What
//! is left out is counted in the metrics.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};
use metrics::counter;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use tonic::{Extensions, Request, metadata::MetadataMap};
use toolgate_contract::v1::{ErrorReason, ReportRefusalRequest};

use super::{FACADE, Link, SOURCE, dialect};

/// Reports under way at a time.
const ROOM: usize = 64;
const PATIENCE: Duration = Duration::from_secs(5);

/// A refusal that the core does not know of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnRefusal(pub(crate) ErrorReason);

/// The way refusals are told.
#[derive(Debug, Clone)]
pub(crate) struct Refusals {
    link: Link,
    tasks: TaskTracker,
    room: Arc<Semaphore>,
}

/// Who was refused, as far as it is known before the request is read.
#[derive(Debug)]
pub(crate) struct Knocker {
    dialect: HeaderValue,
    credential: Option<HeaderValue>,
    source: Option<HeaderValue>,
}

impl Knocker {
    /// Two credentials are none: nobody can say which one was meant.
    pub(crate) fn of<B>(request: &http::Request<B>, source: Option<HeaderValue>) -> Self {
        let mut credentials = request.headers().get_all(AUTHORIZATION).iter();
        let credential = credentials.next().cloned();
        Self {
            dialect: dialect(request.uri().path(), request.extensions()),
            credential: credential.filter(|_| credentials.next().is_none()),
            source,
        }
    }
}

impl Knocker {
    /// Whoever speaks MCP through the pipes of this process.
    pub(crate) fn of_process(credential: Option<HeaderValue>) -> Self {
        Self {
            dialect: HeaderValue::from_static("mcp"),
            credential,
            source: None,
        }
    }
}

impl Refusals {
    pub(crate) fn new(link: Link, tasks: TaskTracker) -> Self {
        Self {
            link,
            tasks,
            room: Arc::new(Semaphore::new(ROOM)),
        }
    }

    /// Reports a refusal of one of the reasons that are a facade's.
    pub(crate) fn report(&self, OwnRefusal(reason): OwnRefusal, knocker: Knocker) {
        if !is_counted(reason) {
            return;
        }
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else {
            counter!("toolgate_http_refusals_unreported_total").increment(1);
            return;
        };
        let mut broker = self.link.broker();
        let request = request(reason, knocker);
        self.tasks.spawn(async move {
            let told = tokio::time::timeout(PATIENCE, broker.report_refusal(request)).await;
            if !matches!(told, Ok(Ok(_))) {
                counter!("toolgate_http_refusals_unreported_total").increment(1);
            }
            drop(permit);
        });
    }
}

fn request(reason: ErrorReason, knocker: Knocker) -> Request<ReportRefusalRequest> {
    let mut told = HeaderMap::with_capacity(3);
    told.insert(FACADE, knocker.dialect);
    if let Some(credential) = knocker.credential {
        told.insert(AUTHORIZATION, credential);
    }
    if let Some(source) = knocker.source {
        told.insert(SOURCE, source);
    }
    let message = ReportRefusalRequest {
        reason: reason.into(),
    };
    Request::from_parts(MetadataMap::from_headers(told), Extensions::default(), message)
}

/// Every reason has its answer here: what a facade refuses by itself is counted, unless nothing was asked of the core
/// that it could have refused.
fn is_counted(reason: ErrorReason) -> bool {
    use ErrorReason as R;
    match reason {
        R::OriginForbidden | R::RequestMalformed | R::RequestTooLarge => true,
        R::Unspecified
        | R::CredentialInvalid
        | R::RoleForbidden
        | R::WriteRejected
        | R::ToolNotFound
        | R::TargetNotFound
        | R::CallNotFound
        | R::ResourceNotFound
        | R::ProjectNotFound
        | R::ArgumentsInvalid
        | R::TargetRequired
        | R::RoleViolation
        | R::ScopeViolation
        | R::CredentialDrifted
        | R::CredentialRejected
        | R::Conflict
        | R::RateLimited
        | R::UpstreamRateLimited
        | R::Overloaded
        | R::SecretUnavailable
        | R::AuditUnavailable
        | R::UpstreamTimeout
        | R::UpstreamUnreachable
        | R::UpstreamTls
        | R::UpstreamInvalid
        | R::UpstreamFailed
        | R::UpstreamTooLarge
        | R::RelayOffline
        | R::RelayLost
        | R::ProjectOffline
        | R::DeadlineExceeded
        | R::Cancelled
        | R::Internal => false,
    }
}
