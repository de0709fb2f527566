//! A gateway of one's own in a folder that is removed afterwards.

use std::{net::Ipv4Addr, time::Duration};

use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Core, CoreConfig, clock::Clock};
use toolgate_facade::FacadeConfig;

use crate::{client::Gateway, failure::Failure, serve::link};

/// A running one.
#[derive(Debug)]
pub(super) struct Throwaway {
    gateway: Gateway,
    core: Core,
    facade: JoinHandle<()>,
    closing: CancellationToken,
    _dir: TempDir,
}

impl Throwaway {
    pub(super) async fn start() -> Result<Self, Failure> {
        let dir =
            tempfile::tempdir().map_err(|error| Failure::failed(format!("no folder to work in: {error}")))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(|error| Failure::failed(format!("no port to listen on: {error}")))?;
        let address = listener
            .local_addr()
            .map_err(|error| Failure::failed(error.to_string()))?;
        let mut settings = CoreConfig::new(dir.path());
        settings.only_local = true;
        let core = Core::start(settings, Clock::system())
            .await
            .map_err(|error| Failure::failed(error.to_string()))?;
        let token = core
            .first_run()
            .map(|first| first.admin_token.reveal().to_owned());
        let token = token.ok_or_else(|| Failure::failed("an empty folder gave no first admin"))?;
        let closing = CancellationToken::new();
        let serving = toolgate_facade::serve(
            listener,
            link::local(&core),
            FacadeConfig::default(),
            closing.clone(),
        );
        let facade = tokio::spawn(async move {
            if let Err(error) = serving.await {
                tracing::error!(%error, "the facade ended");
            }
        });
        Ok(Self {
            gateway: Gateway::inside(address, token)?,
            core,
            facade,
            closing,
            _dir: dir,
        })
    }

    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    pub(super) async fn end(self) {
        self.closing.cancel();
        // The process ends next; a door that will not close does not keep it.
        let _ = timeout(Duration::from_secs(2), self.facade).await;
        self.core.shutdown().await;
    }
}
