//! The role PVEAuditor as a server has it. Its name cannot be taken by anyone: those that begin so are the server's.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ROLE;
use crate::adapters::{proxmox::row, said::shown};

/// Privileges named when a role holds what it should not.
const MOST: usize = 20;

/// The privileges of the role.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Auditor(BTreeSet<String>);

impl Auditor {
    /// Out of the server's roles; `None` when that is no list. An error names what is more than reading, or nothing when
    /// there is no such role of the server's own.
    pub(super) fn read(roles: &Value) -> Option<Result<Self, Vec<String>>> {
        let mut rows = roles.as_array()?.iter();
        let is_it = |row: &&Value| row::text(row, "roleid").as_deref() == Some(ROLE);
        let Some(row) = rows.find(is_it) else {
            return Some(Err(vec![]));
        };
        let listed = row::text(row, "privs").unwrap_or_default();
        let names = listed.split(',').map(str::trim).filter(|name| !name.is_empty());
        let privileges: BTreeSet<String> = names.map(str::to_owned).collect();
        let is_own = row::flag(row, "special") == Some(true);
        if !is_own || privileges.is_empty() {
            return Some(Err(vec![]));
        }
        let beyond = privileges.iter().filter(|name| !name.ends_with(".Audit"));
        let beyond: Vec<String> = beyond.take(MOST).map(|name| shown(name)).collect();
        Some(match beyond.is_empty() {
            true => Ok(Self(privileges)),
            false => Err(beyond),
        })
    }

    pub(super) fn holds(&self, privilege: &str) -> bool {
        self.0.contains(privilege)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.0.iter()
    }
}
