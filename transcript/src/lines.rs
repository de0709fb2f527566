//! Cuts bytes into lines, however they come: in pieces, many at once, without an end, without a bound.

use crate::json;

/// A line longer than this is skipped.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// A buffer that a long line has made this large is given back.
const KEPT: usize = 1024 * 1024;

/// What is found in the bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A line that is not empty, without its end.
    Line(&'a [u8]),
    /// A line has become too long; what is left of it is skipped.
    TooLong,
}

/// The line that has not ended yet. Holds no more than the longest line.
#[derive(Debug)]
pub struct Lines {
    held: Vec<u8>,
    skipping: bool,
    longest: usize,
}

impl Lines {
    /// For lines up to so many bytes.
    #[must_use]
    pub fn new(longest: usize) -> Self {
        Self {
            held: Vec::new(),
            skipping: false,
            longest,
        }
    }

    /// The same, beginning in the middle of a line that is of no interest.
    #[must_use]
    pub fn in_the_middle(longest: usize) -> Self {
        Self {
            skipping: true,
            ..Self::new(longest)
        }
    }

    /// Takes the next bytes and hands over each line that ends in them.
    pub fn push(&mut self, mut bytes: &[u8], found: &mut dyn FnMut(Piece<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            // Most lines lie whole in what was read.
            if self.held.is_empty() && !self.skipping && line.len() <= self.longest {
                hand_over(line, found);
                continue;
            }
            self.hold(line, found);
            if !self.skipping {
                hand_over(&self.held, found);
            }
            self.begin();
        }
        self.hold(bytes, found);
    }

    /// Bytes of the line that has not ended.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Takes the line that has not ended if it is whole all the same: nothing can follow upon a JSON object in its
    /// line. What comes next is a line of its own.
    #[must_use]
    pub fn take_whole(&mut self) -> Option<Vec<u8>> {
        let whole = json::is_object(without_hole(&self.held));
        whole.then(|| std::mem::take(&mut self.held))
    }

    fn hold(&mut self, bytes: &[u8], found: &mut dyn FnMut(Piece<'_>)) {
        if self.skipping {
            return;
        }
        let bytes = if self.held.is_empty() {
            without_hole(bytes)
        } else {
            bytes
        };
        if self.held.len() + bytes.len() > self.longest {
            self.skipping = true;
            self.held = Vec::new();
            return found(Piece::TooLong);
        }
        self.held.extend_from_slice(bytes);
    }

    fn begin(&mut self) {
        self.skipping = false;
        self.held.clear();
        if self.held.capacity() > KEPT {
            self.held = Vec::new();
        }
    }
}

fn hand_over(line: &[u8], found: &mut dyn FnMut(Piece<'_>)) {
    let line = without_hole(line).trim_ascii();
    if !line.is_empty() {
        found(Piece::Line(line));
    }
}

// Where a file is cut under a writer that keeps its place, zeros stand before what it writes next.
fn without_hole(line: &[u8]) -> &[u8] {
    let zeros = line.iter().take_while(|byte| **byte == 0).count();
    &line[zeros..]
}

#[cfg(test)]
mod tests;
