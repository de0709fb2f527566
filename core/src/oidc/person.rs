//! What an ID token has to say beside what every token has to (OpenID Connect Core §3.1.3.7).

use super::told::Rule;
use crate::identity::jwt::Claims;

/// Clocks of the provider and ours may differ so much.
const LEEWAY_S: f64 = 60.0;

/// What this sign-in is about.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
    /// The left half of the hash of the access token that came beside it.
    pub(super) access_hash: String,
    pub(super) now_us: i64,
}

impl Expected<'_> {
    /// # Errors
    /// The rule that the claims do not hold to.
    pub(super) fn hold_against(&self, claims: &Claims) -> Result<(), Rule> {
        // What was asked for with another nonce was asked for by somebody else.
        if claims.text("nonce") != Some(self.nonce) {
            return Err(Rule::Nonce);
        }
        self.check_party(claims)?;
        match claims.claim("at_hash") {
            None => {}
            Some(hash) if hash.as_str() == Some(&self.access_hash) => {}
            Some(_) => return Err(Rule::AccessToken),
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "a second is told from another for millennia"
        )]
        let now = self.now_us as f64 / 1e6;
        match claims.claim("iat").and_then(serde_json::Value::as_f64) {
            Some(issued) if issued <= now + LEEWAY_S => Ok(()),
            _ => Err(Rule::IssuedAt),
        }
    }

    // One that is for several says to whom it was given.
    fn check_party(&self, claims: &Claims) -> Result<(), Rule> {
        let several = claims.claim("aud").and_then(|aud| aud.as_array());
        let several = several.is_some_and(|aud| aud.len() > 1);
        match claims.claim("azp") {
            None if several => Err(Rule::Party),
            None => Ok(()),
            Some(party) if party.as_str() == Some(self.client_id) => Ok(()),
            Some(_) => Err(Rule::Party),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW_S: i64 = 1_780_000_000;

    fn held(change: impl FnOnce(&mut Value)) -> Result<(), Rule> {
        let mut claims = json!({"aud": "gate", "nonce": "n", "iat": NOW_S, "at_hash": "half", "azp": "gate"});
        change(&mut claims);
        let expected = Expected {
            client_id: "gate",
            nonce: "n",
            access_hash: "half".into(),
            now_us: NOW_S * 1_000_000,
        };
        expected.hold_against(&Claims::parse(claims.to_string().as_bytes()).unwrap())
    }

    fn without(name: &'static str) -> impl FnOnce(&mut Value) {
        move |claims| drop(claims.as_object_mut().unwrap().remove(name))
    }

    #[test]
    fn an_id_token_is_of_this_sign_in_and_for_us() {
        let check = |name: &'static str, value: Value, expected: Result<(), Rule>| {
            let told = held(|claims| claims[name] = value.clone());
            assert_eq!(told, expected, "{name}: {value}");
        };
        assert_eq!(held(|_| ()), Ok(()));
        assert_eq!(held(without("nonce")), Err(Rule::Nonce));
        for wrong in [json!("m"), json!(""), json!(null), json!(["n"])] {
            check("nonce", wrong, Err(Rule::Nonce));
        }
        assert_eq!(held(without("azp")), Ok(()));
        for wrong in [json!("other"), json!(null), json!(["gate"])] {
            check("azp", wrong, Err(Rule::Party));
        }
        check("aud", json!(["gate", "other"]), Ok(()));
        assert_eq!(
            held(|claims| {
                claims["aud"] = json!(["gate", "other"]);
                without("azp")(claims);
            }),
            Err(Rule::Party)
        );
        assert_eq!(held(without("at_hash")), Ok(()));
        for wrong in [json!("other"), json!(""), json!(null)] {
            check("at_hash", wrong, Err(Rule::AccessToken));
        }
        check("iat", json!(NOW_S + 60), Ok(()));
        check("iat", json!(NOW_S + 61), Err(Rule::IssuedAt));
        check("iat", json!("now"), Err(Rule::IssuedAt));
        assert_eq!(held(without("iat")), Err(Rule::IssuedAt));
    }
}
