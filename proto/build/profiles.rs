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
    pub(crate) task_kinds: Vec<String>,
    pub(crate) projects: bool,
}

/// The tools that no profile leaves out, sorted.
pub(crate) fn always_on(
    pool: &DescriptorPool,
    options: &Options,
    tools: &[Tool],
    mistakes: &mut Mistakes,
) -> Vec<String> {
    let mut names = Vec::new();
    for set in pool.all_enums() {
        let Some(option) = options.profiles(&set.options()) else {
            continue;
        };
        let place = format!("enum {}", set.full_name());
        for name in option.always_on {
            if !tools.iter().any(|tool| tool.name == name) {
                mistakes.at(&place, format!("no tool is named {name}"));
            }
            names.push(name);
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Reads every profile, sorted by name.
pub(crate) fn read(
    pool: &DescriptorPool,
    options: &Options,
    tools: &[Tool],
    always_on: &[String],
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
        for kind in &option.task_kinds {
            if let Some(other) = profiles.iter().find(|other| other.task_kinds.contains(kind)) {
                let taken = format!("tasks of kind {kind} already get the profile {}", other.name);
                mistakes.at(&place, taken);
            }
        }
        profiles.push(profile(&value, option, tools, always_on, &place, mistakes));
    }
    profiles.sort_by(|a, b| a.name.cmp(&b.name));
    profiles
}

fn profile(
    value: &EnumValueDescriptor,
    option: ProfileOption,
    tools: &[Tool],
    always_on: &[String],
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
    let mut names = always_on.to_vec();
    for group in &option.groups {
        let of_group: Vec<_> = tools.iter().filter(|tool| tool.group_number == *group).collect();
        if *group == 0 || of_group.is_empty() {
            mistakes.at(place, format!("no tool is of the group {group}"));
        }
        names.extend(of_group.into_iter().map(|tool| tool.name.clone()));
    }
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
        task_kinds: option.task_kinds,
        projects: option.projects,
    }
}
