//! A number of journal lines.

use std::fmt;

/// From 1 to 500, written with ASCII digits and without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lines(u16);

impl Lines {
    /// The most lines that may be asked for.
    pub const MAX: u16 = 500;

    /// Parses the number. `+5`, ` 5`, `05`, `0x10`, `all` and digits of other scripts are none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        // `u16::from_str` would take a plus sign.
        if bytes.is_empty() || bytes.len() > 3 || bytes[0] == b'0' || !bytes.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let lines = text.parse().ok()?;
        (1..=Self::MAX).contains(&lines).then_some(Self(lines))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
