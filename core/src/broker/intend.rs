//! Intend: the intent is durable, or the call is refused. Only this gives a [`Contact`].

use super::{
    Rooms,
    facts::{Ending, Refusal},
    permit::Permitted,
};
use crate::journal::{Contact, Intent};

/// A call whose intent is durable.
#[derive(Debug)]
pub(crate) struct Intended {
    pub(super) permitted: Permitted,
    pub(super) contact: Contact,
    _step: (),
}

pub(super) async fn intend(rooms: &Rooms, permitted: Permitted) -> Result<Intended, Box<Refusal>> {
    let facts = &permitted.facts;
    // What the row of this call says if nobody lives to settle it.
    let intent = Intent::new(facts.ended(rooms, Ending::unknown()));
    match rooms
        .journal
        .intend(&facts.caller.principal().tenant, intent)
        .await
    {
        Ok(contact) => Ok(Intended {
            permitted,
            contact,
            _step: (),
        }),
        Err(error) => Err(Refusal::boxed(permitted.facts, error.into())),
    }
}
