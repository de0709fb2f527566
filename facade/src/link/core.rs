//! The binary's service with an error type of its own, which the generated clients ask for.

use std::task::{Context, Poll};

use futures::{TryFutureExt, future::BoxFuture, future::MapErr};
use tonic::body::Body;
use tower::{BoxError, Service};

use crate::CoreService;

/// The core as a service.
#[derive(Debug, Clone)]
pub(crate) struct Core(CoreService);

impl Core {
    pub(super) fn new(service: CoreService) -> Self {
        Self(service)
    }
}

/// The way to the core failed.
#[derive(Debug, thiserror::Error)]
#[error("the core cannot be reached")]
pub(crate) struct Unreachable(#[source] BoxError);

type Answer = BoxFuture<'static, Result<http::Response<Body>, BoxError>>;

impl Service<http::Request<Body>> for Core {
    type Response = http::Response<Body>;
    type Error = Unreachable;
    type Future = MapErr<Answer, fn(BoxError) -> Unreachable>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Unreachable>> {
        self.0.poll_ready(cx).map_err(Unreachable)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        self.0.call(request).map_err(Unreachable)
    }
}
