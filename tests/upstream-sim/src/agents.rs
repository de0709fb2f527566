//! The three back ends of agents on one address: memory with the graph of the code, tasks, and chat.
//!
//! There is no such server to be had here, so this is one by the routes that the tools are bound to, with as much behind
//! them that what was written is found again. The graph of the code is that of one small repository. What it does not know
//! is 404. One token opens all of it.

mod chat;
mod code;
mod memory;
mod tasks;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use self::{chat::Chat, memory::Memory, tasks::Tasks};
use crate::{Reply, Request, Seen, Server};

/// The running back ends. Dropping them stops them.
#[derive(Debug)]
pub struct Agents {
    server: Server,
}

#[derive(Debug, Default)]
struct State {
    memory: Memory,
    tasks: Tasks,
    chat: Chat,
}

/// A request as the rooms of this one read it.
struct Asked {
    method: String,
    segments: Vec<String>,
    query: Vec<(String, String)>,
    body: Value,
}

impl Agents {
    /// Starts them; this token opens them.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start(address: SocketAddr, token: &str) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State::default()));
        let expected = format!("Bearer {token}");
        let server = Server::plain(address, move |request: Request| {
            let reply = match request.header("authorization") == expected {
                true => {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.answer(&Asked::read(&request))
                }
                false => refused(401, "this token is none of those that are known here"),
            };
            std::future::ready(reply)
        });
        Ok(Self {
            server: server.await?,
        })
    }

    /// Their URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What they were asked.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        self.server.seen()
    }
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Reply {
        let first = asked.segments.first().map_or("", String::as_str);
        let answered = match first {
            "projects" | "tasks" | "subtasks" => self.tasks.answer(asked),
            "rooms" => self.chat.answer(asked),
            "code" | "code-graph" => code::answer(asked),
            _ => self.memory.answer(asked),
        };
        answered.unwrap_or_else(|| refused(404, "there is nothing of this name"))
    }
}

impl Asked {
    fn read(request: &Request) -> Self {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
        Self {
            method: request.method.clone(),
            segments: request.segments().into_iter().map(decoded).collect(),
            query: pairs
                .map(|(name, value)| (decoded(name), decoded(&value.replace('+', " "))))
                .collect(),
            body: serde_json::from_slice(&request.body).unwrap_or(Value::Null),
        }
    }

    /// Method and path, to be matched.
    fn parts(&self) -> (&str, Vec<&str>) {
        (&self.method, self.segments.iter().map(String::as_str).collect())
    }

    fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> &str {
        self.body.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

fn done(status: u16, body: &Value) -> Option<Reply> {
    Some(Reply::json(status, body))
}

fn refused(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": message}))
}
