//! Server-sent events (WHATWG HTML §9.2): pieces of bytes, cut anywhere, become events.
//!
//! Data stays the bytes it was, whatever they are: who reads it decides what it means. Bounded, so that an endless line
//! or event ends the stream. The crates there are for this keep texts, and any length of them.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

/// Longest wait that a server may ask for between connections.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What kind; empty where the stream does not say.
    pub name: Bytes,
    /// The data lines, joined.
    pub data: Bytes,
}

/// An event is over the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is over the limit")]
pub struct TooLarge;

/// Joins pieces to events, and keeps what a reader needs to come back.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: BytesMut,
    name: Bytes,
    data: BytesMut,
    has_data: bool,
    after_cr: bool,
    at_start: bool,
    last_id: Option<Bytes>,
    retry: Option<Duration>,
}

impl Decoder {
    /// A decoder of events whose data and lines have at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: BytesMut::new(),
            name: Bytes::new(),
            data: BytesMut::new(),
            has_data: false,
            after_cr: false,
            at_start: true,
            last_id: None,
            retry: None,
        }
    }

    /// The id of the last event that had one: what a reader that comes back names.
    #[must_use]
    pub fn last_id(&self) -> Option<&Bytes> {
        self.last_id.as_ref()
    }

    /// How long the server wants a reader to wait before it comes back.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes a piece and gives the events that it completes.
    ///
    /// # Errors
    /// When an event is over the limit; the stream is then of no more use.
    pub fn push(&mut self, mut piece: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        while !piece.is_empty() {
            if std::mem::take(&mut self.after_cr) && piece[0] == b'\n' {
                piece = &piece[1..];
                continue;
            }
            let end = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = end.unwrap_or(piece.len());
            // The name of a field and the space behind it do not count.
            if self.line.len() + part + self.data.len() > self.limit + 16 {
                return Err(TooLarge);
            }
            self.line.put_slice(&piece[..part]);
            let Some(end) = end else { break };
            self.after_cr = piece[end] == b'\r';
            piece = &piece[end + 1..];
            events.extend(self.end_of_line());
        }
        Ok(events)
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let mut line = self.line.split().freeze();
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xef\xbb\xbf") {
            line = line.slice(3..);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.first() == Some(&b' ') {
            value = value.slice(1..);
        }
        match &line[..colon] {
            b"event" => self.name = value,
            b"data" => {
                if self.has_data {
                    self.data.put_u8(b'\n');
                }
                self.has_data = true;
                self.data.put_slice(&value);
            }
            b"id" if !value.contains(&0) => self.last_id = (!value.is_empty()).then_some(value),
            b"retry" => self.retry = milliseconds(&value).or(self.retry),
            // Comments keep the connection alive.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.split().freeze();
        std::mem::take(&mut self.has_data).then_some(Event { name, data })
    }
}

fn milliseconds(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let wanted = std::str::from_utf8(value).ok()?.parse().unwrap_or(u64::MAX);
    Some(Duration::from_millis(wanted).min(LONGEST_RETRY))
}

#[cfg(test)]
mod tests;
