//! Whose answer a message is that is too long to be read, from how it begins and ends.
//!
//! A guess by the two ways in which servers write answers, with the id before the result or behind it. A wrong one
//! refuses a request of the very server that wrote the message, and nothing else. Pure.

/// The id of the request that is answered.
pub(crate) fn answered(head: &[u8], tail: &[u8]) -> Option<u64> {
    before(head).or_else(|| behind(tail))
}

fn before(head: &[u8]) -> Option<u64> {
    // The id in front of a result stands in front of every other brace.
    let braces = head.iter().enumerate().filter(|(_, byte)| **byte == b'{');
    let outer = braces.map(|(at, _)| at).nth(1).unwrap_or(head.len());
    after_key(&head[..outer])
}

fn behind(tail: &[u8]) -> Option<u64> {
    let close = tail.iter().rposition(|byte| *byte == b'}')?;
    let inner = tail[..close].iter().rposition(|byte| *byte == b'}')?;
    after_key(&tail[inner..close])
}

fn after_key(text: &[u8]) -> Option<u64> {
    let key = br#""id""#;
    let at = text.windows(key.len()).position(|window| window == key)?;
    let rest = std::str::from_utf8(&text[at + key.len()..]).ok()?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let digits = rest.len()
        - rest
            .trim_start_matches(|digit: char| digit.is_ascii_digit())
            .len();
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_before_the_result_and_behind_it() {
        for (head, tail, wanted) in [
            (
                &br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"id":9"#[..],
                &b"}}"[..],
                Some(7),
            ),
            (br#"{"jsonrpc": "2.0", "id": 12, "result": {"#, b"}]}}", Some(12)),
            (
                br#"{"result":{"id":3,"a":["#,
                br#"x"}]},"jsonrpc":"2.0","id":41}"#,
                Some(41),
            ),
            (br#"{"result":{"id":3"#, br#""id":3}}"#, None),
            (br#"{"jsonrpc":"2.0","id":"a","result":{"#, b"}}", None),
            (b"", b"", None),
        ] {
            assert_eq!(answered(head, tail), wanted, "{}", String::from_utf8_lossy(head));
        }
    }
}
