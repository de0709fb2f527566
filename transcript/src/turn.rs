//! Which turn of a conversation a line belongs to.
//!
//! A transcript that names its turns is believed: `turnId` or `turn_id`, on the line or in its message, then
//! `promptId`. Others name none, and there a turn is what follows upon a prompt, so that it has the prompt's `uuid`.
//! Where the beginning of a turn was not read there is no id: a wrong one would be worse.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json;

/// An id longer than this is none.
const LONGEST_ID: usize = 256;

/// What was read of a transcript up to here. Side chains, whose lines stand between those of the agent, have turns of
/// their own.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    agent: Option<Prompt>,
    side_chain: Option<Prompt>,
}

#[derive(Debug, Clone)]
struct Prompt {
    session: String,
    uuid: String,
}

impl Turns {
    /// A turn begins here.
    pub(crate) fn prompt(&mut self, session: Option<&str>, side_chain: bool, uuid: Option<Cow<'_, str>>) {
        *self.place(side_chain) = uuid.map(|uuid| Prompt {
            session: session.unwrap_or_default().into(),
            uuid: uuid.into_owned(),
        });
    }

    /// The prompt that this line follows upon.
    pub(crate) fn of(&mut self, session: Option<&str>, side_chain: bool) -> Option<&str> {
        let prompt = self.place(side_chain).as_ref()?;
        (prompt.session == session.unwrap_or_default()).then_some(prompt.uuid.as_str())
    }

    fn place(&mut self, side_chain: bool) -> &mut Option<Prompt> {
        match side_chain {
            true => &mut self.side_chain,
            false => &mut self.agent,
        }
    }
}

/// An id: a text that is not empty, or a number as it is written.
pub(crate) fn id(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let value = value?;
    let number = || {
        let text = value.get();
        text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            .then(|| text.into())
    };
    json::text(Some(value))
        .or_else(number)
        .filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)
}
