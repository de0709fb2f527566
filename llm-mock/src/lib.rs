//! A scripted OpenAI-compatible model on loopback, for tests only.
//!
//! It speaks `POST /v1/chat/completions` and `POST /v1/responses`, streamed and not, and `GET /v1/models`. What it does is
//! told by a script: call this tool out of those that the request brings, say that, quote what the tools answered, or
//! misbehave as models do. The same request gives the same bytes. It reads a conversation as strictly as OpenAI does,
//! because a lenient mock would let through what a real model refuses.
//!
//! It knows wire types and nothing of Toolgate; nothing in production may depend on it, and a test of the crate arrows
//! holds that.

mod chat;
mod conversation;
mod fragments;
mod mock;
mod play;
mod quote;
mod refusal;
mod responses;
mod schema;
mod script;
mod seen;
mod server;
mod sse;
mod stamp;
mod tool;
mod wanted;

pub use self::{
    mock::LlmMock,
    script::{Script, ScriptError},
    seen::Seen,
};
