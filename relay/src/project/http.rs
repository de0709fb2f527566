//! A server behind Streamable HTTP: each message is a POST, and each request has a stream of its own.
//!
//! Two eras over one endpoint. With sessions (2025-03-26 to 2025-11-25): the session id and the negotiated revision of
//! this very server stand in every request, a GET stream carries what belongs to no request, and a session that the
//! server forgot is opened anew once. Without (2026-07-28): what stands in `_meta` stands in headers too, and closing a
//! stream is the way to cancel.

mod answer;
mod listening;
mod session;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    client::{self, Fault},
    message,
    mirrored::Mirrors,
    stateless,
    wire::{Busy, Heard, Out, QUEUE, Stateless, Unanswered, What},
};
use answer::Taking;
pub(super) use answer::read;
use session::Session;

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// What a server gets to take a message that has no answer.
const TAKEN: Duration = Duration::from_secs(10);
/// What it gets to end a session.
const GOODBYE: Duration = Duration::from_secs(2);

/// One endpoint, and the session there if it has sessions. Dropping it ends the session.
#[derive(Debug)]
pub(crate) struct Http {
    core: Arc<Core>,
    tasks: TaskTracker,
    /// What was sent before and has to be taken first.
    before: Mutex<CancellationToken>,
    _stop: DropGuard,
}

#[derive(Debug)]
struct Core {
    client: Client,
    url: Url,
    heard: mpsc::Sender<Heard>,
    session: Mutex<Session>,
    /// Which arguments stand in headers besides.
    mirrors: Mutex<Mirrors>,
    /// One reopens a session; the others find it open.
    reopening: Semaphore,
    /// How each request under way is given up.
    under_way: Mutex<HashMap<u64, CancellationToken>>,
    stop: CancellationToken,
}

impl Http {
    /// An endpoint, heard through `heard`; what runs for it is owned by `tasks`.
    pub(crate) fn new(client: Client, url: Url, heard: mpsc::Sender<Heard>, tasks: &TaskTracker) -> Self {
        let stop = CancellationToken::new();
        let core = Arc::new(Core {
            client,
            url,
            heard,
            session: Mutex::default(),
            mirrors: Mutex::default(),
            reopening: Semaphore::new(1),
            under_way: Mutex::default(),
            stop: stop.clone(),
        });
        tasks.spawn(Arc::clone(&core).end());
        let nothing_before = CancellationToken::new();
        nothing_before.cancel();
        Self {
            core,
            tasks: tasks.clone(),
            before: Mutex::new(nothing_before),
            _stop: stop.drop_guard(),
        }
    }

    pub(crate) fn send(&self, out: Out) -> Result<(), Busy> {
        let core = Arc::clone(&self.core);
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        match &out.what {
            What::Request { id, .. } => {
                let (id, given_up) = (*id, CancellationToken::new());
                let mut under_way = core.under_way.lock().unwrap_or_else(PoisonError::into_inner);
                if under_way.len() >= QUEUE {
                    return Err(Busy);
                }
                under_way.insert(id, given_up.clone());
                drop(under_way);
                let before = before.clone();
                self.tasks.spawn(async move {
                    tokio::select! {
                        () = core.request(id, &out, before) => {}
                        () = given_up.cancelled() => {}
                        () = core.stop.cancelled() => {}
                    }
                    core.forget(id);
                });
            }
            What::Notification { .. } | What::Response => {
                let taken = CancellationToken::new();
                let earlier = std::mem::replace(&mut *before, taken.clone());
                let tasks = self.tasks.clone();
                self.tasks.spawn(async move {
                    let _taken = taken.drop_guard();
                    tokio::select! {
                        () = core.tell(&out, earlier, &tasks) => {}
                        () = core.stop.cancelled() => {}
                    }
                });
            }
        }
        Ok(())
    }

    /// Closes the stream of a request. True where the server has to be told besides: closing says it in one era only.
    pub(crate) fn withdraw(&self, id: u64) -> bool {
        self.core.forget(id);
        self.core.session().is_negotiated()
    }

    pub(crate) fn close(&self) {
        self.core.stop.cancel();
    }
}

impl Core {
    /// One request, from POST to answer. A session that the server forgot is opened anew, and the request sent again.
    async fn request(self: &Arc<Self>, id: u64, out: &Out, before: CancellationToken) {
        before.cancelled().await;
        let outcome = match self.exchange(id, out).await {
            Err(Refused::Forgotten(generation)) => match self.reopen(generation).await {
                Ok(()) => match self.exchange(id, out).await {
                    Err(Refused::Forgotten(_)) => Err(Unanswered::SessionLost),
                    Err(Refused::Unanswered(why)) => Err(why),
                    Ok(()) => Ok(()),
                },
                Err(why) => Err(why),
            },
            Err(Refused::Unanswered(why)) => Err(why),
            Ok(()) => Ok(()),
        };
        if let Err(why) = outcome {
            self.hear(Heard::Failed { id, why }).await;
        }
    }

    async fn exchange(self: &Arc<Self>, id: u64, out: &Out) -> Result<(), Refused> {
        let What::Request {
            method, stateless, ..
        } = &out.what
        else {
            return Ok(());
        };
        // In a session, what a caller of another era wrote into `_meta` means nothing to the server.
        let stateless = stateless.as_ref().filter(|_| !self.session().is_negotiated());
        let is_opening = method == "initialize";
        if is_opening {
            self.session().begin(id, out.bytes.clone());
        }
        let (mut headers, generation) = self.headers(method, stateless, is_opening);
        if stateless.is_some() && method == "tools/call" {
            self.mirrors().write(message::params_of(&out.bytes), &mut headers);
        }
        let response = self.post(out.bytes.clone(), headers).await?;
        if response.status().as_u16() == 404
            && let Some(generation) = generation
        {
            return Err(Refused::Forgotten(generation));
        }
        if is_opening && response.status().is_success() {
            self.session().opened(response.headers());
        }
        let taking = Taking {
            id,
            is_opening,
            may_resume: stateless.is_none(),
            lists: stateless.is_some() && method == "tools/list",
        };
        Ok(self.take(taking, response).await?)
    }

    /// Headers of a request, and the generation of the session that it names.
    fn headers(
        &self,
        method: &str,
        stateless: Option<&Stateless>,
        is_opening: bool,
    ) -> (HeaderMap, Option<u64>) {
        let mut headers = HeaderMap::new();
        let Some(stateless) = stateless else {
            let generation = match is_opening {
                true => None,
                false => self.session().name(&mut headers),
            };
            return (headers, generation);
        };
        let named = stateless.name.as_deref().map(stateless::header);
        for (key, value) in [
            (REVISION, Some(stateless.revision.clone())),
            (METHOD, Some(method.to_owned())),
            (NAME, named),
        ] {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                headers.insert(key, value);
            }
        }
        (headers, None)
    }

    async fn post(&self, body: Bytes, headers: HeaderMap) -> Result<Response, Unanswered> {
        let sent = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .headers(headers)
            .body(body)
            .send()
            .await;
        match sent {
            Ok(response) => Ok(response),
            Err(error) => Err(self.broken(client::fault(&error)).await),
        }
    }

    /// A notification or an answer: the server only has to take it.
    async fn tell(self: &Arc<Self>, out: &Out, before: CancellationToken, tasks: &TaskTracker) {
        before.cancelled().await;
        let mut headers = HeaderMap::new();
        self.session().name(&mut headers);
        let posted = timeout(TAKEN, self.post(out.bytes.clone(), headers)).await;
        let is_taken = match posted {
            Ok(Ok(response)) if response.status().is_success() => true,
            Ok(Ok(response)) => {
                tracing::warn!(
                    status = response.status().as_u16(),
                    "the server did not take a message"
                );
                false
            }
            Ok(Err(_)) | Err(_) => {
                tracing::warn!("a message did not reach the server");
                false
            }
        };
        let begins =
            matches!(&out.what, What::Notification { method } if method == "notifications/initialized");
        if begins && is_taken {
            self.session().begun(&out.bytes);
            tasks.spawn(Arc::clone(self).listen());
        }
    }

    /// Tells above that nothing is there any more, where that is so.
    async fn broken(&self, fault: Fault) -> Unanswered {
        if fault == Fault::Unreachable {
            let why = "it cannot be reached".to_owned();
            self.hear(Heard::Ended { why }).await;
        }
        fault.into_unanswered()
    }

    async fn hear(&self, heard: Heard) {
        // Nobody listens any more once the conversation is over.
        let _ = self.heard.send(heard).await;
    }

    fn forget(&self, id: u64) {
        let given_up = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
        if let Some(given_up) = given_up {
            given_up.cancel();
        }
    }

    fn mirrors(&self) -> MutexGuard<'_, Mirrors> {
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is closed, and ends the session.
    async fn end(self: Arc<Self>) {
        self.stop.cancelled().await;
        let mut headers = HeaderMap::new();
        if self.session().name(&mut headers).is_some() {
            let goodbye = self.client.delete(self.url.clone()).headers(headers).send();
            let _ = timeout(GOODBYE, goodbye).await;
        }
        let why = "it was told to end".to_owned();
        self.hear(Heard::Ended { why }).await;
    }
}

/// Why an exchange has no answer.
enum Refused {
    /// The server does not know this generation of the session.
    Forgotten(u64),
    Unanswered(Unanswered),
}

impl From<Unanswered> for Refused {
    fn from(why: Unanswered) -> Self {
        Self::Unanswered(why)
    }
}
