//! The GET stream of a session: what the server says on nobody's account.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::header::HeaderMap;
use tokio::time::sleep;

use super::Core;
use crate::{
    backoff::Backoff,
    project::wire::{Heard, Unanswered},
};

impl Core {
    /// Listens until the session ends, coming back when the stream breaks. A server may have no such stream.
    pub(super) async fn listen(self: Arc<Self>) {
        tokio::select! {
            () = self.keep_listening() => {}
            () = self.stop.cancelled() => {}
        }
    }

    async fn keep_listening(&self) {
        let mut backoff = Backoff::new();
        let mut last: Option<Bytes> = None;
        let mut generation = self.session().generation();
        let mut is_there = false;
        loop {
            let opened = match &last {
                Some(last) => self.resume(last).await,
                None => self.get(HeaderMap::new()).await,
            };
            let mut wait = None;
            match opened {
                Ok(response) => {
                    is_there = true;
                    backoff = Backoff::new();
                    let mut messages = self.messages(response);
                    while let Ok(Some(said)) = messages.next().await {
                        self.hear(Heard::Said { said, about: None }).await;
                    }
                    wait = messages.retry();
                    last = messages.last_id().or(last);
                }
                // The session may be forgotten; whoever asks for something next opens it anew.
                Err(Unanswered::Status(404)) if is_there => last = None,
                Err(Unanswered::Status(400..=499)) => return,
                Err(_) => {}
            }
            // Another session has no events of this one.
            if self.session().generation() != generation {
                generation = self.session().generation();
                last = None;
            }
            let pause = wait.unwrap_or_else(|| backoff.next(None, &mut rand::rng()));
            sleep(pause.max(Duration::from_millis(50))).await;
        }
    }
}
