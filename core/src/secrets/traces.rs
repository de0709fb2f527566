//! A credential's traces in what a target answered, struck out before anything else reads it.
//!
//! A target that reflects what it was sent, in an error or in a field that it copies, must not hand the gateway's
//! credential to a caller, nor to the record. Looked for is every run of twelve characters of the secret and of its usual
//! disguises (percent-encoded, hexadecimal, base64 at any alignment), so that a text that was cut, or a secret that is
//! spread over several fields, is found as well. Runs of eleven and less, other encodings, and a secret spelt backwards or
//! with something between its characters are not found.

use std::fmt;

use aho_corasick::AhoCorasick;
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::SecretValue;

/// What stands where a credential stood.
const STRUCK: &str = "[credential withheld]";

/// Shorter runs would strike out ordinary words.
const RUN: usize = 12;
/// Of longer credentials only so much is looked for.
const LONGEST: usize = 1_024;

/// What is looked for. Holds the credential, so it lives no longer than the call.
pub struct Traces(Option<AhoCorasick>);

impl Traces {
    /// The traces of a credential of which all is secret, or all of its last line where it has several.
    #[must_use]
    pub fn of(credential: &SecretValue) -> Self {
        Self::behind(credential, |byte| byte == b'\n')
    }

    /// The traces of a credential that begins with who it is of, and ends with the secret behind a separator.
    #[must_use]
    pub fn of_named(credential: &SecretValue) -> Self {
        Self::behind(credential, |byte| matches!(byte, b'=' | b':' | b' ' | b'\n'))
    }

    fn behind(credential: &SecretValue, separates: impl Fn(u8) -> bool) -> Self {
        let whole = credential.reveal();
        let secret = whole
            .rsplit(|byte| separates(*byte))
            .find(|part| part.len() >= RUN)
            .unwrap_or(whole);
        let secret = &secret[..secret.len().min(LONGEST)];
        let mut runs: Vec<Vec<u8>> = disguises(secret)
            .flat_map(|disguise| {
                let length = RUN.min(disguise.len()).max(1);
                let runs = disguise.windows(length).map(<[u8]>::to_ascii_lowercase);
                runs.collect::<Vec<_>>()
            })
            .collect();
        runs.sort_unstable();
        runs.dedup();
        let built = AhoCorasick::builder().ascii_case_insensitive(true).build(&runs);
        Self(built.ok())
    }

    /// The text without traces; `None` where there were none.
    #[must_use]
    pub fn strike(&self, text: &str) -> Option<String> {
        let Self(Some(runs)) = self else {
            // Nothing could be looked for, so nothing is let through.
            return Some(String::new());
        };
        let mut clean: Option<String> = None;
        let mut written = 0;
        for found in runs.find_overlapping_iter(text) {
            let clean = clean.get_or_insert_with(|| String::with_capacity(text.len()));
            // Runs that overlap are one trace.
            if written == 0 || found.start() > written {
                clean.push_str(&text[written..text.floor_char_boundary(found.start()).max(written)]);
                clean.push_str(STRUCK);
            }
            written = written.max(text.ceil_char_boundary(found.end()));
        }
        if let Some(clean) = &mut clean {
            clean.push_str(&text[written..]);
        }
        clean
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
            .map(|text| text.as_bytes().get(from..whole).unwrap_or_default().to_vec())
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
        Traces::of_named(&SecretValue::new(credential.as_bytes()).unwrap()).strike(text)
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
    fn a_secret_that_was_cut_or_spread_is_struck_out() {
        let secret = CREDENTIAL.rsplit_once('=').unwrap().1;
        for length in RUN..=secret.len() {
            for part in [&secret[..length], &secret[secret.len() - length..]] {
                let told = strike(CREDENTIAL, &format!("é{part}…")).expect("found");
                assert_eq!(told, format!("é{STRUCK}…"));
            }
        }
        let (one, other) = secret.split_at(secret.len() / 2);
        let told = strike(CREDENTIAL, &format!(r#"{{"a":"{one}","b":"{other}"}}"#)).expect("found");
        assert_eq!(told, format!(r#"{{"a":"{STRUCK}","b":"{STRUCK}"}}"#));
    }

    #[test]
    fn who_holds_the_token_is_no_secret() {
        let id = CREDENTIAL.rsplit_once('=').unwrap().0;
        assert_eq!(strike(CREDENTIAL, id), None);
    }

    #[test]
    fn a_token_is_secret_from_end_to_end_whatever_stands_in_it() {
        for token in [
            "tk_4f9d8s7f6g5h4j3k2l1m:eu-central-1a",
            "glsa_AAAABBBBCCCCDDDD1234=checksum12345",
            "user:aVeryLongPasswordOfIt==",
            "client\nagents-of-acme\nfront5f0a4c1e9d11=back0123456789ab",
        ] {
            let traces = Traces::of(&SecretValue::new(token.as_bytes()).unwrap());
            let secret = token.rsplit('\n').next().unwrap();
            let bytes = secret.as_bytes();
            for text in [
                secret.to_owned(),
                secret[..RUN].to_owned(),
                secret[secret.len() - RUN..].to_owned(),
                HEXLOWER.encode(bytes),
                BASE64.encode(bytes),
            ] {
                let told = traces.strike(&format!("you sent {text}")).expect("found");
                assert!(told.starts_with("you sent [credential withheld]"), "{told}");
                assert!(told.len() <= "you sent ".len() + STRUCK.len() + 4, "{told}");
            }
            assert_eq!(traces.strike("agents-of-acme"), None);
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
        fn no_text_and_no_secret_make_striking_panic(secret in "\\PC{1,40}", text in "\\PC{0,80}") {
            let _ = strike(&secret, &format!("{text}{secret}{text}"));
        }

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
