//! From what a validation found to the answer of whoever asked for it; `None` where the credential may be used.

use serde_json::Value;
use toolgate_contract::v1::ErrorReason;

use super::findings;
use crate::{
    adapters::{Grants, Kind, Validation, Verdict},
    error::{Error, Unvalidated, Violated},
    upstream::UpstreamError,
};

/// The refusal that this validation, stored as `found`, leads to.
pub(super) fn of(kind: Kind, validation: &Validation, found: &Value) -> Option<Error> {
    match &validation.verdict {
        Verdict::Passed => None,
        Verdict::Violation(violation) => {
            Some(violated(violation.of, findings::plain(&violation.what), found))
        }
        // Whoever submits a credential that is not known there can mend it as one that does too little.
        Verdict::Unknown(error @ UpstreamError::CredentialRejected) => {
            Some(violated(grants(kind), why(validation, error), found))
        }
        Verdict::Unknown(error) => Some(Error::Unvalidated(Box::new(Unvalidated {
            error: error.clone(),
            what: why(validation, error),
            pointer: findings::pointer(found).map(str::to_owned),
            validation: findings::told(found),
        }))),
    }
}

fn violated(of: Grants, what: String, found: &Value) -> Error {
    let reason = match of {
        Grants::Roles => ErrorReason::RoleViolation,
        Grants::Scopes => ErrorReason::ScopeViolation,
    };
    Error::Violation(Box::new(Violated {
        reason,
        what,
        pointer: findings::pointer(found).map(str::to_owned),
        validation: Some(findings::told(found)),
    }))
}

fn grants(kind: Kind) -> Grants {
    match kind {
        Kind::Proxmox => Grants::Roles,
        Kind::Github | Kind::Gitea | Kind::AgentMemory | Kind::AgentOperator | Kind::AgentChat => {
            Grants::Scopes
        }
    }
}

// The stage knows more than the error, which was written for those who call tools.
fn why(validation: &Validation, error: &UpstreamError) -> String {
    let failed = validation.stages.iter().find_map(|stage| {
        let reason = stage.failed.as_deref()?;
        Some((stage.name, findings::plain(reason)))
    });
    match failed {
        Some((name, reason)) => format!("nothing is stored, the validation failed at {name}: {reason}"),
        None => format!("nothing is stored, the validation came to no end: {error}"),
    }
}
