//! The pipe to the server of one project: every method of MCP, in both directions, as it is said.
//!
//! Reads the envelope and leaves the rest: parameters, results and errors are the bytes that came. Only what JSON-RPC
//! and HTTP are made of is the gateway's own: ids, sessions, headers, streams, and failures of the gateway itself. A
//! client of a revision with sessions leads a conversation that begins with `initialize`; a client of 2026-07-28 leads
//! none. What may be said the core decides.

mod exchange;
mod http;
mod listen;
mod tell;
mod ways;

use axum::{Router, routing::get};

pub(super) use self::ways::Ways;
use crate::routes::Shared;

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
