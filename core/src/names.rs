//! Names that people give to things: tokens and targets.

use crate::error::Error;

/// The longest name, in characters.
const LONGEST: usize = 64;

/// Refuses a name that is empty, too long, or cannot be read on one line by everyone.
pub fn check(place: &'static str, name: &str) -> Result<(), Error> {
    let length = name.chars().count();
    if length == 0 || length > LONGEST {
        return Err(Error::invalid(place, "must have 1 to 64 characters"));
    }
    if name.trim() != name {
        return Err(Error::invalid(place, "must not begin or end with white space"));
    }
    if !is_one_line(name) {
        return Err(Error::invalid(place, "must consist of printable characters"));
    }
    Ok(())
}

/// Whether a name given by others can be read on one line by everyone, and by nobody as another one.
#[must_use]
pub fn is_one_line(name: &str) -> bool {
    let printable = !name.chars().any(|c| c.is_control() || is_invisible(c));
    !name.is_empty() && name.trim() == name && printable
}

// Zero width, line and paragraph ends, tags, and what turns the reading direction: two names that look alike.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_printable_lines() {
        for good in ["a", "web 1", "größe", "ci/agent-7", &"ä".repeat(64)] {
            assert!(check("name", good).is_ok(), "{good}");
        }
        for bad in [
            "",
            " a",
            "a ",
            "a\nb",
            "a\u{0}b",
            "a\u{200b}b",
            "\u{202e}a",
            "a\u{e0061}",
            &"a".repeat(65),
        ] {
            assert!(check("name", bad).is_err(), "{bad:?}");
        }
    }
}
