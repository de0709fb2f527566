//! One connection to a target, with the task that drives it.

use std::time::Duration;

use http::{Request, Response};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use tokio_util::task::AbortOnDropHandle;

use super::{dial::Stream, request::NoBody};

/// An idle connection is kept this long.
const IDLE: Duration = Duration::from_secs(60);
/// All headers of an answer.
const LONGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;

/// A connection. Its task ends with it, after it has been idle for long, or when the target ends it.
pub(super) struct Connection {
    sender: SendRequest<NoBody>,
    idle_since: watch::Sender<Option<Instant>>,
    _driver: AbortOnDropHandle<()>,
}

impl Connection {
    pub(super) async fn open(stream: Box<dyn Stream>) -> hyper::Result<Self> {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(LONGEST_HEAD)
            .max_header_size(LONGEST_HEAD)
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await?;
        let (idle_since, watched) = watch::channel(None);
        let driver = tokio::spawn(async move {
            tokio::select! {
                // What goes wrong reaches whoever waits for an answer.
                _ = connection => {}
                () = idle_for_long(watched) => {}
            }
        });
        Ok(Self {
            sender,
            idle_since,
            _driver: AbortOnDropHandle::new(driver),
        })
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn ask(&mut self, request: Request<NoBody>) -> hyper::Result<Response<Incoming>> {
        self.idle_since.send_replace(None);
        self.sender.ready().await?;
        self.sender.send_request(request).await
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(super) fn rests(&self) {
        self.idle_since.send_replace(Some(Instant::now()));
    }
}

async fn idle_for_long(mut since: watch::Receiver<Option<Instant>>) {
    loop {
        let idle_since = *since.borrow_and_update();
        let changed = match idle_since {
            None => since.changed().await,
            Some(at) => match timeout_at(at + IDLE, since.changed()).await {
                Ok(changed) => changed,
                Err(_) => return,
            },
        };
        // Without its owner the connection ends.
        if changed.is_err() {
            return;
        }
    }
}
