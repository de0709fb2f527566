//! What a browser keeps between the two steps of a sign-in, sealed so that nobody can read it, make one or change one.
//!
//! `<root id>.<base64url of nonce, sealed JSON, tag>`, XChaCha20-Poly1305 under a key of the keyring for this purpose;
//! what is authenticated beside it names purpose and root. It ends after ten minutes. It is no credential: whoever has
//! it still needs a code of the provider for the very verifier inside.

use std::time::Duration;

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{AeadInOut, Tag},
};
use data_encoding::BASE64URL_NOPAD;
use reqwest::Url;
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::next::Next;
use crate::{error::Error, identity::Secret, keys::SignInKey};

/// How long somebody may take at the provider.
pub(super) const LIFE: Duration = Duration::from_secs(600);
/// The longest that is looked at; browsers keep no longer cookie.
const LONGEST: usize = 4096;
const PURPOSE: &[u8] = b"toolgate/v1/sign-in\0";
const NONCE: usize = 24;
const TAG: usize = 16;

/// A sign-in under way.
#[derive(Debug)]
pub(super) struct Pending {
    /// What the provider repeats to this browser.
    pub(super) state: Secret,
    /// What the ID token repeats to us.
    pub(super) nonce: Secret,
    /// What the code can be traded with, and nobody saw (RFC 7636).
    pub(super) verifier: Secret,
    /// Where it ends.
    pub(super) next: Next,
    /// Where the provider sends the browser back to.
    pub(super) redirect: Url,
    ends_us: i64,
}

/// The same as it is sealed. Nothing of it needs an escape, so all of it is read where it stands.
#[derive(Serialize, Deserialize)]
struct Text<'a> {
    state: &'a str,
    nonce: &'a str,
    verifier: &'a str,
    next: &'a str,
    redirect: &'a str,
    ends_us: i64,
}

impl Pending {
    /// A sign-in that begins now.
    pub(super) fn new(next: Next, redirect: Url, now_us: i64) -> Result<Self, Error> {
        let life = i64::try_from(LIFE.as_micros()).unwrap_or(i64::MAX);
        Ok(Self {
            state: random()?,
            nonce: random()?,
            verifier: random()?,
            next,
            redirect,
            ends_us: now_us.saturating_add(life),
        })
    }

    /// Whether it has not ended yet.
    pub(super) fn is_open(&self, now_us: i64) -> bool {
        now_us < self.ends_us
    }

    /// Whether this is what the provider was given for it.
    pub(super) fn is_answered_by(&self, state: &Secret) -> bool {
        // Of hashes, so that the time it takes tells nothing of the texts.
        let hash = |text: &Secret| digest(&SHA256, text.reveal().as_bytes());
        hash(&self.state).as_ref() == hash(state).as_ref()
    }

    /// For the browser.
    pub(super) fn seal(&self, key: &SignInKey) -> Result<Secret, Error> {
        let text = Text {
            state: self.state.reveal(),
            nonce: self.nonce.reveal(),
            verifier: self.verifier.reveal(),
            next: self.next.as_str(),
            redirect: self.redirect.as_str(),
            ends_us: self.ends_us,
        };
        let mut body = Zeroizing::new(serde_json::to_vec(&text).map_err(Error::internal)?);
        let mut nonce = [0; NONCE];
        fill(&mut nonce)?;
        let tag = XChaCha20Poly1305::new(key.reveal().into())
            .encrypt_inout_detached(
                &XNonce::from(nonce),
                &beside(key.id()),
                body.as_mut_slice().into(),
            )
            .map_err(|_| Error::internal("a sign-in cannot be sealed"))?;
        let sealed = [&nonce[..], body.as_slice(), tag.as_slice()].concat();
        Ok(Secret::new(format!(
            "{}.{}",
            key.id(),
            BASE64URL_NOPAD.encode(&sealed)
        )))
    }

    /// What a browser brings, where it was sealed here; `None` for everything else.
    pub(super) fn open(sealed: &Secret, key: impl FnOnce(&str) -> Option<SignInKey>) -> Option<Self> {
        let text = sealed.reveal();
        let (id, sealed) = text.split_once('.').filter(|_| text.len() <= LONGEST)?;
        let sealed = BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?;
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
        let (body, tag) = rest.split_last_chunk::<TAG>()?;
        let key = key(id)?;
        let mut body = Zeroizing::new(body.to_vec());
        XChaCha20Poly1305::new(key.reveal().into())
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                &beside(id),
                body.as_mut_slice().into(),
                &Tag::<XChaCha20Poly1305>::from(*tag),
            )
            .ok()?;
        let text: Text<'_> = serde_json::from_slice(&body).ok()?;
        Some(Self {
            state: Secret::new(text.state.to_owned()),
            nonce: Secret::new(text.nonce.to_owned()),
            verifier: Secret::new(text.verifier.to_owned()),
            next: Next::of(text.next),
            redirect: Url::parse(text.redirect).ok()?,
            ends_us: text.ends_us,
        })
    }
}

// Neither part holds a NUL, so both together have one reading.
fn beside(root: &str) -> Vec<u8> {
    [PURPOSE, root.as_bytes()].concat()
}

/// 256 random bits, as long a text as a verifier must be at least.
fn random() -> Result<Secret, Error> {
    let mut bytes = Zeroizing::new([0; 32]);
    fill(bytes.as_mut())?;
    Ok(Secret::new(BASE64URL_NOPAD.encode(bytes.as_ref())))
}

fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    let filled = SystemRandom::new().fill(bytes);
    filled.map_err(|_| Error::internal("the system gives no random bytes"))
}

#[cfg(test)]
mod tests;
