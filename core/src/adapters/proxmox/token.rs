//! An API token: `USER@REALM!TOKENID` and its secret, kept together as one.
//!
//! Users may hold `@`, `!` and `=`, so everything is split from the right, where the grammar is narrow.

use http::{HeaderMap, HeaderValue, header};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::{error::Error, secrets::SecretValue, upstream::UpstreamError};

const ID: &str = "tokenId";
const SECRET: &str = "tokenSecret";
const LONGEST: usize = 256;
/// The server takes the value up to `;` and decodes it.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b';');

/// Whose token, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenId {
    /// The user and the realm that knows it: `audit@pve`.
    pub(super) owner: String,
    /// The token's own name: `toolgate`.
    pub(super) name: String,
}

impl TokenId {
    /// Splits from the right; `None` for what is no token's id.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (owner, name) = id.rsplit_once('!')?;
        let (user, realm) = owner.rsplit_once('@')?;
        let is_user = !user.is_empty()
            && !user
                .chars()
                .any(|c| matches!(c, ':' | '/') || c.is_whitespace() || c.is_control());
        (id.len() <= LONGEST && is_user && is_word(realm) && is_word(name)).then(|| Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The whole id, as access lists name it.
    pub(super) fn whole(&self) -> String {
        format!("{}!{}", self.owner, self.name)
    }

    /// Out of a credential as it is kept.
    pub(super) fn of(credential: &SecretValue) -> Result<Self, UpstreamError> {
        let kept = std::str::from_utf8(credential.reveal()).ok();
        let id = kept.and_then(|kept| kept.rsplit_once('=')).map(|(id, _)| id);
        id.and_then(Self::parse).ok_or(UpstreamError::CredentialRejected)
    }
}

/// The credential as it is kept, `ID=SECRET`, out of what was given.
pub(in crate::adapters) fn credential(given: &Map<String, Value>) -> Result<SecretValue, Error> {
    if let Some(key) = given.keys().find(|key| spelling(key).is_none()) {
        let short: String = key.chars().take(64).collect();
        let what = "is no part of such a credential; there are tokenId and tokenSecret";
        return Err(Error::invalid(
            format!("credential.{}", short.escape_debug()),
            what,
        ));
    }
    let id = part(
        given,
        ID,
        "is needed: USER@REALM!TOKENID, such as audit@pve!toolgate",
    )?;
    let secret = part(
        given,
        SECRET,
        "is needed: what was shown once when the token was made",
    )?;
    if TokenId::parse(id).is_none() {
        let what = "is written USER@REALM!TOKENID, such as audit@pve!toolgate, without the secret";
        return Err(Error::invalid(format!("credential.{ID}"), what));
    }
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'=' | b';' | b'%' | b'!');
    if secret.len() > LONGEST || !secret.bytes().all(fits) {
        let what = "is no secret of a token; copy it alone, without the id and without quotes";
        return Err(Error::invalid(format!("credential.{SECRET}"), what));
    }
    let kept = Zeroizing::new(format!("{id}={secret}"));
    SecretValue::new(kept.as_bytes())
        .ok_or_else(|| Error::invalid(format!("credential.{SECRET}"), "is too long"))
}

/// The headers of every request.
pub(super) fn headers(credential: &SecretValue) -> Result<HeaderMap, UpstreamError> {
    let kept = percent_encode(credential.reveal(), ENCODED);
    let value = Zeroizing::new(format!("PVEAPIToken={kept}"));
    let mut value = HeaderValue::from_str(&value).map_err(|_| UpstreamError::CredentialRejected)?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(header::AUTHORIZATION, value)]))
}

fn part<'a>(given: &'a Map<String, Value>, key: &str, needed: &str) -> Result<&'a str, Error> {
    let place = || format!("credential.{key}");
    let mut found = given.iter().filter(|(name, _)| spelling(name) == Some(key));
    let value = found.next().map(|(_, value)| value);
    if found.next().is_some() {
        return Err(Error::invalid(place(), "is given in two spellings; give one"));
    }
    let text = value.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    match text.is_empty() {
        true => Err(Error::invalid(place(), needed)),
        false => Ok(text),
    }
}

fn spelling(key: &str) -> Option<&'static str> {
    match key {
        "tokenId" | "token_id" => Some(ID),
        "tokenSecret" | "token_secret" => Some(SECRET),
        _ => None,
    }
}

/// As the server has it: a letter, then at least one more of letters, digits, dots, dashes and underscores.
fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    text.len() >= 2 && text.as_bytes()[0].is_ascii_alphabetic() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests;
