//! Between a gateway and its PostgreSQL: passes everything on, but catches a COMMIT when told to.
//!
//! It knows just enough of the protocol to tell where a message ends, which request commits, and which answer is that
//! request's. A caught commit waits, before the server has seen it or after the server has done it, until it is let go
//! or its connection is cut: then whoever asked for it cannot know whether it happened.

mod connection;
mod message;

use std::time::Duration;

use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use self::connection::{Connection, carry};

/// Where a commit is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Catch {
    /// The server never saw it.
    Before,
    /// The server has done it, its answer has not arrived.
    After,
}

/// What happens to commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Pass,
    Hold(Catch),
    /// What is held is cut off, the rest passes.
    Cut,
}

/// The proxy. Dropping it cuts every connection.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    order: watch::Sender<Order>,
    held: watch::Sender<usize>,
    /// How many times all connections were cut: older ones than the last time are gone.
    cuts: watch::Sender<usize>,
    _task: JoinSet<()>,
}

impl Proxy {
    /// Listens before the server on this port.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn before(server: u16) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let (order, held) = (watch::Sender::new(Order::Pass), watch::Sender::new(0));
        let cuts = watch::Sender::new(0);
        let connection = Connection {
            server,
            order: order.subscribe(),
            held: held.clone(),
            cuts: cuts.subscribe(),
        };
        let mut task = JoinSet::new();
        task.spawn(accept(listener, connection));
        Ok(Self {
            port,
            order,
            held,
            cuts,
            _task: task,
        })
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on every commit is caught there.
    pub fn catch(&self, catch: Catch) {
        self.order.send_replace(Order::Hold(catch));
    }

    /// Waits at most `limit` until a commit is caught; false when none was.
    pub async fn caught(&self, limit: Duration) -> bool {
        let mut held = self.held.subscribe();
        tokio::time::timeout(limit, held.wait_for(|held| *held > 0))
            .await
            .is_ok()
    }

    /// Lets what was caught go on, and everything after it pass.
    pub fn let_go(&self) {
        self.order.send_replace(Order::Pass);
    }

    /// Cuts the connections of what was caught; everything after it passes.
    pub fn cut(&self) {
        self.order.send_replace(Order::Cut);
    }

    /// Cuts every connection there is; new ones pass.
    pub fn cut_all(&self) {
        self.order.send_replace(Order::Pass);
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

async fn accept(listener: TcpListener, connection: Connection) {
    let mut carried = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        carried.spawn(carry(client, connection.clone()));
        while carried.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests;
