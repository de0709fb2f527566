//! What is known of a project.

use std::sync::Arc;

use toolgate_contract::frame::PublicKey;

use super::Projects;
use crate::{
    fleet::{Event, Status, rows::InForce},
    snapshot,
    targets::Target,
};

/// A project: how it is registered, and how it does.
#[derive(Debug)]
pub struct Known {
    /// Its target.
    pub target: Target,
    /// True for the tenant's default.
    pub is_default: bool,
    pub(super) status: Status,
    pub(super) in_force: Option<InForce>,
}

/// A project with its tools and what it told last.
#[derive(Debug)]
pub struct Whole {
    /// It.
    pub project: Known,
    /// Its tools, by published name.
    pub tools: Vec<Tool>,
    /// The newest first.
    pub events: Vec<Event>,
}

/// A tool that a project brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name under which it is published.
    pub name: Arc<str>,
    /// The name that its project gave it.
    pub own_name: Arc<str>,
    /// It says of itself that it only reads.
    pub read_only: bool,
    /// Callers see it.
    pub shown: bool,
}

impl Known {
    /// How it does.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// `disabled`, or the state of its relay and its server.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match (self.target.disabled, self.status.state) {
            (true, _) => "disabled",
            // Not seen by calls yet.
            (false, "") => "waiting",
            (false, state) => state,
        }
    }

    /// The key that was proven last.
    #[must_use]
    pub fn live_key(&self) -> Option<PublicKey> {
        self.status.live_key.map(|(key, _)| key)
    }

    /// Whether a relay has proven another key than the pinned one.
    #[must_use]
    pub fn mismatch(&self) -> bool {
        matches!((self.target.relay_key, self.live_key()), (Some(pinned), Some(live)) if pinned != live)
    }

    /// SHA-256 of the list that is in force.
    #[must_use]
    pub fn tools_hash(&self) -> Option<&str> {
        self.in_force.as_ref().map(|list| &*list.hash)
    }

    /// SHA-256 of a changed list that is kept back.
    #[must_use]
    pub fn withheld_hash(&self) -> Option<&str> {
        self.in_force.as_ref().and_then(|list| list.withheld.as_deref())
    }
}

impl Projects {
    /// The tools that a project brings, whether callers see them or not.
    pub(super) fn tools_of(&self, target: &snapshot::Target) -> Vec<Tool> {
        let Some(list) = self.fleet.list(target) else {
            return Vec::new();
        };
        let told = |tool: &crate::fleet::Published| Tool {
            name: Arc::clone(&tool.name),
            own_name: Arc::clone(&tool.tool.own_name),
            read_only: tool.tool.read_only,
            shown: target.may_write() || tool.tool.read_only,
        };
        list.tools().iter().map(told).collect()
    }
}
