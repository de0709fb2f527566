//! Lines of a peer: newline-delimited bytes, within a bound, whatever else stands in them.
//!
//! Only the newline ends a line: U+2028 and its kin are text. A carriage return before it and a byte order mark at its
//! beginning are not part of it, blank lines are none. A line over the bound is told as such once, at the moment it
//! passes the bound, and the rest of it is let go as it comes.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are asked for at a time.
const READ: usize = 16 * 1024;
const MARK: &[u8] = b"\xef\xbb\xbf";

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end; not blank.
    Whole(Bytes),
    /// Longer than the bound.
    TooLong,
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    cutter: Cutter,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            cutter: Cutter::new(limit),
            ended: false,
        }
    }

    /// The next line; `None` at the end. Cancel safe: what was read stays here.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.cutter.next() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(self.cutter.end());
            }
            let room = self.cutter.room();
            self.ended = self.input.read_buf(room).await? == 0;
        }
    }
}

/// Cuts what has come into lines. Holds at most the bound and what one reading brings.
#[derive(Debug)]
struct Cutter {
    held: BytesMut,
    /// Bytes of `held` in which there is no newline.
    searched: usize,
    limit: usize,
    /// Whether the rest of a line that was too long is still to come.
    skipping: bool,
}

impl Cutter {
    fn new(limit: usize) -> Self {
        Self {
            held: BytesMut::new(),
            searched: 0,
            limit,
            skipping: false,
        }
    }

    /// Where the next bytes go.
    fn room(&mut self) -> &mut BytesMut {
        self.held.reserve(READ);
        &mut self.held
    }

    /// The next line that is complete, or that is too long already.
    fn next(&mut self) -> Option<Line> {
        loop {
            let unseen = &self.held[self.searched..];
            let Some(at) = unseen.iter().position(|byte| *byte == b'\n') else {
                return self.unfinished();
            };
            let line = self.held.split_to(self.searched + at);
            self.held.advance(1);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if let Some(line) = self.bare(line.freeze()) {
                return Some(line);
            }
        }
    }

    /// What stands after the last newline, at the end.
    fn end(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.held).freeze();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) {
            return None;
        }
        self.bare(line)
    }

    fn unfinished(&mut self) -> Option<Line> {
        // A carriage return and a mark may still turn out not to be part of it.
        let passed = self.held.len() > self.limit + MARK.len() + 1;
        if self.skipping || passed {
            self.held = BytesMut::new();
        }
        self.searched = self.held.len();
        (passed && !std::mem::replace(&mut self.skipping, true)).then_some(Line::TooLong)
    }

    fn bare(&self, line: Bytes) -> Option<Line> {
        let mut text = &line[..];
        text = text.strip_suffix(b"\r").unwrap_or(text);
        text = text.strip_prefix(MARK).unwrap_or(text);
        if text.len() > self.limit {
            return Some(Line::TooLong);
        }
        let is_blank = text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        (!is_blank).then(|| Line::Whole(line.slice_ref(text)))
    }
}

#[cfg(test)]
mod tests;
