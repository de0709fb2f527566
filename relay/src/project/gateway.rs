//! The gateway, as the local side sees it: whoever is connected now, and what servers asked of clients there.
//!
//! Speaking to nobody is no error: what a server says while no gateway is connected is said in vain, and what it asks
//! then is answered with an error.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use bytes::Bytes;
use toolgate_contract::frame::{Frame, FrameId, Kind, MAX_BODY, MAX_IN_FLIGHT, Refusal, RefusalCode};

use super::{conversation::Conversation, message};
use crate::voice::Voice;

/// JSON-RPC: the method is not there.
const NO_METHOD: i32 = -32601;
/// JSON-RPC: the client could not.
const INTERNAL: i32 = -32603;

/// The other end of the uplink.
#[derive(Debug, Default)]
pub(crate) struct Gateway {
    voice: Mutex<Option<Voice>>,
    asks: Mutex<HashMap<FrameId, Ask>>,
}

/// A question of a server that is under way.
#[derive(Debug)]
struct Ask {
    conversation: Weak<Conversation>,
    /// The server's own id; `None` once it does not wait any more.
    id: Option<Bytes>,
}

/// What a server asks of its client.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: Bytes,
    pub(crate) method: String,
    pub(crate) params: Option<Bytes>,
    pub(crate) about: Option<FrameId>,
}

impl Gateway {
    pub(crate) fn connect(&self, voice: Voice) {
        *self.voice.lock().unwrap_or_else(PoisonError::into_inner) = Some(voice);
    }

    /// Nobody is there any more; whoever asked is told.
    pub(crate) fn disconnect(&self) {
        self.voice.lock().unwrap_or_else(PoisonError::into_inner).take();
        let asks = std::mem::take(&mut *self.asks());
        for ask in asks.into_values() {
            ask.answer(Err(&message::error(INTERNAL, "the client is gone")));
        }
    }

    /// Sends a notification, if anybody is there.
    pub(crate) async fn notify(&self, notification: Frame) {
        if let Some(voice) = self.voice() {
            voice.notify(notification).await;
        }
    }

    /// Passes a question on. The answer finds its way back by itself.
    pub(crate) async fn ask(&self, from: &Arc<Conversation>, question: Question) {
        let refuse = |why: &str| from.answer(&question.id, Err(&message::error(INTERNAL, why)));
        let Some(voice) = self.voice() else {
            return refuse("no client is connected");
        };
        if self.asks().len() >= MAX_IN_FLIGHT {
            return refuse("too many requests are under way");
        }
        let body = question.params.clone().unwrap_or(Bytes::from_static(b"{}"));
        if body.len() > MAX_BODY {
            return refuse("the request is over the limit of 8 MiB");
        }
        let asked = voice.ask(|id| {
            let ask = Ask {
                conversation: Arc::downgrade(from),
                id: Some(question.id.clone()),
            };
            self.asks().insert(id.clone(), ask);
            let mut frame = Frame::new(Kind::Request, id, body);
            frame.header.method = Some(question.method.clone());
            frame.within(from.name().cloned()).about(question.about.clone())
        });
        // Where the connection ended meanwhile, `disconnect` answers, or the conversation is over.
        asked.await;
    }

    /// A server no longer waits for the answer to its question.
    pub(crate) async fn withdraw(&self, from: &Arc<Conversation>, id: &Bytes) {
        self.withdraw_all(|ask| ask.is_of(from) && ask.id.as_ref() == Some(id))
            .await;
    }

    /// A conversation has ended, with all its questions.
    pub(crate) async fn forget(&self, conversation: &Arc<Conversation>) {
        self.withdraw_all(|ask| ask.id.is_some() && ask.is_of(conversation))
            .await;
    }

    /// Takes the answer to a question; false where there was none.
    pub(crate) fn take_answer(&self, response: &Frame) -> bool {
        let Some(ask) = self.asks().remove(&response.header.id) else {
            return false;
        };
        let body = &response.body;
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
        match response.header.error {
            None if is_json => ask.answer(Ok(body)),
            Some(RefusalCode::AnsweredWithError) if is_json => ask.answer(Err(body)),
            Some(RefusalCode::UnknownMethod) => {
                ask.answer(Err(&message::error(
                    NO_METHOD,
                    "the client does not offer this method",
                )));
            }
            _ => {
                let why = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.message);
                let why = why.unwrap_or_else(|_| "the client gave no answer".to_owned());
                ask.answer(Err(&message::error(INTERNAL, &why)));
            }
        }
        true
    }

    fn voice(&self) -> Option<Voice> {
        self.voice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn asks(&self) -> MutexGuard<'_, HashMap<FrameId, Ask>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gateway answers what is withdrawn all the same, so its place is kept until then.
    async fn withdraw_all(&self, which: impl Fn(&Ask) -> bool) {
        let withdrawn: Vec<FrameId> = self
            .asks()
            .iter_mut()
            .filter(|(_, ask)| which(ask))
            .map(|(id, ask)| {
                ask.id = None;
                id.clone()
            })
            .collect();
        let Some(voice) = self.voice() else { return };
        for id in withdrawn {
            voice.withdraw(id).await;
        }
    }
}

impl Ask {
    fn is_of(&self, conversation: &Arc<Conversation>) -> bool {
        std::ptr::eq(self.conversation.as_ptr(), Arc::as_ptr(conversation))
    }

    fn answer(self, answer: Result<&Bytes, &Bytes>) {
        if let (Some(conversation), Some(id)) = (self.conversation.upgrade(), self.id) {
            conversation.answer(&id, answer);
        }
    }
}
