//! What the list of a profile costs, and what the profile saves of it.

use toolgate_contract::registry::{Group, TOOLS, ToolDef};

use super::counts::{Counts, counts};
use crate::{
    error::Error,
    profiles::{FETCH_REST, Profile, SEARCH_TOOLS},
};

/// The tokens of a profile. Counted over its tools as they are defined: what a tenant's policy or targets hide besides
/// makes a list cheaper still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileCost {
    /// The profile's tools by name, without the gateway's own, and what each costs.
    pub tools: Vec<(&'static str, u32)>,
    /// What they cost together.
    pub tokens: u32,
    /// What all tools together cost, which is what a caller without a profile is told.
    pub all_tokens: u32,
    /// What the profile's list costs: its tools where they are listed, the gateway's own where they are found by search.
    pub listed_tokens: u32,
    /// What the list would cost if the tools were found by search.
    pub search_tokens: u32,
}

impl ProfileCost {
    /// What the profile's list saves of the list of all tools.
    #[must_use]
    pub fn saved_tokens(&self) -> u32 {
        self.all_tokens.saturating_sub(self.listed_tokens)
    }

    fn new(counts: &Counts, profile: Option<&Profile>) -> Self {
        let own = TOOLS.iter().filter(|tool| tool.group != Some(Group::Gateway));
        let has = |tool: &&ToolDef| profile.is_none_or(|profile| profile.has(tool));
        let lists = |tool: &&ToolDef| match profile {
            Some(profile) => profile.lists(tool),
            None => tool.group != Some(Group::Gateway),
        };
        let costs = |tool: &ToolDef| counts.of(tool.name);
        let tools: Vec<_> = own
            .clone()
            .filter(has)
            .map(|tool| (tool.name, costs(tool)))
            .collect();
        let rest = profile
            .and_then(|profile| profile.result_cap)
            .map(|_| counts.of(FETCH_REST));
        Self {
            tokens: tools.iter().map(|(_, tokens)| tokens).sum(),
            tools,
            all_tokens: own.map(costs).sum(),
            listed_tokens: TOOLS.iter().filter(lists).map(costs).sum(),
            search_tokens: SEARCH_TOOLS
                .map(|name| counts.of(name))
                .into_iter()
                .chain(rest)
                .sum(),
        }
    }
}

/// What a profile costs; without one, what all tools do.
pub async fn of_profile(profile: Option<&Profile>) -> Result<ProfileCost, Error> {
    Ok(ProfileCost::new(counts().await?, profile))
}

/// Refuses a profile whose list costs more than its own budget.
pub async fn check_budget(profile: &Profile) -> Result<(), Error> {
    let Some(budget) = profile.token_budget else {
        return Ok(());
    };
    let cost = of_profile(Some(profile)).await?.listed_tokens;
    if cost <= budget {
        return Ok(());
    }
    Err(Error::invalid(
        "token_budget",
        format!(
            "what the profile lists costs {cost} tokens, the budget is {budget}; leave tools out, disclose them by search, \
             or raise the budget"
        ),
    ))
}
