//! A running mock: started by a test in its own process, or by the program.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    script::Script,
    seen::{Seen, SeenLog},
    server,
};

/// A mock that answers until it is dropped.
#[derive(Debug)]
pub struct LlmMock {
    address: SocketAddr,
    seen: SeenLog,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl LlmMock {
    /// One on a free port of loopback. It plays the built-in scripts too, each under its own model name.
    ///
    /// # Errors
    /// When no port of loopback can be bound.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script).await
    }

    /// One at this address.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start_at(address: SocketAddr, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let seen = SeenLog::default();
        let router = server::router(script, seen.clone());
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server::serve(listener, router, stopped));
        Ok(Self {
            address,
            seen,
            stop: Some(stop),
            task,
        })
    }

    /// The base URL that a client of OpenAI takes: it ends in `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it was asked, oldest first: the newest thousand.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.seen.all()
    }

    /// Takes no more requests and ends with those under way.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        let _ = (&mut self.task).await;
    }
}

impl Drop for LlmMock {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}
