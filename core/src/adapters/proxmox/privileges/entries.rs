//! The entries of access lists that give a token what it holds: its own, or its owner's and those of the owner's groups
//! where it has none of its own (privsep 0).

use serde_json::Value;

use super::{ROLE, Seen};
use crate::adapters::{
    proxmox::{row, token::TokenId},
    said::shown,
};

/// A role that only takes away.
const NOTHING: &str = "NoAccess";
/// Entries named in one text.
const MOST: usize = 5;

/// Where a token's privileges come from.
#[derive(Debug)]
pub(super) struct Entries {
    /// Role and path.
    roles: Vec<(String, String)>,
    /// Whether the token has privileges of its own; absent when the server does not tell.
    privsep: Option<bool>,
}

impl Entries {
    pub(super) fn read(token: &TokenId, seen: &Seen) -> Self {
        let (privsep, groups) = of_user(token, seen.users.as_ref());
        let is_owners = privsep == Some(false);
        let whole = token.whole();
        let is_source = |row: &&Value| {
            let of = row::text(row, "ugid").unwrap_or_default();
            match row::text(row, "type").as_deref() {
                Some("token") => !is_owners && of == whole,
                Some("user") => is_owners && of == token.owner,
                Some("group") => is_owners && groups.contains(&of),
                _ => false,
            }
        };
        let name = |row: &Value, key| row::text(row, key).unwrap_or_else(|| "?".to_owned());
        let roles = rows(seen.acl.as_ref())
            .filter(is_source)
            .map(|row| (name(row, "roleid"), name(row, "path")));
        Self {
            roles: roles.collect(),
            privsep,
        }
    }

    /// Whether all of it is the owner's.
    pub(super) fn is_owners(&self) -> bool {
        self.privsep == Some(false)
    }

    /// Roles that should not be there: `Administrator on /vms`.
    pub(super) fn others(&self) -> Vec<String> {
        let others = self
            .roles
            .iter()
            .filter(|(role, _)| role != ROLE && role != NOTHING);
        let all: Vec<String> = others
            .map(|(role, path)| format!("{} on {}", shown(role), shown(path)))
            .collect();
        let beyond = all.len().saturating_sub(MOST);
        let mut told: Vec<String> = all.into_iter().take(MOST).collect();
        if beyond > 0 {
            told.push(format!("{beyond} more"));
        }
        told
    }

    /// What the lists leave open, because the server shows none of them to the token.
    pub(super) fn not_provable(&self) -> Vec<String> {
        match self.roles.is_empty() {
            true => vec!["names of its roles".to_owned()],
            false => vec![],
        }
    }
}

/// Whether the token has privileges of its own, and the groups of its owner.
fn of_user(token: &TokenId, users: Option<&Value>) -> (Option<bool>, Vec<String>) {
    let is_owner = |row: &&Value| row::text(row, "userid").as_deref() == Some(&token.owner);
    let Some(user) = rows(users).find(is_owner) else {
        return (None, vec![]);
    };
    let is_it = |row: &&Value| row::text(row, "tokenid").as_deref() == Some(&token.name);
    let privsep = rows(user.get("tokens"))
        .find(is_it)
        // Separation is what there is when nothing is said.
        .map(|row| row::flag(row, "privsep").unwrap_or(true));
    (privsep, groups(user))
}

/// One text, or on some releases a list.
fn groups(user: &Value) -> Vec<String> {
    match user.get("groups") {
        Some(Value::Array(groups)) => groups
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => {
            let listed = row::text(user, "groups").unwrap_or_default();
            let names = listed.split([',', ';', ' ']).filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        }
    }
}

fn rows(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}
