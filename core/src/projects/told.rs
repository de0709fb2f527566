//! What is known of a project.

use std::sync::Arc;

use toolgate_contract::frame::PublicKey;

use super::Projects;
use crate::{
    fleet::{Event, Published, Status, rows::InForce},
    snapshot,
    targets::Target,
};

/// Characters of a tool's description that are told.
const LONGEST: usize = 2_000;
/// Characters of a whole definition, of a list that is kept back.
const LONGEST_DEFINITION: usize = 8_000;

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
    /// Those of a list that waits for an admin's word.
    pub withheld: Vec<Tool>,
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
    /// What it says that it does, cut.
    pub description: String,
    /// How it differs from the list in force: `new`, `changed`, `gone` or `same`; empty where that is not known.
    pub change: &'static str,
    /// Of a list that is kept back, its whole definition as its project told it, cut; empty for one that is the same.
    pub definition: String,
    /// Of one that is changed, the definition that is in force, cut.
    pub former_definition: String,
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
        list.tools().iter().map(|tool| told(target, tool, "")).collect()
    }

    /// The tools of a list that waits for an admin's word, and how they differ.
    pub(super) fn withheld_of(&self, target: &snapshot::Target) -> Vec<Tool> {
        let Some((list, former)) = self.fleet.withheld(target.id) else {
            return Vec::new();
        };
        let compared = |tool: &Published| {
            let before = former.as_ref().map(|former| former.own(&tool.tool.own_name));
            match before {
                None => whole(target, tool, ""),
                Some(None) => whole(target, tool, "new"),
                Some(Some(before)) if before.tool.raw() == tool.tool.raw() => told(target, tool, "same"),
                Some(Some(before)) => Tool {
                    former_definition: cut(before.tool.raw()),
                    ..whole(target, tool, "changed")
                },
            }
        };
        let gone = former.iter().flat_map(|former| former.tools());
        let gone = gone.filter(|tool| list.own(&tool.tool.own_name).is_none());
        let now = list.tools().iter().map(compared);
        now.chain(gone.map(|tool| whole(target, tool, "gone"))).collect()
    }
}

fn whole(target: &snapshot::Target, tool: &Published, change: &'static str) -> Tool {
    Tool {
        definition: cut(tool.tool.raw()),
        ..told(target, tool, change)
    }
}

fn cut(definition: &str) -> String {
    definition.chars().take(LONGEST_DEFINITION).collect()
}

fn told(target: &snapshot::Target, tool: &Published, change: &'static str) -> Tool {
    Tool {
        name: Arc::clone(&tool.name),
        own_name: Arc::clone(&tool.tool.own_name),
        read_only: tool.tool.read_only,
        shown: target.may_write() || tool.tool.read_only,
        description: tool.description.chars().take(LONGEST).collect(),
        change,
        definition: String::new(),
        former_definition: String::new(),
    }
}
