//! OpenAI ⇄ the contract, as pure functions: tool lists, tool calls in, results and failures out.
//!
//! Used by both forms, Chat Completions and Responses (`Form`). No I/O, no clock, no caller: the same input gives the
//! same bytes, and golden cases hold them, because this translation is frozen (`docs/openai.md`). Arguments, schemas and
//! structured results are never read into values and written again: their bytes go through, so that 2^53+1 stays
//! itself.

mod answer;
mod calls;
mod failure;
mod members;
mod output;
mod schema;
mod tools;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    answer::{Answered, Ending, answer},
    calls::{Asked, Call, read},
    tools::tools,
};

/// Which of OpenAI's two APIs a list or a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Chat Completions: `tool_calls` of an assistant message, answered by messages of role `tool`.
    Chat,
    /// Responses: `function_call` items, answered by `function_call_output` items.
    Responses,
}
