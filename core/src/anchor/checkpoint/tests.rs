use proptest::prelude::*;
use toolgate_contract::ids::TenantId;

use super::*;
use crate::{anchor::SigningKeys, clock::Clock};

const NOON_US: i64 = 1_767_225_600_123_456;

fn signing() -> SigningKeys {
    let dir = tempfile::tempdir().unwrap();
    SigningKeys::open(dir.path(), &Clock::manual(NOON_US), false).unwrap()
}

fn accepted(line: &str, keys: &PublicKeys) -> Result<(), CheckpointFault> {
    Checkpoint::parse(line)?.check(keys)
}

#[test]
fn a_checkpoint_is_read_back_as_it_was_signed() {
    let keys = signing();
    let tenant = TenantId::mint();
    let signed = Checkpoint::sign(keys.newest(), &tenant, 7, [0xab; 32], NOON_US);

    let read = Checkpoint::parse(&signed.to_line()).unwrap();

    assert_eq!(read, signed);
    assert_eq!(read.check(keys.public()), Ok(()));
    assert_eq!((read.seq, read.count, read.time_us), (7, 7, NOON_US));
    assert_eq!(read.tenant_id, tenant.as_str());
    assert_eq!(read.origin, keys.public().origin());
}

#[test]
fn a_checkpoint_of_another_record_is_not_accepted() {
    let (keys, others) = (signing(), signing());
    let foreign = Checkpoint::sign(others.newest(), &TenantId::system(), 1, [1; 32], NOON_US);
    assert!(matches!(
        foreign.check(keys.public()),
        Err(CheckpointFault::Origin { .. })
    ));
    let renamed = Checkpoint {
        origin: keys.public().origin().to_owned(),
        ..foreign
    };
    assert!(matches!(
        renamed.check(keys.public()),
        Err(CheckpointFault::UnknownKey(_))
    ));
    let forged = Checkpoint {
        key_id: keys.newest().id().to_owned(),
        ..renamed
    };
    assert_eq!(forged.check(keys.public()), Err(CheckpointFault::Signature));
}

#[test]
fn one_tenants_checkpoint_never_passes_for_anothers() {
    let keys = signing();
    let signed = Checkpoint::sign(keys.newest(), &TenantId::mint(), 3, [3; 32], NOON_US);
    let moved = Checkpoint {
        tenant_id: TenantId::mint().to_string(),
        ..signed
    };
    assert_eq!(moved.check(keys.public()), Err(CheckpointFault::Signature));
}

#[test]
fn every_field_is_signed() {
    let keys = signing();
    let signed = Checkpoint::sign(keys.newest(), &TenantId::system(), 3, [3; 32], NOON_US);
    let check = |changed: Checkpoint| {
        assert_ne!(changed, signed);
        assert_eq!(
            changed.check(keys.public()),
            Err(CheckpointFault::Signature),
            "{changed:?}"
        );
    };
    check(Checkpoint {
        seq: 4,
        ..signed.clone()
    });
    check(Checkpoint {
        count: 4,
        ..signed.clone()
    });
    check(Checkpoint {
        hash: [4; 32],
        ..signed.clone()
    });
    check(Checkpoint {
        time_us: NOON_US + 1,
        ..signed.clone()
    });
    check(Checkpoint {
        signature: [0; 64],
        ..signed.clone()
    });
}

#[test]
fn every_changed_byte_and_every_cut_is_noticed() {
    let keys = signing();
    let line = Checkpoint::sign(keys.newest(), &TenantId::mint(), 12_345, [0x5a; 32], NOON_US).to_line();
    assert_eq!(accepted(&line, keys.public()), Ok(()));
    for place in 0..line.len() {
        for change in [0x01, 0x02, 0x08, 0x10, 0x20, 0x40] {
            let mut bytes = line.clone().into_bytes();
            bytes[place] ^= change;
            if let Ok(text) = std::str::from_utf8(&bytes) {
                assert!(accepted(text, keys.public()).is_err(), "byte {place}: {text}");
            }
        }
        assert!(accepted(&line[..place], keys.public()).is_err());
    }
}

#[test]
fn a_line_has_one_spelling() {
    let keys = signing();
    let line = Checkpoint::sign(keys.newest(), &TenantId::system(), 1, [0xab; 32], NOON_US).to_line();
    for other in [
        format!(" {line}"),
        format!("{line} "),
        line.replacen(':', ": ", 1),
        line.replace("abab", "ABAB"),
        line.replace("\"seq\":1", "\"seq\":1.0"),
        line.replace("\"seq\":1", "\"seq\":1,\"more\":1"),
        line.replace("123456Z", "123456+00:00"),
        line.replace("123456Z", "1234561Z"),
        line.replace("system", "syst\\u0065m"),
        line.replace("\"v\":1", "\"v\":2"),
    ] {
        assert_ne!(other, line);
        assert_eq!(
            Checkpoint::parse(&other),
            Err(CheckpointFault::Malformed("checkpoint")),
            "{other}"
        );
    }
}

proptest! {
    #[test]
    fn whatever_is_signed_is_read_back(seq in 0_i64.., hash: [u8; 32], time_us in 0_i64..253_402_300_800_000_000) {
        let keys = signing();
        let signed = Checkpoint::sign(keys.newest(), &TenantId::mint(), seq, hash, time_us);
        prop_assert_eq!(Checkpoint::parse(&signed.to_line()), Ok(signed));
    }

    #[test]
    fn bytes_put_elsewhere_are_noticed(place in 0_usize..400, put: u8) {
        let keys = signing();
        let line = Checkpoint::sign(keys.newest(), &TenantId::mint(), 99, [9; 32], NOON_US).to_line();
        let mut bytes = line.clone().into_bytes();
        let place = place % bytes.len();
        prop_assume!(bytes[place] != put);
        bytes[place] = put;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            prop_assert!(accepted(text, keys.public()).is_err());
        }
    }

    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text: String) {
        let _ = Checkpoint::parse(&text);
    }
}
