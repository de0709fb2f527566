//! Profiles: named sets of tools. A profile hides; it grants nothing.
//!
//! Those of the contract are made once; a tenant's own come with its snapshot. What no profile leaves out is in every
//! one. Knows the registry and nothing of callers: what a caller may see besides is decided where it is asked.

pub(crate) mod stored;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock},
};

use toolgate_contract::registry::{self, ALWAYS_ON, Group, PROFILES, ProfileDef, ToolDef};

pub use self::stored::Stored;

/// One named set of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name by which it is chosen.
    pub name: Arc<str>,
    /// What it is for.
    pub description: String,
    /// Canonical names of its tools; none of them is one of the gateway's own.
    tools: BTreeSet<&'static str>,
    /// Whether it has every tool that a project brings.
    pub projects: bool,
    /// How its tools are told.
    pub disclosure: Disclosure,
    /// The most tokens that what it lists may cost a model; it cannot be saved above that.
    pub token_budget: Option<u32>,
    /// The most tokens of one result, estimated; the rest is fetched by its cursor.
    pub result_cap: Option<u32>,
    /// Whether the contract has it; else it is a tenant's own.
    pub built_in: bool,
}

/// What becomes of a request that names a profile which nobody knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum UnknownProfile {
    /// Nothing is hidden by it.
    #[default]
    Open,
    /// Only what no profile leaves out is there.
    Closed,
}

/// How the tools of a profile are told to a caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Disclosure {
    /// In the list.
    #[default]
    Direct,
    /// By search: the list holds the three tools that find, describe and call the others.
    Search,
}

impl Disclosure {
    /// The word on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Search => "search",
        }
    }

    /// The value of this word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Direct, Self::Search]
            .into_iter()
            .find(|disclosure| disclosure.as_str() == text)
    }
}

/// Stands for every tool that a project brings, where a profile's tools are named.
pub const PROJECT_TOOLS: &str = "project.*";
/// Calls another tool by its name.
pub const CALL_TOOL: &str = "call_tool";
/// Describes a tool by its name.
pub const DESCRIBE_TOOL: &str = "describe_tool";
/// Finds tools by what they are for.
pub const FIND_TOOLS: &str = "find_tools";
/// The three tools of a list under [`Disclosure::Search`].
pub const SEARCH_TOOLS: [&str; 3] = [CALL_TOOL, DESCRIBE_TOOL, FIND_TOOLS];
/// Fetches what a capped result left.
pub const FETCH_REST: &str = "fetch_rest";

static BUILT_IN: LazyLock<HashMap<&'static str, Arc<Profile>>> = LazyLock::new(|| {
    PROFILES
        .iter()
        .map(|profile| (profile.name, Arc::new(Profile::from(profile))))
        .collect()
});

/// What is left where an unknown profile closes: what no profile leaves out.
static CLOSED: LazyLock<Arc<Profile>> = LazyLock::new(|| {
    Arc::new(Profile {
        built_in: true,
        ..Profile::new(
            "closed",
            "What no profile leaves out; stands in for a profile that nobody knows.",
            [],
        )
    })
});

impl Profile {
    /// A profile of these tools and those that no profile leaves out.
    #[must_use]
    pub fn new(name: &str, description: &str, tools: impl IntoIterator<Item = &'static ToolDef>) -> Self {
        let own = tools
            .into_iter()
            .filter(|tool| tool.group != Some(Group::Gateway));
        Self {
            name: name.into(),
            description: description.to_owned(),
            tools: own
                .map(|tool| tool.name)
                .chain(ALWAYS_ON.iter().copied())
                .collect(),
            projects: false,
            disclosure: Disclosure::Direct,
            token_budget: None,
            result_cap: None,
            built_in: false,
        }
    }

    /// The built-in profile of this name.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Arc<Self>> {
        BUILT_IN.get(name).cloned()
    }

    /// What is left where an unknown profile closes.
    #[must_use]
    pub fn closed() -> Arc<Self> {
        Arc::clone(&CLOSED)
    }

    /// What it is made of, as it is told and stored: the names of its tools, and the word for those of projects.
    #[must_use]
    pub fn parts(&self) -> Vec<&'static str> {
        self.tools()
            .chain(self.projects.then_some(PROJECT_TOOLS))
            .collect()
    }

    /// Canonical names of its tools, sorted; without the gateway's own.
    pub fn tools(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().copied()
    }

    /// Whether a call of this tool is one of the profile's.
    #[must_use]
    pub fn has(&self, tool: &ToolDef) -> bool {
        match tool.group {
            Some(Group::Gateway) if tool.name == FETCH_REST => self.result_cap.is_some(),
            Some(Group::Gateway) => self.disclosure == Disclosure::Search,
            _ => self.tools.contains(tool.name),
        }
    }

    /// Whether the profile's list holds this tool of its own; under search it holds the gateway's alone.
    #[must_use]
    pub fn lists(&self, tool: &ToolDef) -> bool {
        let by_search = self.disclosure == Disclosure::Search;
        self.has(tool) && (!by_search || tool.group == Some(Group::Gateway))
    }
}

impl From<&ProfileDef> for Profile {
    fn from(profile: &ProfileDef) -> Self {
        let tools = profile.tools.iter().filter_map(|name| registry::tool(name));
        Self {
            built_in: true,
            projects: profile.projects,
            ..Self::new(profile.name, profile.description, tools)
        }
    }
}

/// Whether a caller may see what projects bring; without a profile it may.
#[must_use]
pub fn has_projects(profile: Option<&Profile>) -> bool {
    profile.is_none_or(|profile| profile.projects)
}

/// Whether a caller without a profile may call the tool: the gateway's own are there only where a profile asks for them.
#[must_use]
pub fn has(profile: Option<&Profile>, tool: &ToolDef) -> bool {
    match profile {
        Some(profile) => profile.has(tool),
        None => tool.group != Some(Group::Gateway),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_of_the_contract_is_what_the_contract_says() {
        for told in PROFILES {
            let profile = Profile::built_in(told.name).unwrap();
            assert!(profile.tools().eq(told.tools.iter().copied()), "{}", told.name);
        }
        assert!(Profile::closed().tools().eq(ALWAYS_ON.iter().copied()));
    }

    #[test]
    fn the_gateways_own_tools_are_there_where_a_profile_asks_for_them() {
        let tool = |name| registry::tool(name).unwrap();
        let all = || Profile::new("mine", "", registry::TOOLS);
        let search = Profile {
            disclosure: Disclosure::Search,
            ..all()
        };
        let capped = Profile {
            result_cap: Some(1_000),
            ..all()
        };
        let listed = |profile: &Profile| {
            let shown = registry::TOOLS.iter().filter(|tool| profile.lists(tool));
            shown.map(|tool| tool.name).collect::<Vec<_>>()
        };
        assert_eq!(listed(&search), SEARCH_TOOLS);
        assert!(search.has(tool("query")) && !search.lists(tool("query")));
        assert!(capped.lists(tool(FETCH_REST)) && capped.lists(tool("query")));
        for name in SEARCH_TOOLS.into_iter().chain([FETCH_REST]) {
            assert!(!has(None, tool(name)) && !all().has(tool(name)), "{name}");
        }
    }
}
