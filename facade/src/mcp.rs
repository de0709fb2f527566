//! The Model Context Protocol over Streamable HTTP and stdio.
//!
//! Decodes messages, asks the core, encodes answers and failures. Knows no rule of who may do what.

use axum::Router;

use crate::routes::Shared;

/// The templates of its paths.
pub(crate) const PATHS: [&str; 2] = ["/mcp", "/mcp/p/{profile}"];

/// What this dialect keeps between requests.
#[derive(Debug, Default)]
pub(crate) struct Kept {}

/// The routes of this dialect.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
}
