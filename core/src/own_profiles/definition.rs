//! What a profile shall be, as asked, and whether it can be one.

use std::{collections::BTreeSet, sync::Arc};

use toolgate_contract::registry::{self, Group, ToolDef};

use crate::{
    error::Error,
    names,
    profiles::{Disclosure, PROJECT_TOOLS, Profile, Stored},
    registry::not_known,
};

/// Names of tools of one profile, as given.
const MOST_TOOLS: usize = 500;
/// The longest name.
const LONGEST_NAME: usize = 40;
/// Tokens of a result; a part below that holds little more than its own cursor.
const LEAST_CAP: u32 = 50;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 500;
/// Names of wrong tools that are told.
const TOLD: usize = 10;
/// Words that mean something else where a profile is named.
const RESERVED: [&str; 3] = ["all", "closed", "none"];

/// What a profile shall be, as asked.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    /// Name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Names of its tools, canonical or alias; the same one twice is one.
    pub tools: Vec<String>,
    /// `direct` or `search`; empty for `direct`.
    pub disclosure: String,
    /// The most tokens that what it lists may cost.
    pub token_budget: Option<u32>,
    /// The most tokens of one result.
    pub result_cap: Option<u32>,
}

impl Definition {
    /// The profile, if it can be one.
    pub(super) fn check(self, now_us: i64) -> Result<Stored, Error> {
        check_name(&self.name)?;
        check_description(&self.description)?;
        let (projects, named): (Vec<_>, Vec<_>) =
            self.tools.into_iter().partition(|name| name == PROJECT_TOOLS);
        let tools = known(&named)?;
        let disclosure = match &*self.disclosure {
            "" => Disclosure::default(),
            text => Disclosure::parse(text)
                .ok_or_else(|| Error::invalid("disclosure", "must be one of direct, search"))?,
        };
        for (place, number) in [
            ("token_budget", self.token_budget),
            ("result_cap", self.result_cap),
        ] {
            if number == Some(0) {
                return Err(Error::invalid(place, "must be at least 1; leave it out for none"));
            }
        }
        if self.result_cap.is_some_and(|cap| cap < LEAST_CAP) {
            let what =
                format!("must be at least {LEAST_CAP}; less than that holds no sentence and its cursor");
            return Err(Error::invalid("result_cap", what));
        }
        let mut profile = Profile::new(&self.name, &self.description, tools);
        profile.projects = !projects.is_empty();
        (profile.disclosure, profile.token_budget, profile.result_cap) =
            (disclosure, self.token_budget, self.result_cap);
        Ok(Stored {
            profile: Arc::new(profile),
            updated_us: now_us,
        })
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    let goes_on = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !begins || !goes_on || name.len() > LONGEST_NAME {
        return Err(Error::invalid(
            "name",
            "must begin with a small letter and have at most 40 letters, digits, _ and -",
        ));
    }
    if RESERVED.contains(&name) {
        return Err(Error::invalid(
            "name",
            format!("must not be one of {}", RESERVED.join(", ")),
        ));
    }
    if registry::profile(name).is_some() {
        return Err(Error::invalid(
            "name",
            "is that of a profile of the contract; choose another one",
        ));
    }
    Ok(())
}

fn check_description(description: &str) -> Result<(), Error> {
    if description.chars().count() > LONGEST_DESCRIPTION {
        return Err(Error::invalid(
            "description",
            format!("must have at most {LONGEST_DESCRIPTION} characters"),
        ));
    }
    if !description.is_empty() && !names::is_one_line(description) {
        return Err(Error::invalid(
            "description",
            "must be one line of printable characters, without white space around it",
        ));
    }
    Ok(())
}

fn known(names: &[String]) -> Result<Vec<&'static ToolDef>, Error> {
    if names.len() > MOST_TOOLS {
        return Err(Error::invalid(
            "tools",
            format!("must hold at most {MOST_TOOLS} names"),
        ));
    }
    let found: Vec<_> = names.iter().map(|name| (name, registry::tool(name))).collect();
    let unknown: BTreeSet<_> = found
        .iter()
        .filter(|(_, tool)| tool.is_none())
        .map(|(name, _)| not_known(name))
        .collect();
    if !unknown.is_empty() {
        return Err(Error::invalid(
            "tools",
            format!("no tool named {}", told(unknown)),
        ));
    }
    let tools: Vec<_> = found.into_iter().filter_map(|(_, tool)| tool).collect();
    let of_gateway: BTreeSet<_> = tools
        .iter()
        .filter(|tool| tool.group == Some(Group::Gateway))
        .map(|tool| tool.name.to_owned())
        .collect();
    if !of_gateway.is_empty() {
        return Err(Error::invalid(
            "tools",
            format!(
                "the gateway offers {} by itself, where disclosure is search or there is a result_cap; leave them out",
                told(of_gateway)
            ),
        ));
    }
    Ok(tools)
}

fn told(names: BTreeSet<String>) -> String {
    names.into_iter().take(TOLD).collect::<Vec<_>>().join(", ")
}
