//! The one tower service of the core, and by which door a request came in.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use tonic::{body::Body, service::Routes};
use tower::Service;

use super::typed::TypedTools;
use crate::broker::Door;

/// The core as a tower service. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CoreService {
    routes: Routes,
    typed: TypedTools,
    door: Door,
}

impl CoreService {
    pub(crate) async fn over(rpc: super::Rpc) -> Self {
        let typed = TypedTools::new(rpc.broker.clone());
        Self {
            routes: rpc.routes().await.prepare(),
            typed,
            door: Door::Network,
        }
    }

    /// The same service behind another door.
    #[must_use]
    pub fn behind(&self, door: Door) -> Self {
        Self { door, ..self.clone() }
    }
}

impl Service<Request<Body>> for CoreService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.extensions_mut().insert(self.door);
        match self.typed.tool_at(request.uri().path()) {
            Some(tool) => self.typed.clone().serve(tool, request).boxed(),
            None => self.routes.call(request).boxed(),
        }
    }
}
