//! Profiles: enum values with the profile option, expanded to the tools they name.

use prost_reflect::{DescriptorPool, EnumValueDescriptor};

use super::{
    Mistakes, comments,
    options::{Options, ProfileOption},
    tools::Tool,
};

/// One named set of tools.
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) tools: Vec<String>,
}

/// Reads every profile, sorted by name.
pub(crate) fn read(
    pool: &DescriptorPool,
    options: &Options,
    tools: &[Tool],
    mistakes: &mut Mistakes,
) -> Vec<Profile> {
    let mut profiles: Vec<Profile> = Vec::new();
    for value in pool.all_enums().flat_map(|set| set.values().collect::<Vec<_>>()) {
        let Some(option) = options.profile(&value.options()) else {
            continue;
        };
        let place = format!("profile {}", value.full_name());
        if profiles.iter().any(|other| other.name == option.name) {
            mistakes.at(
                &place,
                format!("there is already a profile named {}", option.name),
            );
        }
        profiles.push(profile(&value, option, tools, &place, mistakes));
    }
    profiles.sort_by(|a, b| a.name.cmp(&b.name));
    profiles
}

fn profile(
    value: &EnumValueDescriptor,
    option: ProfileOption,
    tools: &[Tool],
    place: &str,
    mistakes: &mut Mistakes,
) -> Profile {
    let description = comments::of_value(value);
    if description.is_empty() {
        mistakes.at(
            place,
            "a profile needs a comment; it is the profile's description",
        );
    }
    if option.name.is_empty() {
        mistakes.at(place, "a profile needs a name");
    }
    let mut names = Vec::new();
    for adapter in &option.adapters {
        let of_adapter: Vec<_> = tools.iter().filter(|tool| tool.adapter == *adapter).collect();
        if of_adapter.is_empty() {
            mistakes.at(place, format!("no tool has the adapter {adapter}"));
        }
        names.extend(of_adapter.into_iter().map(|tool| tool.name.clone()));
    }
    for name in option.tools {
        if !tools.iter().any(|tool| tool.name == name) {
            mistakes.at(place, format!("no tool is named {name}"));
        }
        names.push(name);
    }
    names.sort();
    names.dedup();
    Profile {
        name: option.name,
        description,
        tools: names,
    }
}
