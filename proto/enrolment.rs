//! The enrolment token: one use, minutes long, made for one target.
//!
//! `tge_<tenant>_<base64url of 32 secret bytes and the gateway's 32-byte Ed25519 key>`. Because the key travels with
//! the secret, a relay knows whom it must find before it says anything: there is no blind first trust.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;

use crate::{
    frame::{Octets, PublicKey, Secret},
    ids::TenantId,
};

/// A parsed enrolment token.
#[derive(Clone, PartialEq, Eq)]
pub struct EnrolmentToken {
    /// The tenant the relay will belong to.
    pub tenant: TenantId,
    /// What the gateway keeps only as a hash.
    pub secret: Secret,
    /// The gateway's identity, to be pinned.
    pub gateway_key: PublicKey,
}

/// A text that is no enrolment token. Says nothing of the text, which may be a secret pasted into the wrong place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an enrolment token: it starts with tge_ and is shown once when the target is added")]
pub struct InvalidToken;

const PREFIX: &str = "tge_";

impl EnrolmentToken {
    /// Parses a token.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        let (tenant, secret) = text
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.split_once('_'))
            .ok_or(InvalidToken)?;
        let tenant = tenant.parse().map_err(|_| InvalidToken)?;
        let both: Octets<64> = Octets::parse(secret).ok_or(InvalidToken)?;
        let (secret, key) = both.0.split_at(32);
        Ok(Self {
            tenant,
            secret: Secret::new(secret.try_into().map_err(|_| InvalidToken)?),
            gateway_key: Octets(key.try_into().map_err(|_| InvalidToken)?),
        })
    }

    /// The token as it is shown once.
    #[must_use]
    pub fn reveal(&self) -> String {
        let both = [self.secret.expose().as_slice(), self.gateway_key.as_ref()].concat();
        format!("{PREFIX}{}_{}", self.tenant, BASE64URL_NOPAD.encode(&both))
    }
}

impl fmt::Debug for EnrolmentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}_***", self.tenant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> EnrolmentToken {
        EnrolmentToken {
            tenant: TenantId::mint(),
            secret: Secret::new([7; 32]),
            gateway_key: Octets([9; 32]),
        }
    }

    #[test]
    fn a_revealed_token_parses_to_itself() {
        let local = EnrolmentToken {
            tenant: "local".parse().expect("reserved name"),
            ..token()
        };
        for token in [token(), local] {
            assert_eq!(EnrolmentToken::parse(&token.reveal()), Ok(token));
        }
    }

    #[test]
    fn debug_never_shows_the_secret() {
        let token = token();
        let secret = token
            .reveal()
            .rsplit_once('_')
            .expect("a secret part")
            .1
            .to_owned();
        assert!(!format!("{token:?} {:?}", token.secret).contains(&secret[..8]));
    }

    #[test]
    fn anything_else_is_no_token() {
        let good = token().reveal();
        for text in [
            "",
            "tge_",
            "tge_local",
            "tge_local_",
            "tgk_local_AAAA",
            "tge_nobody_AAAA",
            &good[1..],
            &good[..good.len() - 1],
        ] {
            assert_eq!(EnrolmentToken::parse(text), Err(InvalidToken), "{text}");
        }
        assert_eq!(EnrolmentToken::parse(&format!("{good} ")), Err(InvalidToken));
        assert_eq!(EnrolmentToken::parse(&format!("{good}A")), Err(InvalidToken));
    }
}
