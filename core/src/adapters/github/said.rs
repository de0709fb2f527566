//! What upstream texts look like where people and models read them: short, one line, nothing hidden, no address.

use std::fmt::Write as _;

/// At most this many rows are told; the structured part holds all of them.
const MOST_ROWS: usize = 100;

/// A text on one line of at most `most` characters, what cannot be seen in it written out.
pub(super) fn plain(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (n, c) in text.trim().chars().enumerate() {
        if n == most {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_hidden(c) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

/// A message of GitHub: as [`plain`], and without addresses, which may hold what nobody should read.
pub(super) fn message(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    plain(&words.collect::<Vec<_>>().join(" "), 200)
}

/// A heading and rows below it.
pub(super) fn table(heading: &str, rows: impl ExactSizeIterator<Item = String>, notes: &[String]) -> String {
    let all = rows.len();
    let mut out = heading.to_owned();
    for row in rows.take(MOST_ROWS) {
        out.push('\n');
        out.push_str(&row);
    }
    if all > MOST_ROWS {
        let _ = write!(out, "\n… and {} more", all - MOST_ROWS);
    }
    for note in notes {
        out.push('\n');
        out.push_str(note);
    }
    out
}

/// Controls, and what changes how others are shown or is shown as nothing: directions, joiners, tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_stays_in_a_text() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text, 40), expected);
        check("  a\nb\tc ", "a b c");
        check("x\u{202e}y\u{e0041}z\u{1b}[0m", r"x\u{202e}y\u{e0041}z\u{1b}[0m");
        check(&"ü".repeat(50), &format!("{}…", "ü".repeat(40)));
    }

    #[test]
    fn a_message_keeps_no_address() {
        let said = "Moved, see https://github.com/orgs/a/sso?authorization_request=SECRET for it";
        assert_eq!(message(said), "Moved, see for it");
    }

    #[test]
    fn a_long_table_says_how_much_is_left_out() {
        let rows: Vec<String> = (0..103).map(|n| n.to_string()).collect();
        let told = table("103 rows", rows.into_iter(), &["a note".into()]);
        assert_eq!(told.lines().count(), 103);
        assert!(told.ends_with("\n99\n… and 3 more\na note"), "{told}");
    }
}
