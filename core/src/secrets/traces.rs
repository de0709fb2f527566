//! A credential's traces in what a target answered, struck out before anything else reads it.
//!
//! A target that reflects what it was sent, in an error or in a field that it copies, must not hand the gateway's
//! credential to a caller. Looked for are the credential itself and its usual disguises: percent-encoded, hexadecimal,
//! base64 at any alignment. What a target encrypts or spells letter by letter is not found.

use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::SecretValue;

/// What stands where a credential stood.
const STRUCK: &str = "[credential withheld]";

/// Shorter parts would strike out ordinary words.
const SHORTEST: usize = 12;

/// What is looked for. Holds the credential, so it lives no longer than the call.
pub struct Traces(Option<AhoCorasick>);

impl Traces {
    /// The traces of a credential, whole and by the parts that it is put together of.
    #[must_use]
    pub fn of(credential: &SecretValue) -> Self {
        let whole = credential.reveal();
        let parts = whole
            .split(|byte| matches!(byte, b'=' | b':' | b'!' | b' ' | b'\n' | b'\0' | b'"' | b','))
            .chain([whole]);
        let mut patterns: Vec<Vec<u8>> = parts
            .filter(|part| part.len() >= SHORTEST)
            .flat_map(disguises)
            .collect();
        patterns.sort_unstable();
        patterns.dedup();
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(&patterns);
        Self(built.ok())
    }

    /// The text without traces; `None` where there were none.
    #[must_use]
    pub fn strike(&self, text: &str) -> Option<String> {
        let Self(Some(found)) = self else {
            // Nothing could be looked for, so nothing is let through.
            return Some(String::new());
        };
        found.is_match(text).then(|| {
            let mut clean = String::with_capacity(text.len());
            found.replace_all_with(text, &mut clean, |_, _, clean| {
                clean.push_str(STRUCK);
                true
            });
            clean
        })
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Traces(***)")
    }
}

fn disguises(part: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let encoded = percent_encode(part, NON_ALPHANUMERIC).to_string().into_bytes();
    let hexadecimal = HEXLOWER.encode(part).into_bytes();
    // Of base64 only the characters that depend on the credential alone.
    let aligned = (0..3_usize).flat_map(|before| {
        let mut shifted = vec![0; before];
        shifted.extend_from_slice(part);
        let from = [0, 2, 3][before];
        let whole = shifted.len() / 3 * 4;
        [BASE64_NOPAD.encode(&shifted), BASE64URL_NOPAD.encode(&shifted)]
            .map(|text| text.as_bytes()[from..whole].to_vec())
    });
    [part.to_vec(), encoded, hexadecimal]
        .into_iter()
        .chain(aligned.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use data_encoding::{BASE64, BASE64URL, HEXUPPER};
    use proptest::prelude::*;

    use super::*;

    const CREDENTIAL: &str = "audit@pve!toolgate=5f0a4c1e-9d11-4000-8000-0123456789ab";

    fn strike(credential: &str, text: &str) -> Option<String> {
        Traces::of(&SecretValue::new(credential.as_bytes()).unwrap()).strike(text)
    }

    #[test]
    fn every_usual_disguise_is_struck_out() {
        let secret = CREDENTIAL.rsplit_once('=').unwrap().1;
        let reflected = format!("PVEAPIToken={CREDENTIAL}");
        for text in [
            CREDENTIAL.to_owned(),
            secret.to_owned(),
            secret.to_uppercase(),
            percent_encode(CREDENTIAL.as_bytes(), NON_ALPHANUMERIC).to_string(),
            HEXLOWER.encode(secret.as_bytes()),
            HEXUPPER.encode(reflected.as_bytes()),
            BASE64.encode(secret.as_bytes()),
            BASE64.encode(reflected.as_bytes()),
            BASE64URL.encode(format!("x{reflected}y").as_bytes()),
        ] {
            let told = strike(CREDENTIAL, &format!("you sent {text}, go away")).expect("found");
            assert!(told.starts_with("you sent "), "{told}");
            assert!(told.contains(STRUCK) && told.ends_with(", go away"), "{told}");
            assert!(!told.to_lowercase().contains("0123456789ab"), "{told}");
        }
    }

    #[test]
    fn what_holds_no_trace_is_left_as_it_is() {
        for text in ["", "toolgate", "audit@pve may not", "5f0a4c1e", "PVEAPIToken="] {
            assert_eq!(strike(CREDENTIAL, text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn base64_of_any_surroundings_shows_less_than_half_of_the_secret(before in "[ -~]{0,40}", after in "[ -~]{0,40}") {
            let secret = "github_pat_11ABCDEFG0_aVeryLongTokenThatNobodyEverSaw";
            let told = strike(secret, &BASE64.encode(format!("{before}{secret}{after}").as_bytes())).expect("found");
            let left: Vec<u8> = told.split(STRUCK).flat_map(str::bytes).collect();
            prop_assert!(left.len() <= (before.len() + after.len()).div_ceil(3) * 4 + 12);
        }

        #[test]
        fn json_stays_json(before in "[ -~]{0,20}") {
            let text = serde_json::json!({"a": format!("{before}{CREDENTIAL}")}).to_string();
            let told = strike(CREDENTIAL, &text).expect("found");
            prop_assert!(serde_json::from_str::<serde_json::Value>(&told).is_ok(), "{}", told);
        }
    }
}
