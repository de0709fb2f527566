use std::sync::Arc;

use proptest::prelude::*;
use toolgate_contract::ids::TenantId;

use super::*;
use crate::audit::{Columns, SealedRow, Sealer, row_bytes::tests::event};

/// A chain as it lies in tables, to be tampered with.
#[derive(Clone)]
struct Chain {
    keys: Arc<Keyring>,
    tenant: TenantId,
    rows: Vec<Lying>,
    head: Option<Head>,
}

/// An owned stored row.
#[derive(Clone)]
struct Lying {
    seq: i64,
    prev: Vec<u8>,
    bytes: Vec<u8>,
    hash: Vec<u8>,
    mac: Vec<u8>,
    algorithm: i64,
    key_id: String,
    /// What the columns are read from: the bytes as they were when the row was stored.
    columns: Vec<u8>,
}

impl From<SealedRow> for Lying {
    fn from(row: SealedRow) -> Self {
        Self {
            seq: row.seq,
            prev: row.prev.to_vec(),
            columns: row.bytes.clone(),
            bytes: row.bytes,
            hash: row.hash.to_vec(),
            mac: row.mac.to_vec(),
            algorithm: row.algorithm,
            key_id: row.key_id.to_string(),
        }
    }
}

fn keys() -> Arc<Keyring> {
    let dir = tempfile::tempdir().unwrap();
    Arc::new(Keyring::open(dir.path()).unwrap())
}

fn chain_of(tenant: &TenantId, keys: &Arc<Keyring>, length: usize) -> Chain {
    let sealer = Sealer::new(Arc::clone(keys));
    let mut head = Head::genesis(tenant);
    let rows = (0..length)
        .map(|index| {
            let row = sealer.seal(tenant, &head, &event(&format!("ssh.tool_{index}")));
            head = row.head();
            row.into()
        })
        .collect();
    Chain {
        keys: Arc::clone(keys),
        tenant: tenant.clone(),
        rows,
        head: Some(head),
    }
}

fn chain(length: usize) -> Chain {
    chain_of(&TenantId::mint(), &keys(), length)
}

impl Chain {
    fn row(&mut self, place: usize) -> &mut Lying {
        &mut self.rows[place - 1]
    }

    fn verify(&self) -> Verification {
        let mut verifier = ChainVerifier::new(self.tenant.clone(), Arc::clone(&self.keys));
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.seq);
        for row in rows {
            verifier.push(&StoredRow {
                seq: row.seq,
                prev: &row.prev,
                bytes: &row.bytes,
                hash: &row.hash,
                mac: &row.mac,
                algorithm: row.algorithm,
                key_id: &row.key_id,
                columns_agree: Columns::of(&row.bytes).ok() == Columns::of(&row.columns).ok(),
            });
        }
        verifier.finish(self.head)
    }

    /// Makes room for a row at `place`, as a forger would.
    fn shift_from(&mut self, place: i64) {
        for row in self.rows.iter_mut().filter(|row| row.seq >= place) {
            row.seq += 1;
        }
        self.head = self.head.map(|head| Head {
            seq: head.seq + 1,
            ..head
        });
    }

    /// Everything right but the MAC: what somebody can write who holds the database and not the key.
    fn forge(&self, place: i64, prev: &[u8]) -> Lying {
        let mut forged = self.rows[0].clone();
        forged.seq = place;
        forged.bytes = crate::audit::encode(&event("forged.tool"));
        forged.columns = forged.bytes.clone();
        forged.prev = prev.to_vec();
        forged.hash = row_hash(1, &self.tenant, place, &prev.try_into().unwrap(), &forged.bytes).to_vec();
        forged
    }

    /// Makes every hash and link after `place` fit again.
    fn rehash_from(&mut self, place: usize) {
        let mut prev: [u8; 32] = self.rows[place - 1].prev.clone().try_into().unwrap();
        for row in &mut self.rows[place - 1..] {
            row.prev = prev.to_vec();
            prev = row_hash(1, &self.tenant, row.seq, &prev, &row.bytes);
            row.hash = prev.to_vec();
        }
        self.head = self.rows.last().map(|row| Head {
            seq: row.seq,
            hash: prev,
        });
    }
}

fn check(what: &str, tamper: impl FnOnce(&mut Chain), verdict: Verdict, seq: i64) {
    let mut chain = chain(9);
    tamper(&mut chain);
    let found = chain.verify();
    assert_eq!(
        (found.verdict, found.seq),
        (verdict, seq),
        "{what}: {}",
        found.message
    );
    assert_eq!(found.message.is_empty(), verdict == Verdict::Intact, "{what}");
}

#[test]
fn a_chain_as_it_was_sealed_is_intact() {
    for length in [1, 2, 9] {
        let chain = chain(length);
        let found = chain.verify();
        assert_eq!(
            (found.verdict, found.seq, found.rows),
            (Verdict::Intact, 0, length as i64),
            "{}",
            found.message
        );
        assert_eq!(Some(found.head), chain.head);
    }
}

#[test]
fn an_edited_row_is_edited() {
    check(
        "a byte of the event",
        |chain| chain.row(5).bytes[40] ^= 1,
        Verdict::Edited,
        5,
    );
    check(
        "the last row's event",
        |chain| chain.row(9).bytes[40] ^= 1,
        Verdict::Edited,
        9,
    );
    check(
        "a byte of the hash",
        |chain| chain.row(5).hash[31] ^= 1,
        Verdict::Edited,
        5,
    );
    check(
        "hash and MAC",
        |chain| {
            chain.row(5).hash[0] ^= 1;
            chain.row(5).mac[0] ^= 1;
        },
        Verdict::Edited,
        5,
    );
    check(
        "the time",
        |chain| {
            let place = chain.rows[4]
                .bytes
                .windows(8)
                .position(|eight| eight == 1_767_225_600_123_456_i64.to_be_bytes());
            chain.row(5).bytes[place.unwrap() + 7] ^= 1;
        },
        Verdict::Edited,
        5,
    );
    check(
        "a column",
        |chain| {
            chain.row(5).columns = crate::audit::encode(&event("another.tool"));
        },
        Verdict::Edited,
        5,
    );
    check(
        "bytes and their columns",
        |chain| {
            chain.row(5).bytes = crate::audit::encode(&event("another.tool"));
            chain.row(5).columns = chain.row(5).bytes.clone();
        },
        Verdict::Edited,
        5,
    );
    check(
        "a copy of an earlier row",
        |chain| {
            *chain.row(5) = Lying {
                seq: 5,
                ..chain.rows[1].clone()
            };
        },
        Verdict::Edited,
        5,
    );
    check(
        "bytes cut off",
        |chain| chain.row(5).bytes.clear(),
        Verdict::Edited,
        5,
    );
    check(
        "hash cut off",
        |chain| chain.row(5).hash.clear(),
        Verdict::Edited,
        5,
    );
}

#[test]
fn an_edited_link_is_a_broken_link() {
    check("prev", |chain| chain.row(5).prev[0] ^= 1, Verdict::BrokenLink, 5);
    check(
        "first prev",
        |chain| chain.row(1).prev[0] ^= 1,
        Verdict::BrokenLink,
        1,
    );
    check(
        "prev cut off",
        |chain| chain.row(5).prev.clear(),
        Verdict::BrokenLink,
        5,
    );
    check(
        "a fork sealed by the gateway itself",
        |chain| {
            let mut fork = chain_of(&chain.tenant, &chain.keys, 9);
            chain.rows.truncate(4);
            chain.rows.extend(fork.rows.split_off(4));
            chain.head = fork.head;
        },
        Verdict::BrokenLink,
        5,
    );
}

#[test]
fn an_edited_mac_or_a_missing_key_is_a_bad_mac() {
    check("MAC", |chain| chain.row(5).mac[0] ^= 1, Verdict::BadMac, 5);
    check("last MAC", |chain| chain.row(9).mac[0] ^= 1, Verdict::BadMac, 9);
    check(
        "MAC cut off",
        |chain| chain.row(5).mac.truncate(31),
        Verdict::BadMac,
        5,
    );
    check(
        "key id",
        |chain| chain.row(5).key_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        Verdict::BadMac,
        5,
    );
    let mut other = chain(3);
    other.keys = keys();
    assert_eq!(other.verify().verdict, Verdict::BadMac);
    assert!(other.verify().message.contains("keys folder"));
}

#[test]
fn rewriting_and_rehashing_without_the_key_is_a_bad_mac() {
    for from in [1, 5, 9] {
        check(
            "rewritten",
            |chain| {
                chain.row(from).bytes = crate::audit::encode(&event("another.tool"));
                chain.row(from).columns = chain.rows[from - 1].bytes.clone();
                chain.rehash_from(from);
            },
            Verdict::BadMac,
            from as i64,
        );
    }
}

#[test]
fn removed_rows_are_a_gap() {
    check("one", |chain| drop(chain.rows.remove(4)), Verdict::Gap, 5);
    check("the first", |chain| drop(chain.rows.remove(0)), Verdict::Gap, 1);
    check("several", |chain| drop(chain.rows.drain(3..6)), Verdict::Gap, 4);
    check(
        "renumbered",
        |chain| {
            chain.rows.remove(4);
            chain.rows[4..].iter_mut().for_each(|row| row.seq -= 1);
            chain.head = chain.head.map(|head| Head { seq: 8, ..head });
        },
        Verdict::Gap,
        5,
    );
}

#[test]
fn swapped_rows_are_out_of_order() {
    for (one, other) in [(4, 5), (2, 8), (1, 9)] {
        let swap_places = |chain: &mut Chain| {
            chain.row(one).seq = other as i64;
            chain.row(other).seq = one as i64;
        };
        check("seq swapped", swap_places, Verdict::OutOfOrder, one as i64);
        check(
            "bytes swapped",
            |chain| {
                let bytes = chain.row(one).bytes.clone();
                chain.row(one).bytes = std::mem::replace(&mut chain.row(other).bytes, bytes);
            },
            Verdict::OutOfOrder,
            one as i64,
        );
        check(
            "bytes and columns swapped",
            |chain| {
                let (bytes, columns) = (chain.row(one).bytes.clone(), chain.row(one).columns.clone());
                chain.row(one).bytes = std::mem::replace(&mut chain.row(other).bytes, bytes);
                chain.row(one).columns = std::mem::replace(&mut chain.row(other).columns, columns);
            },
            Verdict::OutOfOrder,
            one as i64,
        );
        check(
            "all but prev swapped",
            |chain| {
                swap_places(chain);
                let prev = chain.row(one).prev.clone();
                chain.row(one).prev = std::mem::replace(&mut chain.row(other).prev, prev);
            },
            Verdict::OutOfOrder,
            one as i64,
        );
    }
    check(
        "a row moved to the end",
        |chain| chain.row(4).seq = 20,
        Verdict::OutOfOrder,
        4,
    );
    check(
        "three rows turned",
        |chain| {
            for (place, seq) in [(3, 5), (5, 7), (7, 3)] {
                chain.row(place).seq = seq;
            }
        },
        Verdict::OutOfOrder,
        3,
    );
}

#[test]
fn a_row_put_in_is_inserted() {
    check(
        "after the head, forged",
        |chain| {
            let prev = chain.rows[8].hash.clone();
            let forged = chain.forge(10, &prev);
            chain.rows.push(forged);
        },
        Verdict::Inserted,
        10,
    );
    check(
        "after the head, a copy",
        |chain| {
            chain.rows.push(Lying {
                seq: 10,
                ..chain.rows[8].clone()
            });
        },
        Verdict::Inserted,
        10,
    );
    check(
        "far after the head",
        |chain| {
            chain.rows.push(Lying {
                seq: 99,
                ..chain.rows[2].clone()
            })
        },
        Verdict::Inserted,
        10,
    );
    check(
        "after the head, a copy, head moved",
        |chain| {
            chain.rows.push(Lying {
                seq: 10,
                ..chain.rows[8].clone()
            });
            chain.head = chain.head.map(|head| Head { seq: 10, ..head });
        },
        Verdict::Inserted,
        10,
    );
    check(
        "in the middle, forged",
        |chain| {
            chain.shift_from(5);
            let prev = chain.rows[3].hash.clone();
            let forged = chain.forge(5, &prev);
            chain.rows.push(forged);
        },
        Verdict::Inserted,
        5,
    );
    check(
        "in the middle, a copy",
        |chain| {
            chain.shift_from(5);
            chain.rows.push(Lying {
                seq: 5,
                ..chain.rows[1].clone()
            });
        },
        Verdict::Inserted,
        5,
    );
    check(
        "in the middle, rubbish",
        |chain| {
            chain.shift_from(5);
            chain.rows.push(Lying {
                seq: 5,
                bytes: vec![],
                hash: vec![1],
                mac: vec![],
                ..chain.rows[1].clone()
            });
        },
        Verdict::Inserted,
        5,
    );
    check(
        "before the first",
        |chain| {
            chain.rows.push(Lying {
                seq: 0,
                ..chain.rows[1].clone()
            })
        },
        Verdict::Inserted,
        1,
    );
    check(
        "from another tenant, after the head",
        |chain| {
            let other = chain_of(&TenantId::mint(), &chain.keys, 1);
            chain.rows.push(Lying {
                seq: 10,
                ..other.rows[0].clone()
            });
        },
        Verdict::Inserted,
        10,
    );
}

#[test]
fn a_forged_row_at_the_end_with_a_forged_head_has_a_bad_mac() {
    check(
        "head moved",
        |chain| {
            let prev = chain.rows[8].hash.clone();
            let forged = chain.forge(10, &prev);
            chain.head = Some(Head {
                seq: 10,
                hash: forged.hash.clone().try_into().unwrap(),
            });
            chain.rows.push(forged);
        },
        Verdict::BadMac,
        10,
    );
}

#[test]
fn another_tenants_row_or_chain_does_not_pass() {
    check(
        "a row",
        |chain| {
            let other = chain_of(&TenantId::mint(), &chain.keys, 9);
            *chain.row(5) = other.rows[4].clone();
        },
        Verdict::Edited,
        5,
    );
    check(
        "the chain",
        |chain| {
            let other = chain_of(&TenantId::mint(), &chain.keys, 9);
            (chain.rows, chain.head) = (other.rows, other.head);
        },
        Verdict::Edited,
        1,
    );
}

#[test]
fn an_edited_head_is_a_mismatch() {
    check(
        "hash",
        |chain| chain.head.as_mut().unwrap().hash[0] ^= 1,
        Verdict::HeadMismatch,
        9,
    );
    check(
        "forward",
        |chain| chain.head.as_mut().unwrap().seq = 12,
        Verdict::HeadMismatch,
        9,
    );
    check(
        "back",
        |chain| chain.head.as_mut().unwrap().seq = 7,
        Verdict::HeadMismatch,
        8,
    );
    check(
        "back to a row",
        |chain| {
            chain.head = Some(Head {
                seq: 7,
                hash: chain.rows[6].hash.clone().try_into().unwrap(),
            });
        },
        Verdict::HeadMismatch,
        8,
    );
    check("gone", |chain| chain.head = None, Verdict::HeadMismatch, 9);
    check(
        "another tenant's",
        |chain| {
            chain.head = chain_of(&TenantId::mint(), &chain.keys, 9).head;
        },
        Verdict::HeadMismatch,
        9,
    );
}

#[test]
fn a_tail_cut_off_is_truncated_and_a_chain_without_rows_is_missing() {
    check("the last", |chain| drop(chain.rows.pop()), Verdict::Truncated, 9);
    check("several", |chain| chain.rows.truncate(3), Verdict::Truncated, 4);
    check("all rows", |chain| chain.rows.clear(), Verdict::ChainMissing, 1);
    check(
        "rows and head",
        |chain| (chain.rows, chain.head) = (Vec::new(), None),
        Verdict::ChainMissing,
        1,
    );
    check(
        "rows, head at its beginning",
        |chain| {
            chain.rows.clear();
            chain.head = Some(Head::genesis(&chain.tenant));
        },
        Verdict::ChainMissing,
        1,
    );
    let mut system = chain_of(&TenantId::system(), &keys(), 0);
    system.head = None;
    assert!(system.verify().is_intact());
    system.head = Some(Head {
        seq: 3,
        hash: [0; 32],
    });
    assert_eq!(system.verify().verdict, Verdict::ChainMissing);
}

#[test]
fn a_weaker_algorithm_is_not_accepted() {
    check(
        "one row",
        |chain| chain.row(5).algorithm = 0,
        Verdict::UnknownAlgorithm,
        5,
    );
    check(
        "all rows, rehashed",
        |chain| {
            chain.rows.iter_mut().for_each(|row| row.algorithm = 0);
            chain.rehash_from(1);
        },
        Verdict::UnknownAlgorithm,
        1,
    );
}

#[test]
fn the_first_of_two_faults_is_told() {
    check(
        "edit before gap",
        |chain| {
            chain.row(3).bytes[40] ^= 1;
            chain.rows.remove(6);
        },
        Verdict::Edited,
        3,
    );
    check(
        "gap before edit",
        |chain| {
            chain.row(8).bytes[40] ^= 1;
            chain.rows.remove(2);
        },
        Verdict::Gap,
        3,
    );
}

#[test]
fn rows_sealed_under_an_older_root_stay_intact() {
    let dir = tempfile::tempdir().unwrap();
    let tenant = TenantId::mint();
    let mut chain = chain_of(&tenant, &Arc::new(Keyring::open(dir.path()).unwrap()), 3);
    let newer = dir.path().join("keys/root-7ZZZZZZZZZZZZZZZZZZZZZZZZZ.key");
    std::fs::write(&newer, "ab".repeat(32)).unwrap();
    std::fs::set_permissions(&newer, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    chain.keys = Arc::new(Keyring::open(dir.path()).unwrap());
    let row = Sealer::new(Arc::clone(&chain.keys)).seal(&tenant, &chain.head.unwrap(), &event("a.b"));
    chain.head = Some(row.head());
    chain.rows.push(row.into());
    assert_ne!(chain.rows[2].key_id, chain.rows[3].key_id);
    assert!(chain.verify().is_intact());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_changed_byte_goes_unseen(place in 1usize..=4, field in 0usize..4, at in any::<prop::sample::Index>(), by in 1u8..) {
        let mut chain = chain(4);
        let row = chain.row(place);
        let bytes = [&mut row.bytes, &mut row.hash, &mut row.mac, &mut row.prev].into_iter().nth(field).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = bytes[at].wrapping_add(by);
        let found = chain.verify();
        let expected = [Verdict::Edited, Verdict::Edited, Verdict::BadMac, Verdict::BrokenLink][field];
        prop_assert_eq!((found.verdict, found.seq), (expected, place as i64), "{}", found.message);
    }

    #[test]
    fn no_removal_swap_or_copy_goes_unseen(one in 1usize..=8, other in 1usize..=8, how in 0usize..3) {
        prop_assume!(one != other);
        let mut chain = chain(8);
        match how {
            0 => drop(chain.rows.remove(one - 1)),
            1 => {
                chain.row(one).seq = other as i64;
                chain.row(other).seq = one as i64;
            }
            _ => *chain.row(one) = Lying { seq: one as i64, ..chain.rows[other - 1].clone() },
        }
        let found = chain.verify();
        prop_assert!(!found.is_intact());
        let first = if how == 1 { one.min(other) } else { one };
        prop_assert_eq!(found.seq, first as i64, "{}", found.message);
    }
}
