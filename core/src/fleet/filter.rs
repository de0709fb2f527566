//! A list of tools without those that do not only read; the rest stays byte for byte.

use bytes::Bytes;
use toolgate_contract::splice;

use super::definition::Definition;

/// A result of `tools/list` with the tools that say they only read; `None` for what is no such result.
pub(crate) fn only_reads(result: &Bytes) -> Option<Bytes> {
    let text = std::str::from_utf8(result).ok()?;
    let list = splice::member(text, "tools").ok().flatten()?;
    let reads = |raw: &&str| Definition::read(raw).is_some_and(|tool| tool.read_only);
    let kept: Vec<&str> = splice::elements(list).ok()?.into_iter().filter(reads).collect();
    Some(splice::in_place_of(text, list, &format!("[{}]", kept.join(","))).into())
}
