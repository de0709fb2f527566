//! What operators of agent pods need to know: which profile a kind of task gets, and how a pod is told.
//!
//! Pure tables and lists, for whoever writes pods: nothing here reads an environment or talks to anything.

use crate::registry;

/// The variable by which a pod is told its profile. `toolgate mcp` reads it.
pub const TOOL_PROFILE: &str = "TATARA_TOOL_PROFILE";

/// The profile of pods that carry out tasks of this kind: the value of [`TOOL_PROFILE`].
///
/// Empty for a kind that nobody knows, which counts as unset: such a pod has everything it may otherwise have.
#[must_use]
pub fn profile_for_kind(kind: &str) -> &'static str {
    registry::profile_for_kind(kind).map_or("", |profile| profile.name)
}

/// The variables of a pod for this kind of task, in the order in which they go into its manifest.
///
/// The profile comes first and what the user wants after it: where a name stands twice, Kubernetes takes the last one,
/// so that the user has the last word.
#[must_use]
pub fn environment(kind: &str, extras: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let profile = (TOOL_PROFILE.to_owned(), profile_for_kind(kind).to_owned());
    std::iter::once(profile).chain(extras).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pod sees of its variables: the last of a name.
    fn seen<'a>(variables: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let last = variables.iter().rev().find(|(given, _)| given == name);
        last.map(|(_, value)| value.as_str())
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn every_kind_of_task_has_its_profile_and_an_unknown_one_the_empty_value() {
        let told = [
            ("brainstorm", "brainstorm"),
            ("implement", "implement"),
            ("review", "review"),
            ("triageIssue", "triage"),
            ("issueLifecycle", "lifecycle"),
            ("incident", "incident"),
            ("selfImprove", "selfImprove"),
        ];
        let kinds = registry::PROFILES.iter().flat_map(|profile| profile.task_kinds);
        assert_eq!(kinds.count(), told.len());
        for (kind, profile) in told {
            assert_eq!(profile_for_kind(kind), profile, "{kind}");
            assert_eq!(environment(kind, []), [pair(TOOL_PROFILE, profile)], "{kind}");
        }
        // A profile's name is no kind, and kinds are told apart by case.
        for unknown in [
            "",
            "triage",
            "lifecycle",
            "Implement",
            "healthCheck",
            "infrastructure",
        ] {
            assert_eq!(profile_for_kind(unknown), "", "{unknown}");
            assert_eq!(environment(unknown, []), [pair(TOOL_PROFILE, "")], "{unknown}");
        }
    }

    #[test]
    fn what_the_user_wants_comes_after_the_profile_and_overrides_it() {
        let extras = [
            pair("TATARA_PROJECT", "harbour"),
            pair(TOOL_PROFILE, "review"),
            pair("PATH", "/bin"),
        ];
        let variables = environment("implement", extras.clone());
        assert_eq!(variables[0], pair(TOOL_PROFILE, "implement"));
        assert_eq!(variables[1..], extras);
        assert_eq!(seen(&variables, TOOL_PROFILE), Some("review"));

        let variables = environment("implement", [pair("TATARA_TASK", "7")]);
        assert_eq!(seen(&variables, TOOL_PROFILE), Some("implement"));
    }
}
