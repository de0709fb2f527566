//! What the provider told by way of the browser, and the rules that nothing it tells may break.

use super::{Back, provider::Provider};
use crate::{
    error::{Error, NotSignedIn},
    identity::jwt::Refused,
};

/// The longest code that is passed on, in bytes.
const LONGEST_CODE: usize = 4096;

/// A rule that an answer of the provider does not hold to. The log has it; people hear `refused`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Of another issuer, or of none although the provider says that it names itself (RFC 9207).
    Issuer,
    /// Without a code, or with one that is none.
    Code,
    /// The provider did not take the code.
    NotTaken,
    /// No answer that can be read.
    Unreadable,
    /// A rule of every token.
    Token(Refused),
    /// Of another sign-in.
    Nonce,
    /// Given to another client.
    Party,
    /// Not beside this access token.
    AccessToken,
    /// Without a time of its making, or made later than now.
    IssuedAt,
    /// What was told beside the token is of somebody else.
    OtherSubject,
}

impl Rule {
    fn as_str(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::Code => "code",
            Self::NotTaken => "not_taken",
            Self::Unreadable => "unreadable",
            Self::Token(why) => why.as_str(),
            Self::Nonce => "nonce",
            Self::Party => "azp",
            Self::AccessToken => "at_hash",
            Self::IssuedAt => "iat",
            Self::OtherSubject => "userinfo_sub",
        }
    }
}

impl From<Rule> for Error {
    fn from(rule: Rule) -> Self {
        tracing::warn!(
            rule = rule.as_str(),
            "an answer of the provider of sign-ins was refused"
        );
        NotSignedIn::Refused.into()
    }
}

impl From<Rule> for super::Turned {
    fn from(rule: Rule) -> Self {
        Error::from(rule).into()
    }
}

/// Whether the provider sent a code, and whether it was this provider.
pub(super) fn check(back: &Back, provider: &Provider) -> Result<(), Error> {
    match &back.iss {
        Some(iss) if *iss != provider.issuer => return Err(Rule::Issuer.into()),
        None if provider.names_itself => return Err(Rule::Issuer.into()),
        _ => {}
    }
    match back.error.as_str() {
        "" => {}
        "access_denied" => return Err(NotSignedIn::Denied.into()),
        "temporarily_unavailable" | "server_error" => return Err(NotSignedIn::ProviderAway.into()),
        _ => return Err(Rule::NotTaken.into()),
    }
    match (1..=LONGEST_CODE).contains(&back.code.reveal().len()) {
        true => Ok(()),
        false => Err(Rule::Code.into()),
    }
}
