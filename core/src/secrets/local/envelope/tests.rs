use proptest::prelude::*;

use super::*;
use crate::keys::Keyring;

struct Ground {
    _dir: tempfile::TempDir,
    keys: Keyring,
    tenant: TenantId,
    id: Ulid,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self {
            keys: Keyring::open(dir.path()).unwrap(),
            _dir: dir,
            tenant: TenantId::mint(),
            id: Ulid::generate(),
        }
    }

    fn place(&self, version: i64) -> Place<'_> {
        Place {
            tenant: &self.tenant,
            id: self.id,
            version,
        }
    }

    fn key(&self) -> WrappingKey {
        self.keys.wrapping_key(&self.tenant)
    }
}

fn value(text: &str) -> SecretValue {
    SecretValue::new(text.as_bytes()).unwrap()
}

#[test]
fn what_was_sealed_opens_at_its_own_place_only() {
    let ground = Ground::new();
    let here = ground.place(3);
    let envelope = seal(here, &value("a secret"), &ground.key()).unwrap();
    assert_eq!(
        open(here, &envelope, &ground.key()).unwrap().reveal(),
        b"a secret"
    );

    let other_tenant = TenantId::mint();
    let elsewhere = [
        Place {
            tenant: &other_tenant,
            ..here
        },
        Place {
            id: Ulid::generate(),
            ..here
        },
        Place { version: 2, ..here },
        Place { version: 4, ..here },
    ];
    for place in elsewhere {
        assert!(open(place, &envelope, &ground.key()).is_err(), "{place:?}");
        assert!(
            open(place, &envelope, &ground.keys.wrapping_key(place.tenant)).is_err(),
            "{place:?}"
        );
    }
    let renamed = Envelope {
        kek_id: Ulid::generate().to_string(),
        ..envelope
    };
    assert!(open(here, &renamed, &ground.key()).is_err(), "another kek id");
}

#[test]
fn the_parts_of_two_envelopes_do_not_mix() {
    let ground = Ground::new();
    let (one, two) = (ground.place(1), ground.place(2));
    let first = seal(one, &value("the first"), &ground.key()).unwrap();
    let second = seal(two, &value("the other"), &ground.key()).unwrap();
    let mixed = [
        Envelope {
            sealed: second.sealed.clone(),
            ..first.clone()
        },
        Envelope {
            wrapped: second.wrapped.clone(),
            ..first.clone()
        },
        Envelope {
            wrapped: second.wrapped,
            ..first.clone()
        },
    ];
    for envelope in mixed {
        assert!(open(one, &envelope, &ground.key()).is_err());
        assert!(open(two, &envelope, &ground.key()).is_err());
    }
    assert_ne!(first.sealed[..NONCE], first.wrapped[..NONCE]);
    let again = seal(one, &value("the first"), &ground.key()).unwrap();
    assert_ne!(again.sealed, first.sealed, "two seals of one value differ");
}

#[test]
fn every_flipped_bit_is_found_out() {
    let ground = Ground::new();
    let here = ground.place(1);
    let envelope = seal(here, &value("0123456789abcdef"), &ground.key()).unwrap();
    let bits = |bytes: &[u8]| bytes.len() * 8;
    for bit in 0..bits(&envelope.wrapped) {
        let mut changed = envelope.clone();
        changed.wrapped[bit / 8] ^= 1 << (bit % 8);
        assert!(open(here, &changed, &ground.key()).is_err(), "wrapped, bit {bit}");
    }
    for bit in 0..bits(&envelope.sealed) {
        let mut changed = envelope.clone();
        changed.sealed[bit / 8] ^= 1 << (bit % 8);
        assert!(open(here, &changed, &ground.key()).is_err(), "sealed, bit {bit}");
    }
}

#[test]
fn cut_or_longer_envelopes_do_not_open() {
    let ground = Ground::new();
    let here = ground.place(1);
    let envelope = seal(here, &value("s"), &ground.key()).unwrap();
    for length in 0..envelope.sealed.len() {
        let cut = Envelope {
            sealed: envelope.sealed[..length].to_vec(),
            ..envelope.clone()
        };
        assert!(open(here, &cut, &ground.key()).is_err());
    }
    for length in 0..envelope.wrapped.len() {
        let cut = Envelope {
            wrapped: envelope.wrapped[..length].to_vec(),
            ..envelope.clone()
        };
        assert!(open(here, &cut, &ground.key()).is_err());
    }
    let mut longer = envelope.clone();
    longer.sealed.push(0);
    assert!(open(here, &longer, &ground.key()).is_err());
}

#[test]
fn a_rewrapped_data_key_opens_the_same_value_with_the_new_root_only() {
    let ground = Ground::new();
    let here = ground.place(5);
    let old = ground.key();
    let envelope = seal(here, &value("a secret"), &old).unwrap();
    crate::keys::rotate_root(ground._dir.path()).unwrap();
    assert!(ground.keys.take_up_newer().unwrap());
    let new = ground.key();

    let moved = Envelope {
        kek_id: (**new.id()).to_owned(),
        wrapped: rewrap(here, &envelope, &old, &new).unwrap(),
        sealed: envelope.sealed.clone(),
    };
    assert_eq!(open(here, &moved, &new).unwrap().reveal(), b"a secret");
    assert!(open(here, &moved, &old).is_err());
    assert!(open(here, &envelope, &new).is_err());
    assert!(rewrap(ground.place(6), &envelope, &old, &new).is_err());
}

proptest! {
    #[test]
    fn any_value_comes_back(bytes in proptest::collection::vec(any::<u8>(), 1..2048), version in 1..i64::MAX) {
        let ground = Ground::new();
        let value = SecretValue::new(&bytes).unwrap();
        let envelope = seal(ground.place(version), &value, &ground.key()).unwrap();
        prop_assert!(!envelope.sealed.windows(bytes.len().min(8)).any(|w| bytes.len() >= 8 && w == &bytes[..8]));
        let opened = open(ground.place(version), &envelope, &ground.key()).unwrap();
        prop_assert_eq!(opened.reveal(), &bytes[..]);
    }
}
