//! The pipe to the server of one project: every method of MCP, in both directions, as it is said.
//!
//! Reads the envelope and leaves the rest: parameters, results and errors are the bytes that came. Only what JSON-RPC
//! and HTTP are made of is the gateway's own: ids, sessions, headers, streams, and failures of the gateway itself. A
//! client of a revision with sessions leads a conversation that begins with `initialize`; a client of 2026-07-28 leads
//! none. What may be said the core decides.

mod exchange;
mod http;
pub(super) mod listen;
pub(super) mod tell;
mod ways;

use std::sync::Arc;

use axum::{Router, routing::get};
use toolgate_contract::mirrored::Mirror;

pub(super) use self::ways::Ways;
use super::{
    envelope::{Request, text},
    era::Era,
    fault::Fault,
    level::Scope,
    method,
    reply::Reply,
    server::{Asked, Server},
};
use crate::{link::Caller, routes::Shared};

/// The templates of its paths. The second is what people type by mistake.
pub(super) const PATHS: [&str; 2] = ["/mcp/project/{name}", "/mcp/project/{name}/"];

/// Its routes.
pub(super) fn routes() -> Router<Shared> {
    let methods = || {
        get(http::get)
            .post(http::post)
            .delete(http::delete)
            .options(super::http::options)
    };
    let [plain, with_slash] = PATHS;
    Router::new().route(plain, methods()).route(with_slash, methods())
}

/// A caller within a conversation with a project's server.
pub(super) struct Within {
    pub(super) project: String,
    pub(super) caller: Caller,
    /// What the conversation is told apart by. The caller's only once the core has said so.
    pub(super) scope: Scope,
}

/// What the tool that is called wants in headers as well, by the list that this client was given.
fn mirrors(server: &Server, project: &str, caller: &Caller, request: &Request) -> Option<Arc<[Mirror]>> {
    let name = request
        .params
        .name
        .as_ref()
        .filter(|_| request.method == "tools/call")?;
    server.told.of_tool(key(server, project, caller), &text(name)?)
}

fn key(server: &Server, project: &str, caller: &Caller) -> u64 {
    let [credential, profile, _] = caller.identity();
    server.told.key(&[project.as_bytes(), credential, profile])
}

/// Carries one request to a project's server.
pub(super) async fn answer(server: &Server, project: &str, asked: Asked) -> Reply {
    let fault = match (asked.era, asked.method.as_str()) {
        // Of a client of this revision it is no method; the relay would begin a conversation with it.
        (Era::Modern, "initialize") => Some(Fault::no_method(&asked.method, true)),
        (Era::Modern, _) => asked.meta.check_of_server().err(),
        (Era::Legacy(_), _) if asked.in_session => None,
        (Era::Legacy(_), "initialize") => None,
        // Before there is a conversation, the gateway is who is there.
        (Era::Legacy(_), "ping") => return method::ping::answer(server, asked).await,
        (Era::Legacy(_), _) => Some(Fault::no_message("a conversation begins with initialize")),
    };
    match fault {
        Some(fault) => fault.about(Some(asked.id)).into(),
        None => exchange::answer(server, project, asked).await,
    }
}
