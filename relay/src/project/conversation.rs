//! One conversation with the local server: requests of the gateway under ids of our own, and what the server says back.
//!
//! Ids and progress tokens are this room's, one set a conversation; what was given in their place comes back to the
//! byte. Everything else passes through. Sending does not wait; only what goes to the gateway does, and holds up the
//! reading of this one server.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    frame::{Frame, FrameId, Refusal, RefusalCode},
    splice::{self, SpliceError},
};

use super::{
    gateway::{Gateway, Question},
    message::{self, Said},
    stateless,
    wire::{Heard, Out, Unanswered, What, Wire},
};

/// Control notifications of the uplink: a server must not be able to speak for the relay.
const RESERVED: &str = "toolgate/";
const TOKEN: [&str; 2] = ["_meta", "progressToken"];
const SUBSCRIPTION: [&str; 2] = ["_meta", "io.modelcontextprotocol/subscriptionId"];

/// What a request came to.
pub(crate) type Reply = Result<Bytes, Unanswered>;

/// One conversation. It is over when its wire ends, or when it is closed.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// `None` for the one that all callers share.
    name: Option<FrameId>,
    wire: Wire,
    gateway: Arc<Gateway>,
    next: AtomicU64,
    state: Mutex<State>,
    ended: CancellationToken,
}

#[derive(Debug)]
struct State {
    open: HashMap<u64, Open>,
    /// When anything was last said, by either side.
    used: Instant,
    /// Why it is over.
    over: Option<String>,
}

/// A request whose answer is awaited.
#[derive(Debug)]
struct Open {
    reply: oneshot::Sender<Reply>,
    /// The gateway's own request, where it is one.
    frame: Option<FrameId>,
    /// The progress token that ours stands for, as it was written.
    token: Option<String>,
    is_opening: bool,
}

/// A request under way. Dropping it withdraws the request.
#[derive(Debug)]
pub(crate) struct Asked {
    id: u64,
    reply: oneshot::Receiver<Reply>,
    conversation: Arc<Conversation>,
}

impl Asked {
    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Reply {
        let gone = || Err(Unanswered::down("the server ended before it answered"));
        (&mut self.reply).await.unwrap_or_else(|_| gone())
    }
}

impl Asked {
    /// Where it was asked.
    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.conversation.withdraw(self.id);
    }
}

impl Conversation {
    /// Begins a conversation over `wire`; `heard` is what comes from there.
    pub(crate) fn new(name: Option<FrameId>, wire: Wire, gateway: Arc<Gateway>) -> Arc<Self> {
        let state = State {
            open: HashMap::new(),
            used: Instant::now(),
            over: None,
        };
        Arc::new(Self {
            name,
            wire,
            gateway,
            next: AtomicU64::new(1),
            state: Mutex::new(state),
            ended: CancellationToken::new(),
        })
    }

    /// Its id at the gateway.
    pub(crate) fn name(&self) -> Option<&FrameId> {
        self.name.as_ref()
    }

    /// Sends a request; `frame` is the gateway's, where it is one. The order of the calls is the order of the messages.
    pub(crate) fn ask(
        self: &Arc<Self>,
        frame: Option<FrameId>,
        method: &str,
        params: &str,
    ) -> Result<Asked, Refusal> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (params, token) = with_own_token(params, id).map_err(malformed)?;
        let stateless = match self.wire.is_http() {
            true => stateless::of(method, &params).map_err(malformed)?,
            false => None,
        };
        let out = Out {
            bytes: message::request(id, method, &params),
            what: What::Request {
                id,
                method: method.to_owned(),
                stateless,
            },
        };
        let (reply, receiver) = oneshot::channel();
        let open = Open {
            reply,
            frame,
            token,
            is_opening: method == "initialize",
        };
        self.open(id, open)?;
        let asked = Asked {
            id,
            reply: receiver,
            conversation: Arc::clone(self),
        };
        if self.wire.send(out).is_err() {
            self.state().open.remove(&id);
            return Err(Refusal::new(
                RefusalCode::Overloaded,
                "the server does not read its input",
            ));
        }
        Ok(asked)
    }

    /// Sends a notification of the client.
    pub(crate) fn say(&self, method: &str, params: &str) {
        self.state().used = Instant::now();
        let out = Out {
            bytes: message::notification(method, params),
            what: What::Notification {
                method: method.to_owned(),
            },
        };
        if self.wire.send(out).is_err() {
            tracing::warn!(
                method,
                "the server does not read its input: a notification is lost"
            );
        }
    }

    /// Answers a question of the server, whose id is given as it was written.
    pub(crate) fn answer(&self, id: &Bytes, answer: Result<&Bytes, &Bytes>) {
        self.state().used = Instant::now();
        self.send_answer(id, answer);
    }

    fn send_answer(&self, id: &Bytes, answer: Result<&Bytes, &Bytes>) {
        let out = Out {
            bytes: message::response(id, answer.map(|it| &it[..]).map_err(|it| &it[..])),
            what: What::Response,
        };
        if self.wire.send(out).is_err() {
            tracing::warn!("the server does not read its input: an answer is lost");
        }
    }

    /// How long nothing has been said and nothing awaited.
    pub(crate) fn idle(&self) -> Duration {
        let state = self.state();
        match state.open.is_empty() {
            true => state.used.elapsed(),
            false => Duration::ZERO,
        }
    }

    /// Ends it.
    pub(crate) fn close(&self) {
        self.wire.close();
    }

    /// Resolves when it is over.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Why it is over, if it is.
    pub(crate) fn why_over(&self) -> Option<String> {
        self.state().over.clone()
    }

    /// Takes what the server says, until nothing more comes.
    pub(crate) async fn listen(self: Arc<Self>, mut heard: mpsc::Receiver<Heard>) {
        let mut why = "it was closed".to_owned();
        while let Some(heard) = heard.recv().await {
            match heard {
                Heard::Said { said, about } => self.take(said, about).await,
                Heard::Failed { id, why } => self.settle(id, Err(why)),
                Heard::Reopened => self.reopened().await,
                Heard::Ended { why: reason } => {
                    why = reason;
                    break;
                }
            }
        }
        self.end(why);
        self.gateway.forget(&self).await;
    }

    fn end(&self, why: String) {
        let open = {
            let mut state = self.state();
            state.over = Some(why);
            std::mem::take(&mut state.open)
        };
        for open in open.into_values() {
            let _ = open
                .reply
                .send(Err(Unanswered::down("the server ended before it answered")));
        }
        self.wire.close();
        self.ended.cancel();
    }

    fn open(&self, id: u64, open: Open) -> Result<(), Refusal> {
        let mut state = self.state();
        if state.over.is_some() {
            return Err(Refusal::new(RefusalCode::ServerDown, "the server has ended"));
        }
        state.used = Instant::now();
        state.open.insert(id, open);
        Ok(())
    }

    async fn take(self: &Arc<Self>, said: Said, stream: Option<u64>) {
        // A server that only asks whether we are there keeps no conversation alive.
        if !matches!(&said, Said::Request { method, .. } if method == "ping") {
            self.state().used = Instant::now();
        }
        match said {
            Said::Response { id, answer } => {
                let Some(id) = self.whose(&id, stream) else { return };
                self.settle(id, answer.map_err(Unanswered::Error));
            }
            Said::Request { id, method, .. } if method == "ping" => {
                self.send_answer(&id, Ok(&Bytes::from_static(b"{}")));
            }
            Said::Request { id, method, params } => {
                let about = self.account_of(stream);
                let question = Question {
                    id,
                    method,
                    params,
                    about,
                };
                self.gateway.ask(self, question).await;
            }
            Said::Notification { method, params } => self.notified(method, params, stream).await,
        }
    }

    async fn notified(self: &Arc<Self>, method: String, params: Option<Bytes>, stream: Option<u64>) {
        let params = params.unwrap_or(Bytes::from_static(b"{}"));
        let (params, about) = match method.as_str() {
            "notifications/cancelled" => return self.cancelled(&params).await,
            "notifications/progress" => match self.progress(&params) {
                Some((params, about)) => (params, about),
                // Whoever asked for it has had the answer, or never asked.
                None => return,
            },
            "notifications/message" => (params, self.account_of(stream)),
            _ if method.starts_with(RESERVED) => return,
            _ => {
                let about = stream.or_else(|| subscription(&params));
                (params, about.and_then(|id| self.frame_of(id)))
            }
        };
        let frame = Frame::notify(&method, params)
            .within(self.name.clone())
            .about(about);
        self.gateway.notify(frame).await;
    }

    /// The server does not wait for the answer to its question any more.
    async fn cancelled(self: &Arc<Self>, params: &Bytes) {
        let text = std::str::from_utf8(params).unwrap_or_default();
        if let Ok(Some(id)) = splice::member(text, "requestId") {
            self.gateway
                .withdraw(self, &params.slice_ref(id.as_bytes()))
                .await;
        }
    }

    /// A progress notification with the token that its asker gave, and whose it is.
    fn progress(&self, params: &Bytes) -> Option<(Bytes, Option<FrameId>)> {
        let text = std::str::from_utf8(params).ok()?;
        let ours = splice::member(text, "progressToken").ok()??;
        let state = self.state();
        let open = state.open.get(&number(ours)?)?;
        let restored = splice::in_place_of(text, ours, open.token.as_ref()?);
        Some((restored.into(), open.frame.clone()))
    }

    /// A server that had forgotten the session may have other tools now. In a client's own conversation nothing is said
    /// in the server's name.
    async fn reopened(&self) {
        if self.name.is_none() {
            let changed = Frame::notify("notifications/tools/list_changed", Bytes::from_static(b"{}"));
            self.gateway.notify(changed).await;
        }
    }

    /// The request that a response answers. An error without an id belongs to the request in whose stream it came.
    fn whose(&self, id: &Bytes, stream: Option<u64>) -> Option<u64> {
        if &id[..] == b"null" {
            return stream.or_else(|| self.only_one());
        }
        number(std::str::from_utf8(id).ok()?)
    }

    /// The gateway's request on whose account something was said: by the stream, or because there is no other.
    fn account_of(&self, stream: Option<u64>) -> Option<FrameId> {
        let id = match self.wire.is_http() {
            true => stream,
            false => self.only_one(),
        };
        self.frame_of(id?)
    }

    fn only_one(&self) -> Option<u64> {
        let state = self.state();
        // What the relay asks for itself is on nobody's account.
        let mut open = state.open.iter().filter(|(_, open)| open.frame.is_some());
        match (open.next(), open.next()) {
            (Some((id, _)), None) => Some(*id),
            _ => None,
        }
    }

    fn frame_of(&self, id: u64) -> Option<FrameId> {
        self.state().open.get(&id)?.frame.clone()
    }

    /// Answers a request once; a second answer, or one to nothing, is passed over.
    fn settle(&self, id: u64, reply: Reply) {
        let open = self.state().open.remove(&id);
        match open {
            // Whoever asked may be gone by now.
            Some(open) => drop(open.reply.send(reply)),
            None => tracing::debug!(id, "the server answered what is not asked, or not any more"),
        }
    }

    fn withdraw(&self, id: u64) {
        let Some(open) = self.state().open.remove(&id) else {
            return;
        };
        // The opening of a session cannot be cancelled.
        let notice = (!open.is_opening).then(|| Out {
            bytes: message::notification(
                "notifications/cancelled",
                &format!(r#"{{"requestId":{id},"reason":"nobody waits for it any more"}}"#),
            ),
            what: What::Notification {
                method: "notifications/cancelled".to_owned(),
            },
        });
        self.wire.withdraw(id, notice);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The params with a progress token of ours, and the one that stood there.
fn with_own_token(params: &str, id: u64) -> Result<(String, Option<String>), SpliceError> {
    match splice::at(params, &TOKEN)? {
        Some(token) => Ok((
            splice::in_place_of(params, token, &id.to_string()),
            Some(token.to_owned()),
        )),
        None => Ok((params.to_owned(), None)),
    }
}

/// The request whose subscription a notification belongs to.
fn subscription(params: &Bytes) -> Option<u64> {
    let text = std::str::from_utf8(params).ok()?;
    number(splice::at(text, &SUBSCRIPTION).ok()??)
}

/// An id or token of ours. Some servers make texts of numbers.
fn number(text: &str) -> Option<u64> {
    text.trim_matches('"').parse().ok()
}

fn malformed(error: SpliceError) -> Refusal {
    Refusal::new(
        RefusalCode::Malformed,
        format!("params cannot be passed on: {error}"),
    )
}

#[cfg(test)]
mod tests;
