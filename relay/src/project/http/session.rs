//! The session at a server, as its answers made it, and how it is opened anew when the server has forgotten it.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;
use tokio::time::timeout;

use super::{Core, REVISION, SESSION, TAKEN};
use crate::project::{
    message::Said,
    wire::{Heard, Unanswered},
};
use toolgate_contract::frame::RefusalCode;

/// What stands in the headers of every message of a session.
#[derive(Debug, Default)]
pub(super) struct Session {
    id: Option<HeaderValue>,
    revision: Option<HeaderValue>,
    /// The `initialize` that opened it, whole, and its id.
    opening: Option<(u64, Bytes)>,
    /// The `notifications/initialized` behind it.
    begun: Option<Bytes>,
    generation: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
}

impl Session {
    /// A session is being opened.
    pub(super) fn begin(&mut self, id: u64, opening: Bytes) {
        self.opening = Some((id, opening));
    }

    /// The server let us in, perhaps with an id.
    pub(super) fn opened(&mut self, headers: &HeaderMap) {
        self.id = headers.get(SESSION).cloned();
        self.generation += 1;
    }

    /// The revision that both speak, out of the result of `initialize`.
    pub(super) fn negotiated(&mut self, result: &[u8]) {
        let negotiated: Option<Initialized> = serde_json::from_slice(result).ok();
        self.revision = negotiated.and_then(|it| HeaderValue::from_str(&it.protocol_version).ok());
    }

    /// The client has said that it begins.
    pub(super) fn begun(&mut self, notification: &Bytes) {
        self.begun = Some(notification.clone());
    }

    /// Whether there is a session of the eras that have them, with or without an id.
    pub(super) fn is_negotiated(&self) -> bool {
        self.revision.is_some() || self.id.is_some()
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Writes the session into headers; its generation, where it has an id that can be forgotten.
    pub(super) fn name(&self, headers: &mut HeaderMap) -> Option<u64> {
        if let Some(revision) = &self.revision {
            headers.insert(REVISION, revision.clone());
        }
        let id = self.id.as_ref()?;
        headers.insert(SESSION, id.clone());
        Some(self.generation)
    }
}

impl Core {
    /// Opens the session anew with the very bytes that opened it; one does it for all that found it gone.
    pub(super) async fn reopen(self: &Arc<Self>, forgotten: u64) -> Result<(), Unanswered> {
        // The semaphore is never closed.
        let Ok(_turn) = self.reopening.acquire().await else {
            return Err(Unanswered::SessionLost);
        };
        let (opening, begun) = {
            let session = self.session();
            if session.generation != forgotten {
                return Ok(());
            }
            (session.opening.clone(), session.begun.clone())
        };
        let Some((id, opening)) = opening else {
            return Err(Unanswered::SessionLost);
        };
        timeout(TAKEN, self.open_again(id, opening, begun))
            .await
            .unwrap_or_else(|_| {
                Err(Unanswered::refused(
                    RefusalCode::Failed,
                    "the server did not open the session anew in time",
                ))
            })?;
        tracing::info!("the server had forgotten the session; it was opened anew");
        self.hear(Heard::Reopened).await;
        Ok(())
    }

    async fn open_again(
        self: &Arc<Self>,
        id: u64,
        opening: Bytes,
        begun: Option<Bytes>,
    ) -> Result<(), Unanswered> {
        let response = self.post(opening, HeaderMap::new()).await?;
        if !response.status().is_success() {
            return Err(Unanswered::SessionLost);
        }
        let headers = response.headers().clone();
        let result = self.first_answer(id, response).await?;
        {
            let mut session = self.session();
            session.opened(&headers);
            session.negotiated(&result);
        }
        if let Some(begun) = begun {
            let mut headers = HeaderMap::new();
            self.session().name(&mut headers);
            self.post(begun, headers).await?;
        }
        Ok(())
    }

    /// The result of a request whose answer nobody above waits for.
    async fn first_answer(&self, wanted: u64, response: reqwest::Response) -> Result<Bytes, Unanswered> {
        let mut messages = self.messages(response);
        while let Some(said) = messages.next().await? {
            match said {
                Said::Response { id, answer } if id == wanted.to_string() => {
                    return answer.map_err(Unanswered::Error);
                }
                said => self.hear(Heard::Said { said, about: None }).await,
            }
        }
        Err(Unanswered::SessionLost)
    }
}
