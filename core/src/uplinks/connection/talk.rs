//! What a connection to a project carries beside calls: the server's notifications and questions, and conversations.
//!
//! A pure table under one short lock; what it decides is carried out by `hear` and `speak`. Bounds: 64 questions under
//! way, 16 of one conversation that nobody has heard yet, 256 conversations.

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
    sync::{Semaphore, mpsc},
    time::Instant,
};
use toolgate_contract::frame::{FrameId, MAX_IN_FLIGHT, RefusalCode};

use super::{
    debts::Debts,
    inbox::{FromServer, Inbox, Undelivered},
    window::Window,
};
use crate::uplinks::{UplinkError, server::ServerState};

/// How long a question waits for somebody who hears it.
const UNHEARD: Duration = Duration::from_secs(10);
/// How long whoever heard a question may take over it.
const UNANSWERED: Duration = Duration::from_secs(3600);
const MAX_UNHEARD: usize = 16;
const MAX_CONVERSATIONS: usize = 256;
/// Words of clients that are on their way to the relay at once.
const SPEAKING: usize = 16;

/// Beside the calls of one connection.
pub(super) struct Talk {
    state: Mutex<State>,
    pub(super) debts: Debts,
    /// Held by each word of a client on its way.
    pub(super) speaking: Arc<Semaphore>,
    /// Numbers the notifications that are cut into chunks.
    pub(super) notified: AtomicU64,
    passed_over: AtomicU64,
}

#[derive(Default)]
struct State {
    questions: HashMap<u64, Question>,
    window: Window,
    conversations: HashMap<FrameId, Inbox>,
    server: Option<ServerState>,
    ended: bool,
}

/// A request of the relay that has no answer yet.
struct Question {
    conversation: Option<FrameId>,
    begun: Instant,
    until: Instant,
    stage: Stage,
}

enum Stage {
    /// Its body is not whole.
    Coming,
    /// Nobody was there to hear it; it waits until then.
    Unheard(Words, Instant),
    /// The listener of its conversation has it.
    Listener,
    /// The caller of this request has it.
    Caller(u64),
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub(super) id: Arc<str>,
    pub(super) method: Arc<str>,
    pub(super) params: Bytes,
}

impl Question {
    /// Nobody has it.
    fn is_free(&self) -> bool {
        matches!(self.stage, Stage::Coming | Stage::Unheard(..))
    }
}

/// Who had heard a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Nobody,
    Listener(FrameId),
    Caller(u64),
}

impl Talk {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::default(),
            debts: Debts::default(),
            speaking: Arc::new(Semaphore::new(SPEAKING)),
            notified: AtomicU64::new(0),
            passed_over: AtomicU64::new(0),
        }
    }

    /// Lets a question in whose body begins to come.
    pub(super) fn admit(&self, number: u64, patience: Option<Duration>) -> Result<(), RefusalCode> {
        let mut state = self.state();
        if !state.window.take(number) {
            return Err(RefusalCode::Replayed);
        }
        if state.questions.len() >= MAX_IN_FLIGHT {
            return Err(RefusalCode::Overloaded);
        }
        let patience = patience.unwrap_or(UNANSWERED).min(UNANSWERED);
        let now = Instant::now();
        let question = Question {
            conversation: None,
            begun: now,
            until: now + patience,
            stage: Stage::Coming,
        };
        state.questions.insert(number, question);
        Ok(())
    }

    pub(super) fn is_open(&self, number: u64) -> bool {
        self.state().questions.contains_key(&number)
    }

    /// The caller of a request is about to be asked. False where the question is answered or asked already.
    pub(super) fn give(&self, number: u64, conversation: Option<FrameId>, caller: u64) -> bool {
        let mut state = self.state();
        let Some(question) = state.questions.get_mut(&number).filter(|it| it.is_free()) else {
            return false;
        };
        question.conversation = conversation;
        question.stage = Stage::Caller(caller);
        true
    }

    /// The caller took no question.
    pub(super) fn take_back(&self, number: u64) {
        if let Some(question) = self.state().questions.get_mut(&number) {
            question.stage = Stage::Coming;
        }
    }

    /// Puts a question to the listener of its conversation, or keeps it until there is one.
    pub(super) fn put(&self, number: u64, conversation: &FrameId, words: Words) -> Result<(), RefusalCode> {
        let mut state = self.state();
        let unheard = state.unheard_of(conversation);
        let State {
            questions,
            conversations,
            ..
        } = &mut *state;
        let inbox = conversations
            .get_mut(conversation)
            .ok_or(RefusalCode::ConversationUnknown)?;
        let Some(question) = questions.get_mut(&number).filter(|it| it.is_free()) else {
            return Ok(());
        };
        question.conversation = Some(conversation.clone());
        match inbox.tell(words.clone().into()) {
            Ok(()) => question.stage = Stage::Listener,
            Err(Undelivered::NoListener) if unheard < MAX_UNHEARD => {
                question.stage = Stage::Unheard(words, question.begun + UNHEARD);
            }
            Err(_) => return Err(RefusalCode::Overloaded),
        }
        Ok(())
    }

    /// Takes a question off: it is answered now, by whoever asks for this.
    pub(super) fn take(&self, number: u64) -> Option<Heard> {
        let question = self.state().questions.remove(&number)?;
        Some(match (question.stage, question.conversation) {
            (Stage::Caller(caller), _) => Heard::Caller(caller),
            (Stage::Listener, Some(conversation)) => Heard::Listener(conversation),
            _ => Heard::Nobody,
        })
    }

    /// Takes a question off for the answer of a client of this conversation.
    pub(super) fn take_from(&self, number: u64, conversation: &FrameId) -> bool {
        let mut state = self.state();
        let is_theirs = state.questions.get(&number).is_some_and(|question| {
            question.conversation.as_ref() == Some(conversation)
                && matches!(question.stage, Stage::Listener | Stage::Caller(_))
        });
        is_theirs && state.questions.remove(&number).is_some()
    }

    /// Takes off the questions that nobody will answer, and tells what to refuse each with.
    pub(super) fn sweep(&self, calls_on: impl Fn(u64) -> bool) -> Vec<(u64, RefusalCode)> {
        let now = Instant::now();
        let mut over = Vec::new();
        self.state().questions.retain(|&number, question| {
            let code = match &question.stage {
                Stage::Caller(caller) if !calls_on(*caller) => RefusalCode::Cancelled,
                Stage::Unheard(_, until) if *until <= now => RefusalCode::UnknownMethod,
                _ if question.until <= now => RefusalCode::DeadlineExceeded,
                _ => return true,
            };
            over.push((number, code));
            false
        });
        over
    }

    /// The questions that nobody has heard yet, with their conversations.
    pub(super) fn unheard(&self) -> Vec<(u64, FrameId, Words)> {
        let state = self.state();
        let mut unheard: Vec<_> = state
            .questions
            .iter()
            .filter_map(
                |(&number, question)| match (&question.stage, &question.conversation) {
                    (Stage::Unheard(words, _), Some(conversation)) => {
                        Some((number, conversation.clone(), words.clone()))
                    }
                    _ => None,
                },
            )
            .collect();
        unheard.sort_by_key(|(number, ..)| *number);
        unheard
    }

    /// Begins a conversation.
    pub(super) fn open(&self, conversation: &FrameId) -> Result<(), UplinkError> {
        let mut state = self.state();
        if state.ended {
            return Err(UplinkError::Offline);
        }
        if state.conversations.len() >= MAX_CONVERSATIONS {
            return Err(UplinkError::Overloaded);
        }
        state.conversations.insert(conversation.clone(), Inbox::default());
        Ok(())
    }

    pub(super) fn has(&self, conversation: &FrameId) -> bool {
        self.state().conversations.contains_key(conversation)
    }

    /// Ends a conversation; gives its questions, or `None` where there was none.
    pub(super) fn close(&self, conversation: &FrameId) -> Option<Vec<u64>> {
        let mut state = self.state();
        state.conversations.remove(conversation)?.end();
        let theirs = state
            .questions
            .extract_if(|_, question| question.conversation.as_ref() == Some(conversation));
        Some(theirs.map(|(number, _)| number).collect())
    }

    /// The newest listener of a conversation, who also hears what nobody has heard.
    pub(super) fn listen(&self, conversation: &FrameId) -> Option<mpsc::Receiver<FromServer>> {
        let told = self.state().conversations.get_mut(conversation)?.listen();
        for (number, asking, words) in self.unheard() {
            if asking == *conversation {
                // What does not fit stays until its time is up.
                let _ = self.put(number, conversation, words);
            }
        }
        told
    }

    /// Tells the listener of a conversation.
    pub(super) fn tell(&self, conversation: &FrameId, said: FromServer) -> Result<(), Undelivered> {
        self.state()
            .conversations
            .get_mut(conversation)
            .ok_or(Undelivered::NoConversation)?
            .tell(said)
    }

    pub(super) fn server(&self) -> Option<ServerState> {
        self.state().server.clone()
    }

    pub(super) fn set_server(&self, server: ServerState) {
        self.state().server = Some(server);
    }

    pub(super) fn pass_over(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn passed_over(&self) -> u64 {
        self.passed_over.load(Ordering::Relaxed)
    }

    /// The connection has ended, and every conversation with it.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.questions.clear();
        for (_, inbox) in state.conversations.drain() {
            inbox.end();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn unheard_of(&self, conversation: &FrameId) -> usize {
        self.questions
            .values()
            .filter(|question| {
                matches!(question.stage, Stage::Unheard(..))
                    && question.conversation.as_ref() == Some(conversation)
            })
            .count()
    }
}

impl From<Words> for FromServer {
    fn from(Words { id, method, params }: Words) -> Self {
        Self::Asked { id, method, params }
    }
}
