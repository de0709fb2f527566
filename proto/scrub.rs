//! Takes secrets out of a text that an agent wrote, before it is logged.
//!
//! Only what looks like a secret by itself, or stands where one belongs, is found: a secret that reads like prose is
//! not. Rather a word too many goes than a token stays. Linear in the text, whatever it holds.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// What stands in place of a secret.
const GONE: &str = "***";

/// What is found, and what stays of it. Later ones see what earlier ones left.
const SHAPES: &[(&str, &str)] = &[
    // Private keys, also where the end is cut off, or line ends are written as `\n`.
    (
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)",
        "***",
    ),
    // Whole headers, whatever the scheme.
    (
        r#"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:token|key))(\\?["']?\s*[:=]\s*)(\\?["'])[^"'\r\n]*"#,
        "$1$2$3***",
    ),
    (
        r#"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:token|key))(\\?["']?\s*[:=]\s*)[^\s"'\\][^"'\r\n]*"#,
        "$1$2***",
    ),
    (r"(?i)\b(bearer)(\s+)[a-z0-9._~+/=-]{6,}", "$1$2***"),
    (r"(?i)\b(basic)(\s+)[a-z0-9+/]{12,}={0,2}", "$1$2***"),
    // User and password of a URL, up to the last @ before its path.
    (r#"([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s"'?#<>]*@"#, "$1***@"),
    // Tokens that say themselves what they are: ours, then those of others.
    (r"\btg[kes]_[A-Za-z0-9_-]+", "***"),
    (
        r"\b(?:gh[pousr]|glpat|gloas|npm|hf|pypi|xox[a-z]|xapp|shpat|dop_v1|dckr_pat|hv[sbr])[_.-][A-Za-z0-9_.-]{8,}",
        "***",
    ),
    (r"\bgithub_pat_[A-Za-z0-9_]+", "***"),
    (r"\bsk[-_][A-Za-z0-9_-]{8,}", "***"),
    (r"\bAIza[A-Za-z0-9_-]{30,}", "***"),
    (r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}", "***"),
    (r"\bPVEAPIToken=\S+", "***"),
    // JSON Web Tokens, also without their last part.
    (r"\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){1,4}", "***"),
    // What stands after a name that says it is secret: quoted, bare, or the next word of a command line.
    (
        r#"(?i)([a-z0-9_.-]*(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[a-z0-9_-]*\\?["']?\s*[:=]\s*)(\\?["'])[^"'\r\n]+"#,
        "$1$2***",
    ),
    (
        r#"(?i)([a-z0-9_.-]*(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[a-z0-9_-]*\\?["']?\s*[:=]\s*)[^\s"'\\,;&)\]}]+"#,
        "$1***",
    ),
    (
        r#"(?i)(--?[a-z0-9-]*(?:password|passphrase|secret|token|api-key)[a-z0-9-]*\s+)[^\s"'-][^\s"']*"#,
        "$1***",
    ),
];

/// The text without what looks like a secret.
#[must_use]
pub fn scrub(text: &str) -> Cow<'_, str> {
    let mut scrubbed = Cow::Borrowed(text);
    for (shape, left) in shapes() {
        if let Cow::Owned(replaced) = shape.replace_all(&scrubbed, *left) {
            scrubbed = Cow::Owned(replaced);
        }
    }
    scrubbed
}

/// The same, cut to at most so many bytes; what was cut is said by a mark at the end.
#[must_use]
pub fn scrub_to(text: &str, longest: usize) -> Cow<'_, str> {
    const MORE: &str = "…";
    // Cut afterwards, so that no half of a secret is left over that looks like nothing.
    let scrubbed = scrub(text);
    if scrubbed.len() <= longest {
        return scrubbed;
    }
    let kept = scrubbed.floor_char_boundary(longest.saturating_sub(MORE.len()));
    Cow::Owned(format!("{}{MORE}", &scrubbed[..kept]))
}

fn shapes() -> &'static [(Regex, &'static str)] {
    static SHAPES_READ: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
        let read = SHAPES.iter().map(|(shape, left)| {
            // They are constants, and a test reads them.
            #[allow(clippy::expect_used)]
            let shape = Regex::new(shape).expect("a shape is a pattern");
            (shape, *left)
        });
        read.collect()
    });
    debug_assert!(SHAPES.iter().all(|(_, left)| left.contains(GONE)));
    &SHAPES_READ
}

#[cfg(test)]
mod tests;
