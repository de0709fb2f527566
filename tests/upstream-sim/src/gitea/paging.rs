//! Pages of a list: at most as long as the server allows, counted in a header, linked by the address that it believes to
//! have.

use serde_json::Value;

use super::{State, ok};
use crate::{Reply, Request};

/// One page of all rows.
pub(super) fn page(
    state: &State,
    request: &Request,
    all: &[Value],
    written: impl FnOnce(&[Value]) -> Value,
) -> Reply {
    let most = state.setup.most;
    let size = request.number("limit", 30, usize::MAX).min(most);
    let number = request.number("page", 1, 1_000_000);
    let start = ((number - 1) * size).min(all.len());
    let end = (start + size).min(all.len());
    let reply = ok(&written(&all[start..end])).with("x-total-count", &all.len().to_string());
    let last = all.len().div_ceil(size).max(1);
    let mut links = vec![];
    let mut link = |to: usize, rel: &str| {
        let path = request
            .path
            .strip_prefix(state.setup.sub_path)
            .unwrap_or(&request.path);
        links.push(format!(
            "<{}{path}?limit={size}&page={to}>; rel=\"{rel}\"",
            state.setup.root_url
        ));
    };
    if number < last {
        link(number + 1, "next");
        link(last, "last");
    }
    if number > 1 {
        link(1, "first");
        link(number - 1, "prev");
    }
    match links.is_empty() {
        true => reply,
        false => reply.with("link", &links.join(",")),
    }
}
