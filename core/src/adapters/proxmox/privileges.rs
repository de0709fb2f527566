//! Whether a token holds what the server's own role PVEAuditor holds, and nothing else. Pure.
//!
//! The privileges decide, as the server itself works them out for the token on every path; they differ by release, so
//! the role is read from the server. Access lists are looked at as well, where they can be read: a role of another name
//! may be widened by whoever keeps it.

mod auditor;
mod entries;
mod held;

use serde_json::Value;

use self::{auditor::Auditor, entries::Entries, held::Held};
use super::token::TokenId;
use crate::adapters::{Grants, Violation};

/// The role that a token has to have.
pub(super) const ROLE: &str = "PVEAuditor";
const NEXT: &str = "give it PVEAuditor on / with propagate and no other role";

/// What a server told of roles, of the token's privileges, and of lists that it may keep to itself.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) roles: Value,
    pub(super) permissions: Value,
    pub(super) acl: Option<Value>,
    pub(super) users: Option<Value>,
}

/// What follows from it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Judgement {
    pub(super) proven: Vec<String>,
    pub(super) wider: Vec<String>,
    pub(super) not_provable: Vec<String>,
    pub(super) violation: Option<Violation>,
}

/// Judges; `None` for what is no answer of a server at all.
pub(super) fn judge(token: &TokenId, seen: &Seen) -> Option<Judgement> {
    let auditor = match Auditor::read(&seen.roles)? {
        Ok(auditor) => auditor,
        Err(beyond) => return Some(Judgement::of_role(beyond)),
    };
    let held = Held::read(&seen.permissions)?;
    let entries = Entries::read(token, seen);
    let surplus = held.beyond(&auditor);
    let lack = held.lack(&auditor);
    let violation = if held.is_empty() {
        Some(narrower(format!("the token may do nothing at all; {NEXT}")))
    } else if !surplus.is_empty() {
        Some(wider(held::told(&surplus), &lack, &entries))
    } else if !lack.is_empty() {
        Some(narrower(format!("the token lacks {}; {NEXT}", lack.join(", "))))
    } else {
        let others = entries.others();
        (!others.is_empty()).then(|| {
            narrower(format!(
                "the token has another role than PVEAuditor: {}; {NEXT}",
                others.join(", ")
            ))
        })
    };
    Some(Judgement {
        proven: held.proven(&auditor),
        wider: surplus,
        not_provable: entries.not_provable(),
        violation,
    })
}

fn wider(surplus: String, lack: &[String], entries: &Entries) -> Violation {
    let mut what = format!("the token can do more than PVEAuditor: {surplus}");
    if !lack.is_empty() {
        what.push_str(&format!(", and lacks {}", lack.join(", ")));
    }
    let others = entries.others();
    if !others.is_empty() {
        what.push_str(&format!("; by the role {}", others.join(", ")));
    }
    match entries.is_owners() {
        true => what.push_str(
            "; it has no privileges of its own (privsep 0) but those of its owner, so make one with privilege separation, and give that PVEAuditor on / with propagate and no other role",
        ),
        false => what.push_str(&format!("; {NEXT}")),
    }
    violation(what, true)
}

fn narrower(what: String) -> Violation {
    violation(what, false)
}

fn violation(what: String, wider: bool) -> Violation {
    Violation {
        of: Grants::Roles,
        what,
        wider,
    }
}

impl Judgement {
    /// The server's own role is not what it should be.
    fn of_role(beyond: Vec<String>) -> Self {
        let what = match beyond.is_empty() {
            true => "the server has no role PVEAuditor of its own, so nothing can be held against it; Proxmox VE 6.2 or later is needed".to_owned(),
            false => format!(
                "the role PVEAuditor of this server holds what is more than reading: {}; it is not used",
                beyond.join(", ")
            ),
        };
        Self {
            violation: Some(violation(what, !beyond.is_empty())),
            wider: beyond,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
