//! What was found when a credential was held against what it should be able to do, and no more.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::upstream::UpstreamError;

/// What a validation found. For the admin who configures the target; never holds anything of the credential.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// How it ended.
    pub verdict: Verdict,
    /// The stages in the order they ran; the last one is the one that failed, if one did.
    pub stages: Vec<Stage>,
    /// What the credential was seen to be able to do, as it should: `metadata:read`.
    pub proven: Vec<String>,
    /// What it was seen to be able to do beyond that: `contents`.
    pub wider: Vec<String>,
    /// What reading alone cannot prove or rule out: `actions:write`.
    pub not_provable: Vec<String>,
    /// What was learned of the target and is needed to read it: its version. Goes to `Kind::open` again.
    pub facts: Map<String, Value>,
}

impl Validation {
    /// One of which nothing but its end is known so far.
    #[must_use]
    pub fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            stages: vec![],
            proven: vec![],
            wider: vec![],
            not_provable: vec![],
            facts: Map::new(),
        }
    }
}

/// How a validation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The credential may be used.
    Passed,
    /// It may not: it can do too much or too little.
    Violation(Violation),
    /// It could not be told: the target gave no answer, or none that could be read.
    Unknown(UpstreamError),
}

/// What is wrong with a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Whether roles or scopes are what the target grants by: `role-violation` or `scope-violation`.
    pub of: Grants,
    /// What is too much or too little, and what to do about it, for the admin.
    pub what: String,
    /// True when it can do more than it should: once such a target is in use, this is drift.
    pub wider: bool,
}

/// What a target grants by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grants {
    /// Roles (Proxmox VE).
    Roles,
    /// Scopes and permissions of tokens (GitHub, Gitea, Forgejo).
    Scopes,
}

/// One stage: `reach`, `tls`, `authenticate`, `privileges`, `version` or `sample`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// How long it took.
    pub took: Duration,
    /// Why it did not pass, for the admin.
    pub failed: Option<String>,
    /// The field that most likely mends it, as a JSON Pointer into what a target is made of.
    pub mends: Option<&'static str>,
}
