//! Limits that a JSON text is held against before anything is built out of it.
//!
//! The text is not checked to be JSON here, only that reading it stays small: brackets and commas outside of strings
//! are counted, and there is never more of values than of those.

use crate::upstream::UpstreamError;

/// Objects and arrays within each other.
const DEEPEST: u32 = 64;
/// Values, all together.
const MOST_NODES: u32 = 500_000;

/// Whether reading this text stays within the limits of depth and size.
pub(super) fn within_limits(text: &[u8]) -> Result<(), UpstreamError> {
    let (mut depth, mut nodes) = (0_u32, 1_u32);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => {
                depth += 1;
                nodes += 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => nodes += 1,
            _ => {}
        }
        if nodes > MOST_NODES {
            return Err(UpstreamError::TooLarge);
        }
        if depth > DEEPEST {
            return Err(UpstreamError::Invalid);
        }
    }
    Ok(())
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(), UpstreamError>) {
        assert_eq!(within_limits(text.as_bytes()), expected, "{} bytes", text.len());
    }

    #[test]
    fn depth_and_size_are_limited_and_strings_do_not_count() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        check(&nested(64), Ok(()));
        check(&nested(65), Err(UpstreamError::Invalid));
        check(&"[".repeat(1_000_000), Err(UpstreamError::Invalid));
        check(&format!("[{}0]", "0,".repeat(499_998)), Ok(()));
        check(
            &format!("[{}0]", "0,".repeat(499_999)),
            Err(UpstreamError::TooLarge),
        );
        check(&"{},".repeat(300_000), Err(UpstreamError::TooLarge));
        check(&format!("\"{}\"", "[,\\\"".repeat(500_000)), Ok(()));
        check(&format!(r#"["\\",{}]"#, nested(63)), Ok(()));
        check(&format!(r#"["\\",{}]"#, nested(64)), Err(UpstreamError::Invalid));
        check("", Ok(()));
        check("\"", Ok(()));
        check("\"\\", Ok(()));
        check("]]]]", Ok(()));
    }
}
