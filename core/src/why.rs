//! Why a tool is listed, callable, hidden or denied to a caller, in one sentence that names the rule.
//!
//! Decides nothing: it asks what decides for calls (the role, the registry, the snapshot) in the order in which a call
//! does, and puts the answer into words. Pure; knows no dialect.

mod brought;

use std::{borrow::Cow, fmt};

pub use self::brought::Brought;
use crate::{
    error::Error,
    identity::{Action, Role},
    profiles::Profile,
    registry,
    snapshot::{Hidden, Snapshot, Source, Standing},
};
use toolgate_contract::registry::{Group, ToolDef};

/// A name is told back up to here.
const TOLD: usize = 100;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The word on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

words! {
    /// What a caller may do with a tool.
    Verdict {
        /// It is in the list, and may be called.
        Listed = "listed",
        /// It may be called, and is not in the list.
        Callable = "callable",
        /// It is answered as if it did not exist.
        Hidden = "hidden",
        /// A call is refused for what it is.
        Denied = "denied",
        /// There is no such tool.
        Unknown = "unknown",
    }
}

words! {
    /// The rule that decides.
    Rule {
        /// No tool has the name.
        NotRegistered = "not_registered",
        /// The name is in a name space of infrastructure and none of its reads.
        WriteAttempt = "write_attempt",
        /// The role may not call tools.
        Role = "role",
        /// No enabled target of the tool's adapter.
        NoBackEnd = "no_back_end",
        /// The tenant switched it off.
        Policy = "policy",
        /// The profile that the credential pins.
        ProfilePinned = "profile_pinned",
        /// The profile that is asked for.
        ProfileAsked = "profile_asked",
        /// A profile that nobody knows, where that closes.
        ProfileUnknownClosed = "profile_unknown_closed",
        /// One of the gateway's own tools, where no profile asks for it.
        GatewayTool = "gateway_tool",
        /// The tool writes, and every back end of its type may only be read.
        ReadOnly = "read_only",
        /// The profile tells its tools by search.
        DisclosureSearch = "disclosure_search",
        /// A profile that nobody knows, where that opens.
        ProfileUnknownOpen = "profile_unknown_open",
        /// No profile applies, and nothing else hides it.
        NothingHides = "nothing_hides",
        /// A project brings it.
        Project = "project",
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// What the caller may do with it.
    pub verdict: Verdict,
    /// The rule that decides.
    pub rule: Rule,
    /// The same in words.
    pub sentence: String,
    /// The canonical name, where there is such a tool.
    pub tool: Option<Cow<'static, str>>,
}

/// Why a caller of this role and standing may or may not call the tool of this name.
#[must_use]
pub fn explain(snapshot: &Snapshot, role: Role, standing: &Standing, name: &str) -> Why {
    let shows = |tool: &ToolDef| snapshot.shows(tool, standing.profile.as_deref());
    let found = registry::tool(name).filter(|tool| {
        let hidden = snapshot.hides(tool, standing.profile.as_deref());
        hidden != Some(Hidden::Absent)
    });
    if let Err(refused) = role.require(Action::UseTools) {
        return Why::of(found, Verdict::Denied, Rule::Role, refused);
    }
    match found {
        Some(tool) => of_tool(snapshot, standing, tool),
        None => unregistered(name, registry::near(name, shows)),
    }
}

impl Why {
    fn of(tool: Option<&'static ToolDef>, verdict: Verdict, rule: Rule, sentence: impl fmt::Display) -> Self {
        Self {
            verdict,
            rule,
            sentence: sentence.to_string(),
            tool: tool.map(|tool| tool.name.into()),
        }
    }
}

fn unregistered(name: &str, near: Option<&str>) -> Why {
    let short: String = name.chars().take(TOLD).collect();
    let told = short.escape_debug();
    let meant = near.map_or_else(String::new, |near| format!(", did you mean {near}"));
    if registry::is_write_attempt(name) {
        let sentence = format!(
            "`{told}` is in the name space of infrastructure and none of its known reads, so a call is refused as a write attempt{meant}"
        );
        return Why::of(None, Verdict::Denied, Rule::WriteAttempt, sentence);
    }
    let sentence = format!("no tool is registered as `{told}`{meant}");
    Why::of(None, Verdict::Unknown, Rule::NotRegistered, sentence)
}

fn of_tool(snapshot: &Snapshot, standing: &Standing, tool: &'static ToolDef) -> Why {
    let profile = standing.profile.as_deref();
    match snapshot.hides(tool, profile) {
        Some(hidden) => kept_back(snapshot, standing, tool, hidden),
        None if snapshot.lists(tool, profile) => listed(standing, tool),
        None => Why::of(
            Some(tool),
            Verdict::Callable,
            Rule::DisclosureSearch,
            format!(
                "{} can be called but is not in the list: {} tells its tools by search",
                tool.name,
                named(standing)
            ),
        ),
    }
}

fn kept_back(snapshot: &Snapshot, standing: &Standing, tool: &'static ToolDef, hidden: Hidden) -> Why {
    let (rule, because) = match hidden {
        Hidden::Absent => (Rule::NotRegistered, "this gateway does not have it".to_owned()),
        Hidden::NoBackEnd => (Rule::NoBackEnd, no_back_end(snapshot, tool)),
        Hidden::Policy => (Rule::Policy, "the tenant's policy switches it off".to_owned()),
        Hidden::Gateway => (
            Rule::GatewayTool,
            "the gateway's own tools are there only where a profile asks for them".to_owned(),
        ),
        Hidden::Profile => (by_profile(standing), lacks(standing)),
        Hidden::ReadOnly => {
            let denied = Error::ReadOnly { tool };
            return Why::of(Some(tool), Verdict::Denied, Rule::ReadOnly, denied);
        }
    };
    let sentence = format!("{} is hidden: {because}", tool.name);
    Why::of(Some(tool), Verdict::Hidden, rule, sentence)
}

fn no_back_end(snapshot: &Snapshot, tool: &ToolDef) -> String {
    let of = |adapter: &str| snapshot.targets.iter().any(|target| target.adapter == adapter);
    let (what, configured) = match tool.group {
        Some(Group::Platform) => (
            "back end of agents".to_owned(),
            registry::BACK_ENDS.into_iter().any(of),
        ),
        _ => (format!("target of type {}", tool.adapter), of(tool.adapter)),
    };
    match configured {
        true => format!("every {what} is disabled"),
        false => format!("no {what} is configured"),
    }
}

fn by_profile(standing: &Standing) -> Rule {
    match standing.source {
        Source::Pinned => Rule::ProfilePinned,
        Source::Asked => Rule::ProfileAsked,
        Source::UnknownClosed => Rule::ProfileUnknownClosed,
        Source::UnknownOpen => Rule::ProfileUnknownOpen,
        Source::Unset => Rule::NothingHides,
    }
}

fn named(standing: &Standing) -> String {
    let name = |profile: &Profile| profile.name.to_string();
    let name = standing.profile.as_deref().map_or_else(String::new, name);
    match standing.source {
        Source::Pinned => format!("the profile {name}, which the credential pins,"),
        _ => format!("the profile {name}, which is asked for,"),
    }
}

fn lacks(standing: &Standing) -> String {
    match standing.source {
        Source::UnknownClosed => {
            "the profile that is asked for is unknown, and that closes here: only what no profile leaves out is there"
                .to_owned()
        }
        _ => format!("{} does not have it", named(standing)),
    }
}

fn listed(standing: &Standing, tool: &'static ToolDef) -> Why {
    let because = match standing.source {
        Source::Unset => "no profile applies and nothing else hides it".to_owned(),
        Source::UnknownOpen => {
            "the profile that is asked for is unknown, and that opens here: nothing is hidden by it"
                .to_owned()
        }
        Source::UnknownClosed => "no profile leaves it out".to_owned(),
        Source::Pinned | Source::Asked => format!("{} has it", named(standing)),
    };
    let sentence = format!("{} is listed and can be called: {because}", tool.name);
    Why::of(Some(tool), Verdict::Listed, by_profile(standing), sentence)
}

#[cfg(test)]
mod tests;
