//! The pages: static files out of the binary, and the one document for every address of a page.
//!
//! Knows no page and no caller: what stands on a page comes by the public contract, to scripts as well. A file is found
//! by its whole name in a table that was made when the binary was built, so there is no path to get out by.

mod accept;
mod answers;
mod document;
mod files;
mod headers;
mod oidc;
mod packed;

use axum::{Router, extract::Request, response::Response, routing::get};
use http::Method;

pub(crate) use self::{
    answers::{may_be_packed, pack},
    files::NoDocument,
};
use crate::{problem::Problem, routes::Shared};

/// Files, below the hash of all of them.
const FILES: &str = "/web/{build}/{*file}";

/// Addresses of pages, for which there is one document: its script shows the page of the address.
const PAGES: [&str; 12] = [
    "/",
    "/access",
    "/access/{*rest}",
    "/adapters",
    "/adapters/{*rest}",
    "/audit",
    "/audit/{*rest}",
    "/fleet",
    "/fleet/{*rest}",
    "/sign-in",
    "/test-call",
    "/tools",
];
/// The pages of single tools, profiles and comparisons.
const TOOL_PAGES: &str = "/tools/{*rest}";

/// The routes of the pages.
pub(crate) fn routes() -> Router<Shared> {
    // Packed now, so that the first reader does not wait for it.
    let _ = packed::bundle();
    let router = Router::new().route(FILES, get(file));
    let router = router.merge(oidc::routes());
    pages().fold(router, |router, path| router.route(path, get(page)))
}

/// The templates of its paths.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    pages().chain([FILES]).chain(oidc::PATHS)
}

fn pages() -> impl Iterator<Item = &'static str> {
    PAGES.into_iter().chain([TOOL_PAGES])
}

async fn page(request: Request) -> Response {
    document::answer(packed::bundle(), request.headers())
}

/// What a browser gets that was sent to an address that nothing has; programs are told otherwise.
pub(crate) fn nowhere(request: &Request) -> Option<Response> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_browser = reads && accept::prefers_html(request.headers());
    is_browser.then(|| document::nowhere(packed::bundle(), request.headers()))
}

async fn file(request: Request) -> Result<Response, Problem> {
    files::answer(packed::bundle(), request.uri().path(), request.headers())
}

#[cfg(test)]
mod tests;
