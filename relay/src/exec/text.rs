//! Output as text: lossy UTF-8 without control characters.

/// Decodes output and removes what could steer a terminal or break a line: C0 and C1 controls but newline and tab,
/// and delete.
pub(crate) fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|&c| matches!(c, '\n' | '\t') || !c.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_go_and_text_stays() {
        for (bytes, text) in [
            (&b"a\tb\r\n"[..], "a\tb\n"),
            (b"\x1b[31mred\x1b[0m", "[31mred[0m"),
            (b"\x1b]8;;http://x\x07link", "]8;;http://xlink"),
            (b"nul\0bell\x07del\x7f", "nulbelldel"),
            ("c1\u{9b}31m ünï ●".as_bytes(), "c131m ünï ●"),
            (b"bad \xff\xfe utf8", "bad \u{fffd}\u{fffd} utf8"),
        ] {
            assert_eq!(plain(bytes), text, "{bytes:?}");
        }
    }
}
