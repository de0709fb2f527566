//! What the headers of a request say, read once and within bounds.
//!
//! A header that two readers could see differently is refused: doubled ones, and bytes that are no visible ASCII.

use ::http::{HeaderMap, HeaderName, HeaderValue, header::ACCEPT};

use crate::mcp::{
    fault::Fault,
    revision::{Legacy, MODERN},
};

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(in crate::mcp) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// What a header begins with in which an argument stands.
const PARAM: &str = "mcp-param-";

/// No revision is longer.
const LONGEST_REVISION: usize = 64;
/// Ids of ours are shorter; others are unknown anyway.
const LONGEST_SESSION: usize = 1024;

/// The headers of the protocol.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Said {
    pub(in crate::mcp) revision: Option<String>,
    pub(in crate::mcp) method: Option<HeaderValue>,
    pub(in crate::mcp) name: Option<HeaderValue>,
    pub(in crate::mcp) session: Option<String>,
    /// Arguments that stand in headers as well.
    pub(in crate::mcp) params: HeaderMap,
}

impl Said {
    pub(in crate::mcp) fn read(headers: &HeaderMap) -> Result<Self, Fault> {
        Ok(Self {
            revision: text(headers, &REVISION, LONGEST_REVISION)?,
            method: single(headers, &METHOD)?,
            name: single(headers, &NAME)?,
            session: text(headers, &SESSION, LONGEST_SESSION)?,
            params: params(headers)?,
        })
    }

    pub(in crate::mcp) fn is_modern(&self) -> bool {
        self.revision.as_deref() == Some(MODERN)
    }

    /// The revision that a session of ours was begun with. Whether it is one of ours the core says.
    pub(in crate::mcp) fn revision_of_session(&self) -> Option<Legacy> {
        let (revision, _) = self.session.as_deref()?.split_once('.')?;
        Legacy::parse(revision)
    }
}

fn params(headers: &HeaderMap) -> Result<HeaderMap, Fault> {
    let named = headers.keys().filter(|name| name.as_str().starts_with(PARAM));
    let named = named.filter_map(|name| Some((name.clone(), single(headers, name).transpose()?)));
    named.map(|(name, value)| Ok((name, value?))).collect()
}

fn single(headers: &HeaderMap, name: &HeaderName) -> Result<Option<HeaderValue>, Fault> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().cloned();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(Fault::headers(format!("header {name} is given twice"))),
    }
}

fn text(headers: &HeaderMap, name: &HeaderName, longest: usize) -> Result<Option<String>, Fault> {
    let Some(value) = single(headers, name)? else {
        return Ok(None);
    };
    let visible = value.as_bytes().iter().all(u8::is_ascii_graphic);
    if value.is_empty() || value.len() > longest || !visible {
        return Err(Fault::no_message(format!(
            "header {name} must be 1 to {longest} visible characters"
        )));
    }
    Ok(value.to_str().ok().map(str::to_owned))
}

/// The forms of an answer that a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) struct Takes {
    pub(in crate::mcp) json: bool,
    pub(in crate::mcp) events: bool,
}

impl Takes {
    pub(in crate::mcp) const JSON: Self = Self {
        json: true,
        events: false,
    };
    pub(in crate::mcp) const EVENTS: Self = Self {
        json: false,
        events: true,
    };
}

/// Lenient (row H2): who does not say that it takes streams gets JSON, and so does who says nothing we know.
pub(in crate::mcp) fn takes(headers: &HeaderMap) -> Takes {
    let events = names(headers, "text/event-stream");
    let json = !events
        || names(headers, "application/json")
        || names(headers, "*/*")
        || names(headers, "application/*");
    Takes { json, events }
}

/// Whether a stream is among what the client takes, by name or by star.
pub(in crate::mcp) fn takes_events_at_all(headers: &HeaderMap) -> bool {
    !headers.contains_key(ACCEPT)
        || ["text/event-stream", "text/*", "*/*"]
            .iter()
            .any(|form| names(headers, form))
}

fn names(headers: &HeaderMap, form: &str) -> bool {
    let lines = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(form));
        named && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests;
