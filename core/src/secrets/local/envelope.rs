//! The envelope: a value under a data key of its own, the data key under the tenant's wrapping key.
//!
//! XChaCha20-Poly1305 with random nonces of 192 bits for both. What is authenticated beside each says where it belongs,
//! every part with its length before it: format, tenant, secret id and version, and for the wrapped data key the id
//! of the root as well. So a row moved to another tenant, secret, version or root does not open. Pure: no I/O.

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{AeadInOut, Tag},
};
use ring::rand::{SecureRandom, SystemRandom};
use toolgate_contract::ids::TenantId;
use ulid::Ulid;
use zeroize::Zeroizing;

use crate::{
    keys::WrappingKey,
    secrets::{SecretValue, value::LONGEST},
};

/// The only format so far.
pub(super) const FORMAT: i64 = 1;

const NONCE: usize = 24;
const TAG: usize = 16;
const DATA_KEY: usize = 32;
const WRAPPED: usize = NONCE + DATA_KEY + TAG;

/// Where an envelope belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) tenant: &'a TenantId,
    pub(super) id: Ulid,
    pub(super) version: i64,
}

/// A sealed value and its wrapped data key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Envelope {
    /// Id of the root that the wrapping key comes from.
    pub(super) kek_id: String,
    /// Nonce, wrapped data key, tag.
    pub(super) wrapped: Vec<u8>,
    /// Nonce, sealed value, tag.
    pub(super) sealed: Vec<u8>,
}

/// No random bytes, or what is there does not open here. Which of the reasons is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DoesNotOpen;

/// Seals a value under a new data key.
pub(super) fn seal(
    place: Place<'_>,
    value: &SecretValue,
    key: &WrappingKey,
) -> Result<Envelope, DoesNotOpen> {
    let mut data_key = Zeroizing::new([0; DATA_KEY]);
    random(data_key.as_mut())?;
    Ok(Envelope {
        kek_id: (**key.id()).to_owned(),
        wrapped: wrap(place, &data_key, key)?,
        sealed: encrypt(&data_key, &beside_value(place), value.reveal())?,
    })
}

/// Opens a value with the wrapping key that the envelope names.
pub(super) fn open(
    place: Place<'_>,
    envelope: &Envelope,
    key: &WrappingKey,
) -> Result<SecretValue, DoesNotOpen> {
    let data_key = unwrap(place, envelope, key)?;
    let length = envelope
        .sealed
        .len()
        .checked_sub(NONCE + TAG)
        .ok_or(DoesNotOpen)?;
    if length == 0 || length > LONGEST {
        return Err(DoesNotOpen);
    }
    let mut value = Zeroizing::new(vec![0; length].into_boxed_slice());
    decrypt(&data_key, &beside_value(place), &envelope.sealed, &mut value)?;
    Ok(SecretValue::filled(value))
}

/// The data key, wrapped with another key. The sealed value stays as it is.
pub(super) fn rewrap(
    place: Place<'_>,
    envelope: &Envelope,
    old: &WrappingKey,
    new: &WrappingKey,
) -> Result<Vec<u8>, DoesNotOpen> {
    let data_key = unwrap(place, envelope, old)?;
    wrap(place, &data_key, new)
}

fn wrap(place: Place<'_>, data_key: &[u8; DATA_KEY], key: &WrappingKey) -> Result<Vec<u8>, DoesNotOpen> {
    encrypt(key.reveal(), &beside_key(place, key.id()), data_key)
}

fn unwrap(
    place: Place<'_>,
    envelope: &Envelope,
    key: &WrappingKey,
) -> Result<Zeroizing<[u8; DATA_KEY]>, DoesNotOpen> {
    if envelope.wrapped.len() != WRAPPED {
        return Err(DoesNotOpen);
    }
    let mut data_key = Zeroizing::new([0; DATA_KEY]);
    let beside = beside_key(place, &envelope.kek_id);
    decrypt(key.reveal(), &beside, &envelope.wrapped, data_key.as_mut())?;
    Ok(data_key)
}

fn encrypt(key: &[u8; 32], beside: &[u8], plain: &[u8]) -> Result<Vec<u8>, DoesNotOpen> {
    let mut nonce = [0; NONCE];
    random(&mut nonce)?;
    let mut out = vec![0; NONCE + plain.len() + TAG];
    let (head, rest) = out.split_at_mut(NONCE);
    let (body, tail) = rest.split_at_mut(plain.len());
    head.copy_from_slice(&nonce);
    body.copy_from_slice(plain);
    let tag = XChaCha20Poly1305::new(key.into())
        .encrypt_inout_detached(&XNonce::from(nonce), beside, body.into())
        .map_err(|_| DoesNotOpen)?;
    tail.copy_from_slice(&tag);
    Ok(out)
}

fn decrypt(key: &[u8; 32], beside: &[u8], sealed: &[u8], into: &mut [u8]) -> Result<(), DoesNotOpen> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>().ok_or(DoesNotOpen)?;
    let (body, tag) = rest.split_last_chunk::<TAG>().ok_or(DoesNotOpen)?;
    if body.len() != into.len() {
        return Err(DoesNotOpen);
    }
    into.copy_from_slice(body);
    XChaCha20Poly1305::new(key.into())
        .decrypt_inout_detached(
            &XNonce::from(*nonce),
            beside,
            into.into(),
            &Tag::<XChaCha20Poly1305>::from(*tag),
        )
        .map_err(|_| DoesNotOpen)
}

fn beside_value(place: Place<'_>) -> Vec<u8> {
    parts(&[b"toolgate/v1/secret/value"], place)
}

fn beside_key(place: Place<'_>, kek_id: &str) -> Vec<u8> {
    parts(&[b"toolgate/v1/secret/key", kek_id.as_bytes()], place)
}

fn parts(first: &[&[u8]], place: Place<'_>) -> Vec<u8> {
    let (id, version, format) = (
        place.id.to_string(),
        place.version.to_be_bytes(),
        FORMAT.to_be_bytes(),
    );
    let place: [&[u8]; 4] = [&format, place.tenant.as_str().as_bytes(), id.as_bytes(), &version];
    let mut out = Vec::with_capacity(192);
    for part in first.iter().chain(&place) {
        out.extend_from_slice(&(part.len() as u64).to_be_bytes());
        out.extend_from_slice(part);
    }
    out
}

fn random(bytes: &mut [u8]) -> Result<(), DoesNotOpen> {
    SystemRandom::new().fill(bytes).map_err(|_| DoesNotOpen)
}

#[cfg(test)]
mod tests;
