//! Finds tools by what a caller wants to do, in plain words.
//!
//! One index over the closed registry, made once: a question is ranked against all tools, and of the ranking a caller
//! gets what its catalog shows. What is hidden changes no score and no order of what is shown. Must not know callers,
//! tenants or the broker.

mod index;
mod thesaurus;
mod words;

use std::sync::LazyLock;

use toolgate_contract::registry::{Group, ToolDef};

use self::index::Index;
use crate::registry;

static INDEX: LazyLock<Index> = LazyLock::new(|| Index::of(registry::tools().filter(|tool| is_found(tool))));

/// The tools that fit the question best, best first, among those that are shown.
#[must_use]
pub fn find(query: &str, limit: usize, shown: impl Fn(&ToolDef) -> bool) -> Vec<&'static ToolDef> {
    let ranked = INDEX.rank(query);
    ranked
        .into_iter()
        .filter(|tool| shown(tool))
        .take(limit)
        .collect()
}

/// Makes the index now, so that the first question does not pay for it.
pub fn warm_up() {
    LazyLock::force(&INDEX);
}

/// The gateway's own tools are known to whoever asks, and would only stand in the way.
fn is_found(tool: &ToolDef) -> bool {
    tool.group != Some(Group::Gateway)
}

#[cfg(test)]
mod tests;
