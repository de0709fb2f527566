//! JWTs of services: what an issuer signed, read and held against the rules of this gateway (RFC 7519, RFC 9068).
//!
//! Pure: keys, rules and the time come in, a verdict goes out; nothing is fetched here. What a token says is believed
//! only after its signature, and only three algorithms exist: there is no way to spell another. The text of a token is
//! never part of a verdict.

mod claims;
mod keys;
mod refused;
mod token;

use std::sync::Arc;

pub use self::{
    claims::Claims,
    keys::{Keys, KeysFault, LONGEST_KEYS},
    refused::Refused,
    token::{LONGEST_TOKEN, Token},
};
use super::{Context, Role};

/// What begins the name of every caller with a JWT; no API token may have such a name.
pub const NAME_PREFIX: &str = "jwt:";

/// What a token has to say to be one for this gateway.
#[derive(Debug, Clone)]
pub struct Rules {
    /// `iss`, to the byte.
    pub issuer: String,
    /// One of `aud`, to the byte.
    pub audience: String,
    /// The claim with the role: a name, or a JSON pointer where it begins with a slash.
    pub role_claim: String,
    /// The claim with the profile, in the same way; empty for none.
    pub profile_claim: String,
    /// The role of tokens without that claim.
    pub default_role: Option<Role>,
}

/// Whom a token names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// `jwt:` and the subject: the same for every token of one subject.
    pub name: Arc<str>,
    /// The role.
    pub role: Role,
    /// The name of the profile that the token pins.
    pub profile: Option<String>,
    /// What it says that its bearer works for and on: the claims `toolgate_project` and `toolgate_task`.
    pub context: Context,
}

impl Rules {
    /// Whom the token names, if one of these keys signed it and it is one for us now.
    ///
    /// # Errors
    /// The first rule that it does not hold to.
    pub fn judge(&self, token: &Token<'_>, keys: &Keys, now_us: i64) -> Result<Bearer, Refused> {
        verified(token, keys, (&self.issuer, &self.audience), now_us)?.judge(self)
    }
}

/// What a token says, if one of these keys signed it and it is of this issuer, for this audience, and of now.
///
/// # Errors
/// The first rule that it does not hold to.
pub fn verified(
    token: &Token<'_>,
    keys: &Keys,
    (issuer, audience): (&str, &str),
    now_us: i64,
) -> Result<Claims, Refused> {
    let key = keys.find(token.key_id()).ok_or(Refused::KeyUnknown)?;
    let claims = token.verified(key)?;
    claims.check(issuer, audience, now_us)?;
    Ok(claims)
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "it is public in the crate that it stands in")]
#[path = "../../../tests/support/src/issuer/signer.rs"]
pub(crate) mod signer;
#[cfg(test)]
mod tests;
