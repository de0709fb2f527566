//! What keeps a tool from a caller, asked in one order. Calls, lists and whoever asks why are answered from here, so that
//! there is no second truth. Nothing here allocates: every call comes by.

use toolgate_contract::registry::{Group, ToolDef};

use super::Snapshot;
use crate::{
    profiles::{self, Profile},
    registry::{BACK_ENDS, PROJECT},
};

/// The rule that keeps a tool from a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hidden {
    /// This gateway does not have it.
    Absent,
    /// The tenant has no enabled target that it stands for.
    NoBackEnd,
    /// The tenant's policy switches it off.
    Policy,
    /// It is one of the gateway's own, and no profile asks for it.
    Gateway,
    /// The profile does not have it.
    Profile,
    /// It writes, and every back end of its type may only be read. Nothing else keeps it back, or that would be told.
    ReadOnly,
}

impl Snapshot {
    /// The first rule that keeps the tool from a caller with this profile; none where it may call it. Policy and profile
    /// hide, nothing adds.
    #[must_use]
    pub fn hides(&self, tool: &ToolDef, profile: Option<&Profile>) -> Option<Hidden> {
        if !self.is_there(tool) {
            return Some(Hidden::Absent);
        }
        if !self.offers(tool) {
            return Some(Hidden::NoBackEnd);
        }
        if self.disabled.contains(tool.name) {
            return Some(Hidden::Policy);
        }
        if !profiles::has(profile, tool) {
            return Some(match tool.group {
                Some(Group::Gateway) => Hidden::Gateway,
                _ => Hidden::Profile,
            });
        }
        (!self.lets(tool)).then_some(Hidden::ReadOnly)
    }

    /// Whether the tenant's policy switches the tool off, whatever else hides it.
    #[must_use]
    pub fn disables(&self, tool: &ToolDef) -> bool {
        self.disabled.contains(tool.name)
    }

    /// Whether a caller with this profile may call the tool.
    #[must_use]
    pub fn shows(&self, tool: &ToolDef, profile: Option<&Profile>) -> bool {
        self.hides(tool, profile).is_none()
    }

    /// Whether a caller with this profile finds the tool in its list.
    #[must_use]
    pub fn lists(&self, tool: &ToolDef, profile: Option<&Profile>) -> bool {
        self.shows(tool, profile) && profile.is_none_or(|profile| profile.lists(tool))
    }

    #[cfg(any(test, feature = "conformance"))]
    fn is_there(&self, tool: &ToolDef) -> bool {
        self.shows_fixture(tool)
    }

    #[cfg(not(any(test, feature = "conformance")))]
    #[allow(clippy::unused_self, reason = "builds with fixtures answer otherwise")]
    fn is_there(&self, _tool: &ToolDef) -> bool {
        true
    }

    /// Whether the tenant has what the tool stands for: tools of agents are there where their back end is.
    fn offers(&self, tool: &ToolDef) -> bool {
        match tool.group {
            Some(Group::Gateway) => true,
            // Fixtures of conformance runs stand for no system.
            None if self.stand_alone && tool.is_infrastructure() => {
                self.targets_of(tool.adapter).next().is_some()
            }
            None => true,
            Some(Group::Fleet) => self.targets_of(PROJECT).next().is_some(),
            Some(Group::Platform) => self.stand_alone || self.has_back_end(|_| true),
            Some(_) => self.has_back_end(|adapter| adapter == tool.adapter),
        }
    }

    /// Whether one of the back ends lets the tool do what it does; the others are not written to anyway.
    fn lets(&self, tool: &ToolDef) -> bool {
        !tool.is_of_back_end() || self.targets_of(tool.adapter).any(|target| target.lets(tool))
    }

    fn has_back_end(&self, wanted: impl Fn(&str) -> bool) -> bool {
        let back_ends = BACK_ENDS.into_iter().filter(|adapter| wanted(adapter));
        back_ends
            .into_iter()
            .any(|adapter| self.targets_of(adapter).next().is_some())
    }
}
