//! A facade that serves on a free port of loopback before a scripted core.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use toolgate_facade::{FacadeConfig, FacadeError};

use crate::{
    client::{self, Answer, Live},
    core::ScriptedCore,
};

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) core: ScriptedCore,
    pub(crate) shutdown: CancellationToken,
    pub(crate) facade: JoinHandle<Result<(), FacadeError>>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(ScriptedCore::new(), FacadeConfig::default()).await
    }

    pub(crate) async fn with(core: ScriptedCore, config: FacadeConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let facade = tokio::spawn(toolgate_facade::serve(
            listener,
            core.service(),
            config,
            shutdown.clone(),
        ));
        Self {
            address,
            core,
            shutdown,
            facade,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.ask("POST", path, &[], body).await
    }

    pub(crate) async fn ask(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        client::send(self.address, self.request(verb, path, headers, body)).await
    }

    pub(crate) async fn live(&self, path: &str, headers: &[(&str, &str)]) -> Live {
        client::live(self.address, self.request("GET", path, headers, "")).await
    }

    pub(crate) async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        client::raw(self.address, bytes.as_ref()).await
    }

    pub(crate) fn request(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(Method::from_bytes(verb.as_bytes()).unwrap())
            .uri(path)
            .header("authorization", "Bearer tgk_t_secret");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Full::new(body.into())).unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.facade.abort();
    }
}
