//! Which tokens are taken: fine-grained personal access tokens, and no others.
//!
//! The kind is told by the prefix, before anybody is asked. No text here holds anything of a token but its kind.

use serde_json::{Map, Value};
use toolgate_contract::v1::ErrorReason;

use crate::{
    error::{Error, Violated},
    secrets::SecretValue,
};

const FINE_GRAINED: &str = "github_pat_";
const LONGEST: usize = 255;

/// What begins so is of this kind.
const OTHERS: [(&str, &str); 5] = [
    ("ghp_", "a classic personal access token"),
    ("gho_", "a token of an OAuth app"),
    ("ghu_", "a token that an app holds for a user"),
    ("ghs_", "a token of an app's installation"),
    ("ghr_", "a refresh token"),
];

/// The token out of the credential that was given: `{"token": "github_pat_…"}`.
pub(super) fn given(credential: &Map<String, Value>) -> Result<SecretValue, Error> {
    // The other key is not repeated: it may be the token, in the wrong place.
    if credential.keys().any(|key| key != "token") {
        return Err(Error::invalid(
            "credential",
            "holds more than a token; give token alone",
        ));
    }
    let wrong = |what: &str| Error::invalid("credential.token", what);
    let token = credential.get("token").and_then(Value::as_str).map(str::trim);
    let token = token.filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| wrong("must be the text of a fine-grained personal access token"))?;
    if !token.starts_with(FINE_GRAINED) {
        return Err(never(kind(token)));
    }
    match is_whole(token) {
        true => SecretValue::new(token.as_bytes()).ok_or_else(|| wrong("is too long")),
        false => Err(wrong(
            "begins like a fine-grained token and goes on like none; copy it anew",
        )),
    }
}

/// The token out of the credential as it is kept, here or elsewhere: its text alone, or as JSON. None of another kind.
pub(super) fn kept(credential: &SecretValue) -> Option<String> {
    let text = std::str::from_utf8(credential.reveal()).ok()?.trim();
    let token = match text.starts_with('{') {
        true => serde_json::from_str::<Value>(text).ok()?["token"]
            .as_str()?
            .trim()
            .to_owned(),
        false => text.to_owned(),
    };
    (token.starts_with(FINE_GRAINED) && is_whole(&token)).then_some(token)
}

fn is_whole(token: &str) -> bool {
    let rest = token.strip_prefix(FINE_GRAINED).unwrap_or_default();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !rest.is_empty() && token.len() <= LONGEST && rest.bytes().all(fits)
}

fn kind(token: &str) -> &'static str {
    let known = OTHERS.iter().find(|(prefix, _)| token.starts_with(prefix));
    let old = token.len() == 40 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    match known {
        Some((_, kind)) => kind,
        None if old => "a classic personal access token of before 2021",
        None => "no token of GitHub that this gateway knows",
    }
}

fn never(kind: &str) -> Error {
    Error::Violation(Box::new(Violated {
        reason: ErrorReason::ScopeViolation,
        what: format!(
            "this is {kind}, and its reach cannot be held to reading; give a fine-grained personal access token (github_pat_…) with `actions: read` and `metadata: read` alone"
        ),
        pointer: Some("/credential/token".into()),
        validation: None,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(credential: Value) -> Result<SecretValue, Error> {
        given(credential.as_object().unwrap())
    }

    #[test]
    fn only_fine_grained_tokens_are_taken() {
        let taken = ask(json!({"token": " github_pat_11ABC_xyz09 \n"})).unwrap();
        assert_eq!(taken.reveal(), b"github_pat_11ABC_xyz09");
    }

    #[test]
    fn other_kinds_are_refused_by_their_kind_and_never_repeated() {
        let hex = "0123456789abcdef0123456789abcdef01234567";
        for (token, kind) in [
            ("ghp_SECRETSECRET", "a classic personal access token,"),
            ("gho_SECRETSECRET", "OAuth app"),
            ("ghu_SECRETSECRET", "holds for a user"),
            ("ghs_SECRETSECRET", "installation"),
            ("ghr_SECRETSECRET", "refresh"),
            (hex, "before 2021"),
            ("SECRETSECRET", "no token of GitHub"),
            ("GITHUB_PAT_SECRET", "no token of GitHub"),
        ] {
            let Err(Error::Violation(violated)) = ask(json!({"token": token})) else {
                panic!("{kind} must be a violation");
            };
            assert_eq!(violated.reason, ErrorReason::ScopeViolation);
            assert!(violated.what.contains(kind), "{}", violated.what);
            assert!(
                !violated.what.contains("SECRET") && !violated.what.contains(hex),
                "{}",
                violated.what
            );
        }
    }

    #[test]
    fn what_is_no_token_at_all_is_told_its_place() {
        let check = |credential: Value, place: &str| match ask(credential) {
            Err(Error::Invalid { place: told, what }) => {
                assert_eq!(told, place);
                assert!(!what.contains("SECRET"), "{what}");
            }
            other => panic!("{other:?}"),
        };
        check(json!({}), "credential.token");
        check(json!({"token": ""}), "credential.token");
        check(json!({"token": 5}), "credential.token");
        check(json!({"token": "github_pat_"}), "credential.token");
        check(json!({"token": "github_pat_SECRET SECRET"}), "credential.token");
        check(
            json!({"token": format!("github_pat_{}", "a".repeat(300))}),
            "credential.token",
        );
        check(json!({"token": "github_pat_a", "SECRET": ""}), "credential");
    }

    #[test]
    fn a_kept_token_is_read_as_text_or_as_json() {
        let check = |kept_as: &str, expected: Option<&str>| {
            let value = SecretValue::new(kept_as.as_bytes()).unwrap();
            assert_eq!(kept(&value).as_deref(), expected, "{kept_as}");
        };
        check("github_pat_a\n", Some("github_pat_a"));
        check(r#"{"token": "github_pat_a"}"#, Some("github_pat_a"));
        check(r#"{"token": 5}"#, None);
        check("{", None);
        check("ghp_a", None);
        check("github_pat_a\r\nX-Evil: 1", None);
    }
}
