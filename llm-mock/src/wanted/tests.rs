use proptest::prelude::*;

use super::{arguments, tool};

fn names() -> Vec<String> {
    [
        "gitea_list_repos",
        "github_list_repos",
        "github_get_recent_ci_runs",
        "proxmox.list_vms",
    ]
    .map(str::to_owned)
    .into()
}

#[test]
fn the_tool_that_a_message_names_is_found() {
    let cases = [
        ("please call github_list_repos now", Some("github_list_repos")),
        ("Use github.list_repos.", Some("github_list_repos")),
        ("list_repos", Some("gitea_list_repos")),
        ("which repos, by GitHub_List_Repos?", Some("github_list_repos")),
        ("proxmox_list_vms please", Some("proxmox.list_vms")),
        ("show me the recent_ci_runs", Some("github_get_recent_ci_runs")),
        ("what is the weather", None),
        ("epos", None),
        ("", None),
    ];
    for (message, expected) in cases {
        assert_eq!(tool(message, &names()), expected, "{message}");
    }
}

#[test]
fn arguments_are_the_first_object_of_the_message_as_it_is_written() {
    let cases = [
        (
            "call x with {\"n\": 9007199254740993}",
            Some("{\"n\": 9007199254740993}"),
        ),
        (
            "{nothing} then {\"a\": {\"b\": \"}\"}} tail",
            Some("{\"a\": {\"b\": \"}\"}}"),
        ),
        ("none", None),
        ("{{{{{{{{{{{{{{{{{{{{{\"a\": 1}", None),
    ];
    for (message, expected) in cases {
        assert_eq!(arguments(message), expected, "{message}");
    }
}

proptest! {
    #[test]
    fn no_message_is_too_odd(message in any::<String>()) {
        let _ = (tool(&message, &names()), arguments(&message));
    }
}
