//! Lists of tools as a client of the pipe gets them: without those that do not only read, the rest byte for byte; and
//! whether they are what is in force.

use bytes::Bytes;
use toolgate_contract::splice;

use super::{definition::Definition, tool_list::ToolList};

/// Whether every tool of a result of `tools/list` stands in the list in force, text for text.
pub(crate) fn are_in_force(list: &ToolList, result: &Bytes) -> bool {
    let told = || {
        let text = std::str::from_utf8(result).ok()?;
        splice::elements(splice::member(text, "tools").ok().flatten()?).ok()
    };
    let known = |raw: &&str| list.tools().iter().any(|tool| tool.tool.raw() == *raw);
    told().is_some_and(|told| told.iter().all(known))
}

/// A result of `tools/list` with the tools that say they only read; `None` for what is no such result.
pub(crate) fn only_reads(result: &Bytes) -> Option<Bytes> {
    let text = std::str::from_utf8(result).ok()?;
    let list = splice::member(text, "tools").ok().flatten()?;
    let reads = |raw: &&str| Definition::read(raw).is_some_and(|tool| tool.read_only);
    let kept: Vec<&str> = splice::elements(list).ok()?.into_iter().filter(reads).collect();
    Some(splice::in_place_of(text, list, &format!("[{}]", kept.join(","))).into())
}
