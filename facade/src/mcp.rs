//! The Model Context Protocol over Streamable HTTP and stdio, in two eras on one endpoint.
//!
//! Decodes messages, asks the core, encodes answers and failures. Knows no rule of who may do what. The way of one
//! message: `envelope` reads it, `era` says how it is spoken, `server` carries it out with one file per
//! `method`, and a transport sends the `reply`. What is said to the server of one project goes through its `pipe`
//! instead, as it is.

mod envelope;
mod era;
mod failure;
mod fault;
mod http;
mod in_flight;
mod level;
mod listening;
mod method;
mod mirrored;
mod pipe;
mod reply;
mod result;
mod revision;
mod server;
mod stdio;
mod tools;
mod words;

use axum::{Router, routing::get};

pub(crate) use self::server::Server;
pub use self::stdio::{Stdio, StdioError, stdio};
use crate::routes::Shared;

/// The name by which the server calls itself where nobody gives it another one.
const SERVER_NAME: &str = "toolgate";

/// The templates of its paths.
pub(crate) const PATHS: [&str; 5] = [
    "/mcp",
    "/mcp/p/{profile}",
    "/mcp/",
    pipe::PATHS[0],
    pipe::PATHS[1],
];

/// The routes of this dialect.
pub(crate) fn routes() -> Router<Shared> {
    // The last is what people type by mistake.
    let [plain, under_profile, with_slash, ..] = PATHS;
    let methods = || {
        get(http::get)
            .post(http::post)
            .delete(http::delete)
            .options(http::options)
    };
    Router::new()
        .route(plain, methods())
        .route(under_profile, methods())
        .route(with_slash, methods())
        .merge(pipe::routes())
}
