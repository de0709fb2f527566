//! What of a capped result is left: cut off before it leaves, and held for a while for whoever got the beginning.
//!
//! A result is capped when it is released, after its row is on the record and after the cache has the whole of it, so
//! neither knows of a cap. The rest is text; it is held in memory only, within bounds, and is found by a cursor that
//! nobody can guess and that is worth nothing to anyone but the principal whose call it was. Must not know profiles:
//! how many bytes a result may have is told.

mod cut;
mod held;

use std::sync::Arc;

use serde_json::{json, value::RawValue, value::to_raw_value};

use self::cut::Cut;
pub use self::held::Rests;
use crate::{error::Error, identity::Principal, token_cost, upstream::ToolResult};

/// A result as it may leave, and where its rest is.
#[derive(Debug)]
pub struct Capped {
    /// What may leave.
    pub result: Arc<ToolResult>,
    /// The cursor of the rest, where there is one that was kept.
    pub cursor: Option<String>,
}

impl Rests {
    /// Cuts a result that is longer than so many bytes and holds the rest for this principal; shorter ones stay as they
    /// are.
    #[must_use]
    pub fn cap(&self, result: Arc<ToolResult>, most: usize, owner: &Principal) -> Capped {
        let Some(Cut { mut blocks, rest }) = cut::cut(&result, most) else {
            return Capped { result, cursor: None };
        };
        let left = rest.len();
        let cursor = self.hold(rest, owner);
        blocks.push(trailer(left, cursor.as_deref()));
        Capped {
            result: Arc::new(ToolResult {
                content: content(&blocks),
                structured: None,
                is_error: result.is_error,
                raw: None,
            }),
            cursor,
        }
    }

    /// The part of a rest at which a cursor points. What nobody holds, and what somebody else does, is the same error.
    pub fn fetch(&self, cursor: &str, most: usize, owner: &Principal) -> Result<Capped, Error> {
        let part = self.part(cursor, most, owner)?;
        let mut blocks = vec![part.text];
        if let Some(next) = &part.next {
            blocks.push(trailer(part.left, Some(next)));
        }
        Ok(Capped {
            result: Arc::new(ToolResult {
                content: content(&blocks),
                structured: None,
                is_error: false,
                raw: None,
            }),
            cursor: part.next,
        })
    }
}

/// The last block: how much is left, and how to get it.
fn trailer(left: usize, cursor: Option<&str>) -> String {
    let tokens = token_cost::estimated(left);
    match cursor {
        Some(cursor) => format!(
            "[cut here: {left} bytes are left, about {tokens} tokens; fetch_rest with the cursor {cursor} gives the next part]"
        ),
        None => format!(
            "[cut here: {left} bytes were left out, about {tokens} tokens, too many to be kept; ask for less at once]"
        ),
    }
}

fn content(blocks: &[String]) -> Box<RawValue> {
    let blocks: Vec<_> = blocks
        .iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    // Texts always serialise.
    to_raw_value(&blocks).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests;
