//! Lines of a stream, whole and bounded, whatever was written into it.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is kept of both ends of a line that is too long.
const GLIMPSE: usize = 512;
const STEP: usize = 64 * 1024;

/// One line, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// All of it.
    Whole(Bytes),
    /// Longer than may be: how it begins and how it ends.
    TooLong { head: Bytes, tail: Bytes },
}

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    buffer: BytesMut,
    /// Bytes of the buffer in which no line end was found.
    seen: usize,
    limit: usize,
    /// How the line began that is being passed over.
    passing: Option<Bytes>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `limit` bytes.
    pub(crate) fn new(from: R, limit: usize) -> Self {
        Self {
            from,
            buffer: BytesMut::new(),
            seen: 0,
            limit,
            passing: None,
            ended: false,
        }
    }

    /// The next line; what stands behind the last line end is one, too. Cancel-safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.cut() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            self.buffer.reserve(STEP);
            self.ended = self.from.read_buf(&mut self.buffer).await? == 0;
        }
    }

    fn cut(&mut self) -> Option<Line> {
        let end = self.buffer[self.seen..].iter().position(|byte| *byte == b'\n');
        if let Some(end) = end {
            let line = self.buffer.split_to(self.seen + end);
            self.buffer.advance(1);
            self.seen = 0;
            return Some(self.finish(line));
        }
        if self.ended && (!self.buffer.is_empty() || self.passing.is_some()) {
            self.seen = 0;
            let line = self.buffer.split();
            return Some(self.finish(line));
        }
        self.seen = self.buffer.len();
        if self.seen > self.limit {
            let head = self.buffer.split_to(GLIMPSE).freeze();
            self.passing.get_or_insert(head);
            let passed = self.buffer.len() - self.buffer.len().min(GLIMPSE);
            self.buffer.advance(passed);
            self.seen = self.buffer.len();
        }
        None
    }

    fn finish(&mut self, line: BytesMut) -> Line {
        let mut line = line.freeze();
        let head = match self.passing.take() {
            Some(head) => head,
            None if line.len() > self.limit => line.split_to(GLIMPSE),
            None => {
                if line.last() == Some(&b'\r') {
                    line.truncate(line.len() - 1);
                }
                return Line::Whole(line);
            }
        };
        let tail = line.slice(line.len() - line.len().min(GLIMPSE)..);
        Line::TooLong { head, tail }
    }
}

#[cfg(test)]
mod tests;
