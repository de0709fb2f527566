//! The tool calls of OpenAI's Chat Completions and Responses APIs.
//!
//! Decodes messages, asks the core, encodes answers and failures. Knows no rule of who may do what.

use axum::Router;

use crate::routes::Shared;

/// The templates of its paths.
pub(crate) const PATHS: [&str; 2] = ["/openai/v1/tools", "/openai/v1/tool_calls"];

/// What this dialect keeps between requests.
#[derive(Debug, Default)]
pub(crate) struct Kept {}

/// The routes of this dialect.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
}
