//! What a caller asks a list for, as the room that lists wants it.

use toolgate_contract::v1::ListEventsRequest;

use crate::{
    audit::{
        EventKind, Outcome,
        list::{self, Cursor, Filter},
    },
    broker::Caller,
    error::Error,
    identity::Action,
    rfc3339,
};

// Who may not read the whole record reads what it did itself, whatever it asks for.
pub(super) fn filter(caller: &Caller, asked: ListEventsRequest) -> Result<Option<Filter>, Error> {
    let mut principal = asked.principal;
    let me = caller.principal();
    if !me.role.may(Action::ReadRecord) {
        if principal
            .as_deref()
            .is_some_and(|other| other != me.name.as_ref())
        {
            return Ok(None);
        }
        principal = Some(me.name.as_ref().to_owned());
    }
    let time = |place: &'static str, text: Option<String>| {
        text.map(|text| rfc3339::parse(&text).map_err(|error| Error::invalid(place, error.to_string())))
            .transpose()
    };
    Ok(Some(Filter {
        since_us: time("since", asked.since)?,
        until_us: time("until", asked.until)?,
        principal,
        capability: asked.tool,
        target_id: id("target_id", asked.target_id)?,
        result: asked
            .result
            .map(|text| named("result", &text, Outcome::parse, Outcome::ALL, Outcome::as_str))
            .transpose()?,
        correlation_id: id("correlation_id", asked.correlation_id)?,
        kind: asked
            .event
            .map(|text| {
                named(
                    "event",
                    &text,
                    EventKind::parse,
                    EventKind::ALL,
                    EventKind::as_str,
                )
            })
            .transpose()?,
    }))
}

fn id<T: std::str::FromStr>(place: &'static str, text: Option<String>) -> Result<Option<T>, Error> {
    text.map(|text| {
        text.parse()
            .map_err(|_| Error::invalid(place, "is no id: an id has 26 characters"))
    })
    .transpose()
}

pub(super) fn named<T: Copy>(
    place: &'static str,
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    parse(text).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        Error::invalid(place, format!("must be one of {}", names.join(", ")))
    })
}

pub(super) fn cursor(text: &str) -> Result<Cursor, Error> {
    text.parse()
        .map_err(|error: list::InvalidCursor| Error::invalid("cursor", error.to_string()))
}
