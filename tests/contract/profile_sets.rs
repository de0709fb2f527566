//! The profiles of tasks hold exactly what their table says: `tests/golden/profiles.json`, with the groups of
//! `tests/golden/agent-tools.json`.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_contract::{
    pods,
    registry::{self, ALWAYS_ON},
};

fn table() -> Value {
    serde_json::from_str(include_str!("../golden/profiles.json")).expect("the table is JSON")
}

fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().expect("a list").iter();
    items
        .map(|item| item.as_str().expect("a text").to_owned())
        .collect()
}

fn of_group(group: &str) -> Vec<String> {
    let table: Value =
        serde_json::from_str(include_str!("../golden/agent-tools.json")).expect("the table is JSON");
    let tools = table["tools"].as_array().expect("a list").iter();
    tools
        .filter(|tool| tool["group"] == group)
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

fn has(profile: &str, tool: &str) -> bool {
    assert!(registry::tool(tool).is_some(), "{tool}");
    let profile = registry::profile(profile).expect("a profile of the contract");
    profile.tools.contains(&tool)
}

#[test]
fn each_profile_of_a_task_holds_exactly_the_set_of_its_table() {
    let table = table();
    let always_on = texts(&table["always_on"]);
    let found: BTreeSet<_> = always_on.iter().map(String::as_str).collect();
    assert_eq!(found, ALWAYS_ON.iter().copied().collect());
    let mut sizes = Vec::new();
    for (name, row) in table["profiles"].as_object().expect("an object") {
        let groups = texts(&row["groups"])
            .into_iter()
            .flat_map(|group| of_group(&group));
        let named = texts(&row["tools"]).into_iter().chain(always_on.clone());
        let expected: BTreeSet<String> = groups.chain(named).collect();
        let profile = registry::profile(name).unwrap_or_else(|| panic!("no profile {name}"));
        let found: BTreeSet<String> = profile.tools.iter().map(|tool| (*tool).to_owned()).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(
            Some(profile.tools.len() as u64),
            row["registered"].as_u64(),
            "{name}"
        );
        let kinds = texts(&row["task_kinds"]);
        assert!(profile.task_kinds.iter().eq(&kinds), "{name}");
        for kind in &kinds {
            assert_eq!(pods::profile_for_kind(kind), name, "{kind}");
        }
        sizes.push((name.as_str(), found.len()));
    }
    sizes.sort_unstable();
    let expected = [
        ("brainstorm", 53),
        ("implement", 44),
        ("incident", 56),
        ("lifecycle", 60),
        ("review", 40),
        ("selfImprove", 45),
        ("triage", 44),
    ];
    assert_eq!(sizes, expected);
}

#[test]
fn brainstorming_has_chat_and_proposals_and_no_outcome_of_a_change() {
    for tool in ["comment_on_issue", "propose_issue", "skip_research"] {
        assert!(has("brainstorm", tool), "{tool}");
    }
    for tool in of_group("chat") {
        assert!(has("brainstorm", &tool), "{tool}");
    }
    for tool in ["change_summary", "review_verdict", "issue_outcome", "pr_outcome"] {
        assert!(!has("brainstorm", tool), "{tool}");
    }
}

#[test]
fn triage_ends_no_change_and_a_lifecycle_has_what_each_of_its_steps_has() {
    for tool in ["change_summary", "pr_outcome"] {
        assert!(!has("triage", tool), "{tool}");
    }
    for step in ["triage", "implement", "review"] {
        let step = registry::profile(step).expect("a profile of the contract");
        for tool in step.tools {
            assert!(has("lifecycle", tool), "{tool}");
        }
    }
    for tool in of_group("chat") {
        assert!(has("lifecycle", &tool), "{tool}");
    }
}
