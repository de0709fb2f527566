//! Credentials as text: `tgk_<tenant>_<secret>` and its sisters.
//!
//! A credential carries its tenant, so the look-up itself runs inside that tenant; the claim counts only after the
//! hash has matched. The hash is looked up, never the secret, so the time of a look-up tells nothing of a secret.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use toolgate_contract::ids::TenantId;
use zeroize::Zeroizing;

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a text into custody.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text, for the one place that has to send, store or print it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The kinds of credentials a caller can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An API token.
    Api,
    /// A session of someone who signed in.
    Session,
    /// The one-time code of a sign-in link.
    SignIn,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Api, Self::Session, Self::SignIn];

    /// The name in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Session => "session",
            Self::SignIn => "sign_in",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Api => "tgk_",
            Self::Session => "tgs_",
            Self::SignIn => "tgl_",
        }
    }
}

/// A credential as presented: a claim, until its hash is found.
#[derive(Debug, Clone)]
pub struct Presented {
    /// The kind its prefix claims.
    pub kind: Kind,
    /// The tenant it claims.
    pub tenant: TenantId,
    /// SHA-256 of the whole text.
    pub hash: [u8; 32],
}

impl Presented {
    /// Reads a credential; `None` for anything that cannot be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        let (tenant, secret) = text[kind.prefix().len()..].split_once('_')?;
        if secret.len() != SECRET_TEXT
            || !secret
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        {
            return None;
        }
        Some(Self {
            kind,
            tenant: tenant.parse().ok()?,
            hash: hash(text),
        })
    }
}

/// 32 random bytes as base64url.
const SECRET_TEXT: usize = 43;

/// A new credential, shown once.
#[derive(Debug)]
pub struct Minted {
    /// The text to hand out.
    pub text: Secret,
    /// What the store keeps.
    pub hash: [u8; 32],
}

impl Minted {
    /// Makes a credential of 256 random bits.
    pub fn new(kind: Kind, tenant: &TenantId) -> Result<Self, ring::error::Unspecified> {
        let mut bytes = Zeroizing::new([0u8; 32]);
        SystemRandom::new().fill(bytes.as_mut())?;
        let text = format!(
            "{}{tenant}_{}",
            kind.prefix(),
            BASE64URL_NOPAD.encode(bytes.as_ref())
        );
        Ok(Self {
            hash: hash(&text),
            text: Secret::new(text),
        })
    }
}

fn hash(text: &str) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minted_credential_is_read_back_and_never_shown() {
        let tenant = TenantId::mint();
        for kind in Kind::ALL {
            let minted = Minted::new(kind, &tenant).unwrap();
            let presented = Presented::parse(minted.text.reveal()).unwrap();
            assert_eq!(
                (presented.kind, &presented.tenant, presented.hash),
                (kind, &tenant, minted.hash)
            );
            assert!(!format!("{minted:?}").contains(&minted.text.reveal()[4..]));
        }
    }

    #[test]
    fn what_cannot_be_a_credential_is_not_looked_up() {
        let good = Minted::new(Kind::Api, &TenantId::mint())
            .unwrap()
            .text
            .reveal()
            .to_owned();
        let cases = [
            String::new(),
            "tgk_".into(),
            good[1..].to_owned(),
            good.replace("tgk_", "tgx_"),
            good.replace("tgk_", "tge_"),
            format!("{good}a"),
            good[..good.len() - 1].to_owned(),
            good.to_uppercase(),
            format!(" {good}"),
            good.replacen('_', " ", 2),
            format!("tgk_nobody_{}", "a".repeat(43)),
            format!("tgk_{}_{}", TenantId::mint(), "ä".repeat(22)),
        ];
        for case in cases {
            assert!(Presented::parse(&case).is_none(), "{case}");
        }
    }
}
