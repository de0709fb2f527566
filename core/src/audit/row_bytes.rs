//! An event as bytes: version, then every field in a fixed order, each as a big-endian u32 length and its content.
//!
//! These bytes are what is hashed, kept, exported and shown; the index columns beside them are read from them. Every
//! event has exactly one encoding and every encoding one event, so two readers cannot read a row in two ways. The
//! layout is written down for other people's verifiers in `docs/audit.md`.

use std::str;

use super::{Event, EventKind, Outcome, normal};

/// The layout this module writes.
pub const VERSION: u8 = 1;
const FIELDS: usize = 15;

/// Bytes that are no row of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// Written in a layout this version does not know.
    #[error("row layout {0} is not known to this version")]
    Version(u8),
    /// Lengths and bytes do not add up.
    #[error("row bytes end in the middle of field {0}, or go on after the last")]
    Length(usize),
    /// A field holds what it cannot hold.
    #[error("row field {0} holds no valid value")]
    Value(&'static str),
}

/// The bytes of `event`, with its texts in normal form (`normal.rs`).
#[must_use]
pub fn encode(event: &Event) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(384 + event.detail.len().min(normal::DETAIL));
    bytes.push(VERSION);
    let mut put = |field: &[u8]| {
        // Every field is bounded far below 4 GiB.
        bytes.extend_from_slice(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(field);
    };
    put(event.id.to_string().as_bytes());
    put(event.kind.as_str().as_bytes());
    put(&event.time_us.to_be_bytes());
    put(normal::text(&event.principal, normal::PRINCIPAL).as_bytes());
    put(normal::text(&event.role, normal::ROLE).as_bytes());
    put(normal::text(&event.facade, normal::FACADE).as_bytes());
    put(normal::text(&event.adapter_type, normal::ADAPTER_TYPE).as_bytes());
    put(event
        .target_id
        .map(|id| id.to_string())
        .unwrap_or_default()
        .as_bytes());
    put(normal::text(&event.capability, normal::CAPABILITY).as_bytes());
    put(event.params_hash.as_ref().map_or(&[][..], |hash| &hash[..]));
    put(event.result.as_str().as_bytes());
    put(normal::text(&event.reason, normal::REASON).as_bytes());
    put(&event.duration_ms.to_be_bytes());
    put(event
        .correlation_id
        .map(|id| id.to_string())
        .unwrap_or_default()
        .as_bytes());
    put(normal::detail(&event.detail).as_bytes());
    bytes
}

/// The event in `bytes`; the exact inverse of [`encode`].
///
/// # Errors
/// When they are no row of the record, or one of a newer layout or kind.
pub fn decode(bytes: &[u8]) -> Result<Event, RowError> {
    let fields = Fields::read(bytes)?;
    let event = Event {
        id: fields.parsed(0, "event_id")?,
        kind: EventKind::parse(fields.text(1, "kind")?).ok_or(RowError::Value("kind"))?,
        time_us: fields.number(2, "time")?,
        principal: fields.text(3, "principal")?.to_owned(),
        role: fields.text(4, "role")?.to_owned(),
        facade: fields.text(5, "facade")?.to_owned(),
        adapter_type: fields.text(6, "adapter_type")?.to_owned(),
        target_id: fields.optional(7, "target_id")?,
        capability: fields.text(8, "capability")?.to_owned(),
        params_hash: match fields.0[9] {
            [] => None,
            hash => Some(hash.try_into().map_err(|_| RowError::Value("params_hash"))?),
        },
        result: Outcome::parse(fields.text(10, "result")?).ok_or(RowError::Value("result"))?,
        reason: fields.text(11, "reason")?.to_owned(),
        duration_ms: fields.number(12, "duration")?,
        correlation_id: fields.optional(13, "correlation_id")?,
        detail: fields.text(14, "detail")?.to_owned(),
    };
    // A text that is not in normal form was not written by `encode`: it would have had a second encoding.
    if encode(&event) == bytes {
        Ok(event)
    } else {
        Err(RowError::Value("text"))
    }
}

/// What stands beside the bytes of a row, so that it can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns<'a> {
    /// The event's id.
    pub event_id: &'a str,
    /// Microseconds UTC.
    pub time_us: i64,
    /// Name of the kind.
    pub kind: &'a str,
    /// The principal; empty where none is known.
    pub principal: &'a str,
    /// The tool; empty where there is none.
    pub capability: &'a str,
    /// The target.
    pub target_id: Option<&'a str>,
    /// How it ended.
    pub result: &'a str,
    /// The call.
    pub correlation_id: Option<&'a str>,
}

impl<'a> Columns<'a> {
    /// Reads the columns out of a row's bytes. Kinds and results of a newer version are read as they stand.
    ///
    /// # Errors
    /// When the bytes are no row of the record.
    pub fn of(bytes: &'a [u8]) -> Result<Self, RowError> {
        let fields = Fields::read(bytes)?;
        let some = |text: &'a str| (!text.is_empty()).then_some(text);
        Ok(Self {
            event_id: fields.text(0, "event_id")?,
            time_us: fields.number(2, "time")?,
            kind: fields.text(1, "kind")?,
            principal: fields.text(3, "principal")?,
            capability: fields.text(8, "capability")?,
            target_id: some(fields.text(7, "target_id")?),
            result: fields.text(10, "result")?,
            correlation_id: some(fields.text(13, "correlation_id")?),
        })
    }
}

struct Fields<'a>([&'a [u8]; FIELDS]);

impl<'a> Fields<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, RowError> {
        let (version, mut rest) = bytes.split_first().ok_or(RowError::Length(0))?;
        if *version != VERSION {
            return Err(RowError::Version(*version));
        }
        let mut fields = [&[][..]; FIELDS];
        for (index, field) in fields.iter_mut().enumerate() {
            let (length, after) = rest.split_first_chunk::<4>().ok_or(RowError::Length(index))?;
            let length = u32::from_be_bytes(*length) as usize;
            (*field, rest) = after.split_at_checked(length).ok_or(RowError::Length(index))?;
        }
        if rest.is_empty() {
            Ok(Self(fields))
        } else {
            Err(RowError::Length(FIELDS))
        }
    }

    fn text(&self, index: usize, name: &'static str) -> Result<&'a str, RowError> {
        str::from_utf8(self.0[index]).map_err(|_| RowError::Value(name))
    }

    fn number(&self, index: usize, name: &'static str) -> Result<i64, RowError> {
        let bytes = self.0[index].try_into().map_err(|_| RowError::Value(name))?;
        Ok(i64::from_be_bytes(bytes))
    }

    fn parsed<T: str::FromStr>(&self, index: usize, name: &'static str) -> Result<T, RowError> {
        self.text(index, name)?.parse().map_err(|_| RowError::Value(name))
    }

    fn optional<T: str::FromStr>(&self, index: usize, name: &'static str) -> Result<Option<T>, RowError> {
        if self.0[index].is_empty() {
            Ok(None)
        } else {
            self.parsed(index, name).map(Some)
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
