//! What a tool tells: a result, a no, or what became of a question that brought no answer.

use super::{ask::Miss, no::Wanted};
pub(super) use crate::adapters::said::{no, result as told};
use crate::upstream::{ToolResult, UpstreamError};

/// What became of a question that brought no answer.
pub(super) fn missed(miss: Miss, wanted: Wanted<'_>) -> Result<ToolResult, UpstreamError> {
    match miss {
        Miss::Fault(lack) => Err(lack.error),
        Miss::No(said) => no(&said.told(wanted)),
    }
}
