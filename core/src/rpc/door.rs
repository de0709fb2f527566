//! The one tower service of the core, and by which door a request came in.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use data_encoding::BASE64_NOPAD;
use futures::{FutureExt, future::BoxFuture};
use http::{HeaderMap, Request, Response};
use tonic::{body::Body, service::Routes};
use tonic_health::{ServingStatus, server::HealthReporter};
use toolgate_contract::frame::ChannelBinding;
use tower::Service;

use super::{outside::Outside, typed::TypedTools};
use crate::broker::{Broker, Door};

/// The core as a tower service. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CoreService {
    routes: Routes,
    health: HealthReporter,
    typed: TypedTools,
    broker: Broker,
    door: Door,
}

impl CoreService {
    pub(crate) async fn over(rpc: super::Rpc) -> Self {
        let broker = rpc.broker.clone();
        let typed = TypedTools::new(broker.clone());
        let (routes, health) = rpc.routes().await;
        Self {
            routes: routes.prepare(),
            health,
            typed,
            broker,
            door: Door::Network,
        }
    }

    /// Tells whoever asks for health or watches it that this gateway is going.
    pub(crate) async fn announce_end(&self) {
        for service in [super::BROKER_NAME, ""] {
            self.health
                .set_service_status(service, ServingStatus::NotServing)
                .await;
        }
    }

    /// Ends watches of health, which would otherwise hold their connections open for ever.
    pub(crate) async fn end_watches(&self) {
        let mut health = self.health.clone();
        for service in [super::BROKER_NAME, ""] {
            health.clear_service_status(service).await;
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
        let outside = Outside::of(self.broker.clone(), &request, self.door);
        if !outside.is_open() {
            return outside.closed().map(Ok).boxed();
        }
        request.extensions_mut().insert(self.door);
        if let Some(binding) = channel_binding(request.headers_mut(), self.door) {
            request.extensions_mut().insert(binding);
        }
        match self.typed.tool_at(request.uri().path()) {
            Some(tool) => outside.watch(self.typed.clone().serve(tool, request)).boxed(),
            None => outside.watch(self.routes.call(request)).boxed(),
        }
    }
}

/// The TLS exporter of a relay's connection, as the facade that ends TLS tells it.
const EXPORTER: &str = "tls-exporter-bin";

/// Only a facade is believed: whoever could name an exporter on the network could stand between relay and gateway.
fn channel_binding(headers: &mut HeaderMap, door: Door) -> Option<ChannelBinding> {
    let told = headers.remove(EXPORTER)?;
    if door != Door::Facade {
        return None;
    }
    // gRPC metadata may or may not be padded.
    let text = told.to_str().ok()?.trim_end_matches('=');
    let bytes = BASE64_NOPAD.decode(text.as_bytes()).ok()?;
    bytes.try_into().ok().map(ChannelBinding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_facade_may_tell_the_exporter() {
        let told = |door, text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(EXPORTER, text.parse().expect("a header"));
            let binding = channel_binding(&mut headers, door);
            assert!(
                headers.is_empty(),
                "nobody further in may read it as the peer's word"
            );
            binding
        };
        let text = BASE64_NOPAD.encode(&[7; 32]);
        assert_eq!(told(Door::Facade, &text), Some(ChannelBinding([7; 32])));
        assert_eq!(
            told(Door::Facade, &format!("{text}=")),
            Some(ChannelBinding([7; 32]))
        );
        assert_eq!(told(Door::Network, &text), None);
        assert_eq!(told(Door::Facade, "AAAA"), None);
        assert_eq!(told(Door::Facade, "?"), None);
    }
}
