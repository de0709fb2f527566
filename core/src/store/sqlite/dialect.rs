//! From the portable placeholder `$n` to SQLite's `?n`.
//!
//! SQLite takes `$1` for a *name* and numbers names by first appearance, so `$2, $1` would bind the wrong way round.

/// Rewrites the placeholders of a statement; texts, quoted names and comments stay as they are.
pub(super) fn rewrite(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['$', '\'', '"', '-']) {
        let (before, special) = rest.split_at(at);
        out.push_str(before);
        let taken = match special.as_bytes() {
            [b'$', digit, ..] if digit.is_ascii_digit() => {
                out.push('?');
                rest = &special[1..];
                continue;
            }
            [quote @ (b'\'' | b'"'), ..] => quoted(special, char::from(*quote)),
            [b'-', b'-', ..] => special.find('\n').unwrap_or(special.len()),
            _ => 1,
        };
        out.push_str(&special[..taken]);
        rest = &special[taken..];
    }
    out.push_str(rest);
    out
}

/// Length of a quoted piece. A doubled quote inside it reads as two pieces side by side, which comes to the same.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_and_nothing_else_changes() {
        let check = |sql: &str, expected: &str| assert_eq!(rewrite(sql), expected);
        check("select $2, $1", "select ?2, ?1");
        check("select $12 from t where a = $3", "select ?12 from t where a = ?3");
        check("select '$1', $1", "select '$1', ?1");
        check("select 'it''s $1', $2", "select 'it''s $1', ?2");
        check(
            "select \"$1\" from t -- not $1\n where a = $1",
            "select \"$1\" from t -- not $1\n where a = ?1",
        );
        check("select a - $1, $x, 'open $1", "select a - ?1, $x, 'open $1");
        check("", "");
    }

    #[test]
    fn values_are_bound_by_number_not_by_first_appearance() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let select = |sql: &str| -> (i64, i64) {
            connection
                .query_row(sql, [1, 2], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
        };
        assert_eq!(select(&rewrite("select $2, $1")), (2, 1));
        assert_eq!(select("select $2, $1"), (1, 2), "what SQLite would do by itself");
    }
}
