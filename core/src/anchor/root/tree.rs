//! The tree under a root (RFC 6962 §2.1), and the path that shows one tenant in it.
//!
//! A leaf binds tenant, place and hash; leaves and nodes are hashed under different first bytes, so neither passes for
//! the other. Leaves stand in the order of the tenants' ids, each tenant once.

use super::Root;
use crate::anchor::line::{Parts, sha256};

const LEAF_DOMAIN: &str = "toolgate/root/v1/leaf";
/// A path longer than this would need more tenants than there are numbers.
const LONGEST_PATH: usize = 64;

/// The leaves under one root.
#[derive(Debug, Default)]
pub struct Tree {
    tenants: Vec<String>,
    leaves: Vec<[u8; 32]>,
}

/// That a tenant's head is under a root, for somebody who may see no other tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inclusion {
    /// The tenant.
    pub tenant_id: String,
    /// Place of its last row.
    pub seq: i64,
    /// Hash of its last row.
    pub hash: [u8; 32],
    /// Its place among the tenants, from 0.
    pub index: i64,
    /// The hashes beside the way up, the lowest first.
    pub path: Vec<[u8; 32]>,
}

impl Tree {
    /// Adds a tenant's head. Tenants come in the order of their ids.
    pub fn push(&mut self, tenant_id: &str, seq: i64, hash: &[u8; 32]) {
        self.tenants.push(tenant_id.to_owned());
        self.leaves.push(leaf(tenant_id, seq, hash));
    }

    /// How many tenants there are.
    #[must_use]
    pub fn tenants(&self) -> i64 {
        i64::try_from(self.leaves.len()).unwrap_or(i64::MAX)
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        root_of(&self.leaves)
    }

    /// Shows that this head is under the root; `None` where it is not.
    #[must_use]
    pub fn prove(&self, tenant_id: &str, seq: i64, hash: &[u8; 32]) -> Option<Inclusion> {
        let index = self.tenants.iter().position(|tenant| tenant == tenant_id)?;
        if self.leaves[index] != leaf(tenant_id, seq, hash) {
            return None;
        }
        let mut path = Vec::new();
        walk(&self.leaves, index, &mut path);
        Some(Inclusion {
            tenant_id: tenant_id.to_owned(),
            seq,
            hash: *hash,
            index: i64::try_from(index).ok()?,
            path,
        })
    }
}

impl Inclusion {
    /// Whether this head is under `root`, which must have been checked itself.
    #[must_use]
    pub fn holds_in(&self, root: &Root) -> bool {
        // RFC 9162 §2.1.3.2.
        if self.index < 0 || self.index >= root.tenants || self.path.len() > LONGEST_PATH {
            return false;
        }
        let (mut place, mut last) = (self.index, root.tenants - 1);
        let mut hash = leaf(&self.tenant_id, self.seq, &self.hash);
        for beside in &self.path {
            if last == 0 {
                return false;
            }
            if place % 2 == 1 || place == last {
                hash = node(beside, &hash);
                while place % 2 == 0 && place != 0 {
                    place /= 2;
                    last /= 2;
                }
            } else {
                hash = node(&hash, beside);
            }
            place /= 2;
            last /= 2;
        }
        last == 0 && hash == root.root
    }
}

fn leaf(tenant_id: &str, seq: i64, hash: &[u8; 32]) -> [u8; 32] {
    let entry = Parts::of(LEAF_DOMAIN)
        .text(tenant_id)
        .number(seq)
        .bytes(hash)
        .finish();
    let mut bytes = Vec::with_capacity(1 + entry.len());
    bytes.push(0);
    bytes.extend_from_slice(&entry);
    sha256(&bytes)
}

fn node(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(left);
    bytes[33..].copy_from_slice(right);
    sha256(&bytes)
}

fn root_of(leaves: &[[u8; 32]]) -> [u8; 32] {
    match leaves {
        [] => sha256(b""),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node(&root_of(left), &root_of(right))
        }
    }
}

fn walk(leaves: &[[u8; 32]], index: usize, path: &mut Vec<[u8; 32]>) {
    if leaves.len() < 2 {
        return;
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    if index < left.len() {
        walk(left, index, path);
        path.push(root_of(right));
    } else {
        walk(right, index - left.len(), path);
        path.push(root_of(left));
    }
}

/// The largest power of two below `length`, which is at least 2.
fn split(length: usize) -> usize {
    let power = length.next_power_of_two();
    power / 2
}
