use proptest::prelude::*;

use super::*;
use crate::{anchor::SigningKeys, clock::Clock};

const NOON_US: i64 = 1_767_225_600_123_456;

fn signing() -> SigningKeys {
    let dir = tempfile::tempdir().unwrap();
    SigningKeys::open(dir.path(), &Clock::manual(NOON_US), false).unwrap()
}

fn tree_of(size: usize) -> Tree {
    let mut tree = Tree::default();
    for index in 0..size {
        let (tenant, seq, hash) = head(index);
        tree.push(&tenant, seq, &hash);
    }
    tree
}

fn head(index: usize) -> (String, i64, [u8; 32]) {
    let byte = u8::try_from(index).unwrap();
    (format!("{index:03}"), i64::from(byte) + 1, [byte; 32])
}

fn root_over(keys: &SigningKeys, tree: &Tree) -> Root {
    let said = Said {
        number: 1,
        tenants: tree.tenants(),
        root: tree.root(),
        lines: [1; 32],
        prev: [0; 32],
        time_us: NOON_US,
    };
    Root::sign(keys.newest(), said)
}

#[test]
fn the_tree_hashes_as_rfc_6962_says() {
    // The empty tree, from RFC 6962 §2.1.
    assert_eq!(
        line::hex(&Tree::default().root()),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    // Written out for three leaves: node(node(0, 1), 2).
    let leaf = |index: usize| {
        let (tenant, seq, hash) = head(index);
        let mut bytes = vec![0];
        for part in [
            b"toolgate/root/v1/leaf".as_slice(),
            tenant.as_bytes(),
            &seq.to_be_bytes(),
            &hash,
        ] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        line::sha256(&bytes)
    };
    let node = |left: [u8; 32], right: [u8; 32]| line::sha256(&[&[1], left.as_slice(), &right].concat());
    assert_eq!(tree_of(3).root(), node(node(leaf(0), leaf(1)), leaf(2)));
}

#[test]
fn every_tenant_of_every_size_is_shown_to_be_under_its_root_and_nowhere_else() {
    let keys = signing();
    for size in 1..=20 {
        let tree = tree_of(size);
        let root = root_over(&keys, &tree);
        for index in 0..size {
            let (tenant, seq, hash) = head(index);
            let shown = tree.prove(&tenant, seq, &hash).unwrap();
            assert!(shown.holds_in(&root), "{index} of {size}");

            let wrong =
                |changed: Inclusion| assert!(!changed.holds_in(&root), "{index} of {size}: {changed:?}");
            wrong(Inclusion {
                seq: seq + 1,
                ..shown.clone()
            });
            wrong(Inclusion {
                hash: [0xff; 32],
                ..shown.clone()
            });
            wrong(Inclusion {
                tenant_id: "other".into(),
                ..shown.clone()
            });
            for other in (-1..=20).filter(|other| *other != shown.index) {
                wrong(Inclusion {
                    index: other,
                    ..shown.clone()
                });
            }
            for at in 0..shown.path.len() {
                let mut changed = shown.clone();
                changed.path[at][0] ^= 1;
                wrong(changed);
                let mut shorter = shown.clone();
                shorter.path.remove(at);
                wrong(shorter);
            }
            let mut longer = shown.clone();
            longer.path.push([0; 32]);
            wrong(longer);
        }
    }
}

#[test]
fn what_is_not_under_a_root_cannot_be_shown() {
    let tree = tree_of(3);
    assert_eq!(tree.prove("009", 1, &[0; 32]), None);
    assert_eq!(tree.prove("001", 1, &[1; 32]), None);
}

#[test]
fn a_root_is_read_back_and_every_changed_byte_is_noticed() {
    let keys = signing();
    let root = root_over(&keys, &tree_of(5));
    let line = root.to_line();
    assert_eq!(Root::parse(&line).as_ref(), Ok(&root));
    assert_eq!(root.check(keys.public()), Ok(()));
    for place in 0..line.len() {
        for change in [0x01, 0x04, 0x20] {
            let mut bytes = line.clone().into_bytes();
            bytes[place] ^= change;
            let accepted = std::str::from_utf8(&bytes)
                .is_ok_and(|text| Root::parse(text).is_ok_and(|root| root.check(keys.public()).is_ok()));
            assert!(!accepted, "byte {place}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text: String) {
        let _ = Root::parse(&text);
    }

    #[test]
    fn a_path_of_any_length_and_content_shows_nothing(path: Vec<[u8; 32]>, index: i64, tenants in 0_i64..) {
        let root = Root { tenants, ..root_over(&signing(), &tree_of(4)) };
        let shown = Inclusion { tenant_id: "000".into(), seq: 1, hash: [7; 32], index, path };
        prop_assert!(!shown.holds_in(&root));
    }
}
