//! One token: what is sent, how long it lasts, and what must never be told of it.

use std::{fmt, time::Duration};

use http::HeaderValue;
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::secrets::{SecretValue, Traces};

/// So long lasts a token of which nothing is said.
const UNSAID: Duration = Duration::from_secs(5 * 60);
/// Longer than this no token is believed to last.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// At the latest so long before its end a token is renewed, where it lasts that long.
const AHEAD: Duration = Duration::from_secs(30);
/// The longest token.
const MOST: usize = 16 * 1024;
/// Of a long credential only the beginning is looked for, so the end of a long token is looked for on its own: that is
/// where a JWT has its signature.
const TAIL: usize = 1_024;

/// A token.
pub(in crate::adapters::agent) struct Token {
    header: HeaderValue,
    traces: Vec<Traces>,
    due: Instant,
    ends: Instant,
}

impl Token {
    /// What was handed out; `None` where it is no token.
    pub(super) fn new(text: &str, lasts: Option<Duration>, now: Instant) -> Option<Self> {
        if !(1..=MOST).contains(&text.len()) {
            return None;
        }
        let lasts = lasts.unwrap_or(UNSAID).min(LONGEST);
        // At four fifths of its life, half a minute before its end if that is sooner, and never in its first half.
        let due = (lasts * 4 / 5).min(lasts.saturating_sub(AHEAD)).max(lasts / 2);
        // A request that is under way when it ends would be rejected.
        let margin = (lasts / 10).min(Duration::from_secs(5));
        Some(Self {
            header: bearer(text)?,
            traces: traces(text),
            due: now + due,
            ends: now + (lasts - margin),
        })
    }

    /// What is sent.
    pub(in crate::adapters::agent) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The text without traces of the token.
    pub(in crate::adapters::agent) fn strike(&self, mut text: String) -> String {
        for traces in &self.traces {
            if let Some(struck) = traces.strike(&text) {
                text = struck;
            }
        }
        text
    }

    pub(super) fn is_good(&self, now: Instant) -> bool {
        now < self.ends
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.due
    }
}

/// The header of a bearer token; `None` where it cannot be one.
pub(in crate::adapters::agent) fn bearer(token: &str) -> Option<HeaderValue> {
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let text = Zeroizing::new(format!("Bearer {token}"));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// What is looked for in answers.
pub(in crate::adapters::agent) fn traces(secret: &str) -> Vec<Traces> {
    let bytes = secret.as_bytes();
    let tail = (bytes.len() > TAIL).then(|| &bytes[bytes.len() - TAIL..]);
    [Some(bytes), tail]
        .into_iter()
        .flatten()
        .filter_map(|part| SecretValue::new(part).map(|value| Traces::of(&value)))
        .collect()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_at_four_fifths_of_its_life_and_half_a_minute_before_its_end() {
        let check = |lasts: u64, due: u64, ends: u64| {
            let now = Instant::now();
            let token = Token::new("t", Some(Duration::from_secs(lasts)), now).unwrap();
            let at = |seconds: u64| now + Duration::from_secs(seconds);
            assert_eq!(token.due, at(due), "{lasts}: due");
            assert_eq!(token.ends, at(ends), "{lasts}: ends");
        };
        check(3_600, 2_880, 3_595);
        check(100, 70, 95);
        check(40, 20, 36);
        check(10, 5, 9);
        check(0, 0, 0);
        check(1 << 40, 69_120, 86_395);
    }

    #[test]
    fn what_cannot_stand_in_a_header_is_no_token() {
        for text in ["", "a b", "a\nb", "é"] {
            assert!(Token::new(text, None, Instant::now()).is_none(), "{text:?}");
        }
        assert!(Token::new(&"a".repeat(MOST + 1), None, Instant::now()).is_none());
    }

    #[test]
    fn neither_end_of_a_long_token_is_told() {
        let text = format!("{}signatureCANARYsignature", "header0123456789".repeat(200));
        let token = Token::new(&text, None, Instant::now()).unwrap();
        let told = token.strike(format!("you sent {text}!"));
        assert!(!told.contains("CANARY"), "{told}");
        assert!(told.starts_with("you sent [credential withheld]"), "{told}");
    }
}
