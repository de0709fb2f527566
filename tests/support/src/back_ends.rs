//! The back ends that agent tools stand for, and whoever hands out tokens for them: they write down what they are asked
//! and answer what a test tells them to, good answers or none that a sound server would give.

mod all;
mod asked;
mod listening;
mod says;
mod token_endpoint;

use std::{
    collections::VecDeque,
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

pub use self::{all::BackEnds, asked::Asked, says::Says, token_endpoint::TokenEndpoint};
use self::{listening::Listening, token_endpoint::Live};

/// The token that the back ends are given where a test names no other. A canary: it may be looked for anywhere.
pub const TOKEN: &str = "agentbackend-CANARY-0123456789-thatNobodyMaySee";

/// A running back end. Dropping it ends it.
#[derive(Debug)]
pub struct BackEnd {
    listening: Listening,
    script: Arc<Script>,
}

#[derive(Debug, Default)]
struct Script {
    asked: Mutex<Vec<Asked>>,
    always: Mutex<Option<Says>>,
    next: Mutex<VecDeque<Says>>,
    guard: Mutex<Option<Live>>,
}

/// Memory and the code graph.
#[derive(Debug)]
pub struct AgentMemory(BackEnd);

/// Projects, tasks and their outcomes.
#[derive(Debug)]
pub struct AgentOperator(BackEnd);

/// Rooms, participants and messages.
#[derive(Debug)]
pub struct AgentChat(BackEnd);

macro_rules! named {
    ($($peer:ident is $adapter:literal),*) => {$(
        impl $peer {
            /// Its adapter type.
            pub const ADAPTER: &str = $adapter;

            /// Starts it on a port of the system's choice.
            pub async fn start() -> Self {
                Self(BackEnd::start().await)
            }
        }

        impl Deref for $peer {
            type Target = BackEnd;

            fn deref(&self) -> &BackEnd {
                &self.0
            }
        }
    )*};
}

named!(AgentMemory is "agent-memory", AgentOperator is "agent-operator", AgentChat is "agent-chat");

impl BackEnd {
    async fn start() -> Self {
        let script = Arc::new(Script::default());
        let room = Arc::clone(&script);
        Self {
            listening: Listening::start(move |asked| room.answer(asked)).await,
            script,
        }
    }

    /// Its address: `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> &str {
        self.listening.url()
    }

    /// Settings of a target that is this back end. `access` is `read_only` or `read_write`.
    #[must_use]
    pub fn settings(&self, access: &str) -> Value {
        json!({"baseUrl": self.url(), "access": access, "allowHttp": true, "allowLoopback": true})
    }

    /// The credential of that target.
    #[must_use]
    pub fn credential(&self) -> Value {
        json!({"token": TOKEN})
    }

    /// Everything it was asked, oldest first.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.script.asked).clone()
    }

    /// The newest request.
    #[must_use]
    pub fn last(&self) -> Option<Asked> {
        lock(&self.script.asked).last().cloned()
    }

    /// Forgets what it was asked.
    pub fn forget(&self) {
        lock(&self.script.asked).clear();
    }

    /// Answers so from now on.
    pub fn says(&self, says: Says) {
        *lock(&self.script.always) = Some(says);
    }

    /// Answers so once; several are said in their order.
    pub fn says_next(&self, says: Says) {
        lock(&self.script.next).push_back(says);
    }

    /// Lets only those in who have a live token of this endpoint; everyone else hears 401.
    pub fn guarded_by(&self, endpoint: &TokenEndpoint) {
        *lock(&self.script.guard) = Some(endpoint.live());
    }

    /// How many connections were made to it.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.listening.connections()
    }
}

impl Script {
    fn answer(&self, asked: Asked) -> Says {
        let token = asked.bearer().map(str::to_owned);
        let told = format!("{} {}", asked.method, asked.path);
        lock(&self.asked).push(asked);
        if let Some(live) = &*lock(&self.guard)
            && !token.is_some_and(|token| live.has(&token))
        {
            return Says::status(401, r#"{"error":"token unknown"}"#);
        }
        if let Some(says) = lock(&self.next).pop_front() {
            return says;
        }
        let always = lock(&self.always).clone();
        always.unwrap_or_else(|| Says::json(200, &json!({ "answered": told })))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
