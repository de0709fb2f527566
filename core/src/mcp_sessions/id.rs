//! The text of a session: `<revision>.<payload>.<MAC>`, both in base64url without padding.
//!
//! The payload holds the version of this form, the root key's id, the end and a nonce. Tenant and principal stand in what
//! the MAC covers and not in the text, so the text tells nobody whose it is. One session has one text, of visible ASCII
//! as MCP wants it.

use std::ops::Range;

use data_encoding::BASE64URL_NOPAD;

use crate::{identity::Principal, keys::SessionKey};

/// Random bytes of each.
pub(super) const NONCE: usize = 16;

/// The version of this form.
const VERSION: u8 = 1;
const ROOT: Range<usize> = 1..27;
const ENDS: Range<usize> = 27..35;
const RANDOM: Range<usize> = 35..PAYLOAD;
const PAYLOAD: usize = 35 + NONCE;
const MAC: usize = 32;

/// A text that could be a session's; its MAC is still to be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id<'a> {
    revision: &'a str,
    payload: [u8; PAYLOAD],
    mac: [u8; MAC],
}

impl<'a> Id<'a> {
    /// Reads a text of this form; `None` for every other.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split('.');
        let (revision, payload, mac) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !is_revision(revision) {
            return None;
        }
        let payload: [u8; PAYLOAD] = decoded(payload)?;
        (payload[0] == VERSION).then_some(Self {
            revision,
            payload,
            mac: decoded(mac)?,
        })
    }

    /// Id of the root key whose MAC this claims to be.
    pub(super) fn root(&self) -> Option<&str> {
        std::str::from_utf8(&self.payload[ROOT]).ok()
    }

    /// When the session ends, in seconds since 1970.
    pub(super) fn ends_s(&self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.payload[ENDS]);
        u64::from_be_bytes(bytes)
    }

    /// What tells it from every other.
    pub(super) fn nonce(&self) -> [u8; NONCE] {
        let mut bytes = [0; NONCE];
        bytes.copy_from_slice(&self.payload[RANDOM]);
        bytes
    }

    /// Whether this key made it for this principal.
    pub(super) fn verifies(&self, key: &SessionKey, principal: &Principal) -> bool {
        key.verifies(&covered(self.revision, &self.payload, principal), &self.mac)
    }
}

/// The text of a session. The key's id is one of a root's, 26 characters long; another one gives a text that nobody reads.
pub(super) fn write(
    revision: &str,
    (ends_s, nonce): (u64, [u8; NONCE]),
    key: &SessionKey,
    principal: &Principal,
) -> String {
    let mut payload = [0; PAYLOAD];
    payload[0] = VERSION;
    for (place, byte) in payload[ROOT].iter_mut().zip(key.id().bytes()) {
        *place = byte;
    }
    payload[ENDS].copy_from_slice(&ends_s.to_be_bytes());
    payload[RANDOM].copy_from_slice(&nonce);
    let mac = key.mac(&covered(revision, &payload, principal));
    let (payload, mac) = (BASE64URL_NOPAD.encode(&payload), BASE64URL_NOPAD.encode(&mac));
    format!("{revision}.{payload}.{mac}")
}

/// A date, as MCP names its revisions. Which of them exist is the facade's to know.
pub(super) fn is_revision(text: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(shape)
}

// Each text behind its length, so that no two sets of facts have the same bytes.
fn covered(revision: &str, payload: &[u8; PAYLOAD], principal: &Principal) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    for text in [principal.tenant.as_str(), &principal.name, revision] {
        bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.extend_from_slice(payload);
    bytes
}

// Strict: one text for one value, nothing longer and nothing shorter.
fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    let fits = BASE64URL_NOPAD.decode_len(text.len()).ok()? == N;
    if !fits {
        return None;
    }
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}
