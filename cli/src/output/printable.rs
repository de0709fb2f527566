//! Text of strangers on a terminal: hosts and callers choose it, so it may carry escape sequences.

use std::borrow::Cow;

/// The text with every control character but newline and tab shown as an escape.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_direction(c);
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if harmful(c) {
            shown.extend(c.escape_unicode())
        } else {
            shown.push(c)
        }
    }
    Cow::Owned(shown)
}

// Bidirectional overrides can make a line read as something else.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn an_escape_sequence_is_shown_instead_of_obeyed() {
        assert_eq!(printable("a\u{1b}[31mb\r\n\tc"), "a\\u{1b}[31mb\\u{d}\n\tc");
    }

    #[test]
    fn plain_text_is_left_as_it_is() {
        assert_eq!(printable("Größe 5 µs\n"), "Größe 5 µs\n");
    }
}
