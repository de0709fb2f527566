//! Where a JSON text is wrong and why, without a single value of it.

use std::fmt;

/// Why a JSON text was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalFault {
    /// Over the limit of bytes.
    #[error("longer than 1 MiB")]
    TooLong,
    /// Over the limit of nesting.
    #[error("nested deeper than 64 levels")]
    TooDeep,
    /// Over the limit of values.
    #[error("more than 10000 values")]
    TooManyNodes,
    /// Not UTF-8.
    #[error("not valid UTF-8")]
    Utf8,
    /// Begins with U+FEFF.
    #[error("starts with a byte order mark: leave it out")]
    ByteOrderMark,
    /// Ends too early.
    #[error("the text ends too early")]
    Ended,
    /// Goes on after the value.
    #[error("something follows after the value")]
    Trailing,
    /// No value where one must stand.
    #[error("a value is expected")]
    Value,
    /// No key where one must stand.
    #[error("a key in double quotes is expected")]
    Key,
    /// No colon after a key.
    #[error("a colon is expected")]
    Colon,
    /// Neither comma nor the closing bracket.
    #[error("a comma or the closing bracket is expected")]
    Comma,
    /// Not how JSON writes a number.
    #[error("not a JSON number")]
    Number,
    /// Not representable even as a float.
    #[error("a number out of range")]
    NumberRange,
    /// A raw control character in a string.
    #[error("a raw control character in a string: escape it")]
    ControlCharacter,
    /// Not how JSON escapes.
    #[error("not a JSON escape")]
    Escape,
    /// Half of a surrogate pair.
    #[error("half of a surrogate pair")]
    LoneSurrogate,
    /// The same key twice in one object.
    #[error("the same key twice in one object")]
    DuplicateKey,
    /// A member that must be a string.
    #[error("must be a string")]
    NotString,
}

/// A refused JSON text: what is wrong and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalError {
    fault: CanonicalFault,
    offset: usize,
    // Innermost segment first, as the scanner leaves the places it was in.
    path: Vec<String>,
}

const LONGEST_POINTER: usize = 200;
const LONGEST_SEGMENT: usize = 64;

impl CanonicalError {
    pub(super) fn new(fault: CanonicalFault, offset: usize) -> Self {
        Self {
            fault,
            offset,
            path: Vec::new(),
        }
    }

    pub(super) fn inside_key(&mut self, key: &[u8]) {
        let text = String::from_utf8_lossy(&key[..key.len().min(LONGEST_SEGMENT)]);
        let mut segment = text.replace('~', "~0").replace('/', "~1");
        if segment.contains(char::is_control) {
            segment = segment.escape_debug().to_string();
        }
        if key.len() > LONGEST_SEGMENT {
            segment.push('…');
        }
        self.path.push(segment);
    }

    pub(super) fn inside_item(&mut self, index: u32) {
        self.path.push(index.to_string());
    }

    /// What is wrong.
    #[must_use]
    pub fn fault(&self) -> CanonicalFault {
        self.fault
    }

    /// Byte of the text at which it was noticed, from 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// JSON pointer (RFC 6901) to the value; empty for the outermost. Long ones are cut.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in self.path.iter().rev() {
            if pointer.len() + segment.len() > LONGEST_POINTER {
                pointer.push_str("/…");
                break;
            }
            pointer.push('/');
            pointer.push_str(segment);
        }
        pointer
    }
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.pointer();
        if pointer.is_empty() {
            write!(f, "{} (at byte {})", self.fault, self.offset)
        } else {
            write!(f, "{pointer}: {} (at byte {})", self.fault, self.offset)
        }
    }
}

impl std::error::Error for CanonicalError {}
