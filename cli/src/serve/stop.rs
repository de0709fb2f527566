//! How a server is told to stop: SIGTERM or SIGINT drains it, a second one ends it at once.

use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::failure::{Exit, Failure};

/// Listens to signals for as long as it lives.
#[derive(Debug)]
pub(crate) struct Stop {
    told: CancellationToken,
    listener: JoinHandle<()>,
}

impl Stop {
    /// Starts to listen.
    pub(crate) fn on_signals() -> Result<Self, Failure> {
        let failed = |error| Failure::failed(format!("signals cannot be heard: {error}"));
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let told = CancellationToken::new();
        let first = told.clone();
        let listener = tokio::spawn(async move {
            // Both are cancel safe: a signal that is not received stays pending.
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                if first.is_cancelled() {
                    tracing::warn!("told to stop a second time; ending at once");
                    crate::logging::flush();
                    std::process::exit(Exit::Failed as i32);
                }
                tracing::info!("told to stop; a second signal ends at once");
                first.cancel();
            }
        });
        Ok(Self { told, listener })
    }

    /// Fires when it is time to stop.
    pub(crate) fn token(&self) -> CancellationToken {
        self.told.clone()
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.listener.abort();
    }
}
