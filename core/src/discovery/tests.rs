use super::*;

fn found(query: &str) -> Vec<&'static str> {
    let all = find(query, 5, |tool| tool.is_infrastructure());
    all.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn names_are_found_in_either_spelling_and_by_their_parts() {
    for query in [
        "proxmox.list_vms",
        "proxmox_list_vms",
        "ProxmoxListVms",
        "list vms",
    ] {
        assert_eq!(found(query)[0], "proxmox.list_vms", "{query}");
    }
}

#[test]
fn what_is_hidden_is_not_found_and_changes_no_order() {
    let all = find("recent ci runs of a repository", 100, |_| true);
    let some = find("recent ci runs of a repository", 100, |tool| {
        tool.adapter != "github"
    });
    assert!(all.len() > some.len() && !some.is_empty());
    let without: Vec<_> = all.into_iter().filter(|tool| tool.adapter != "github").collect();
    let names = |tools: Vec<&'static ToolDef>| tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(some.clone()), names(without)[..some.len()]);
}

#[test]
fn a_question_of_words_that_no_tool_has_finds_nothing() {
    for query in ["", "   ", "the of and", "zxqv", "\u{200b}\u{202e}", "🦀🦀"] {
        assert_eq!(found(query), [""; 0], "{query:?}");
    }
}

#[test]
fn the_same_question_finds_the_same_in_the_same_order() {
    let first = found("repository runs machine list");
    for _ in 0..20 {
        assert_eq!(found("repository runs machine list"), first);
    }
}

#[test]
fn a_long_question_is_answered_in_bounded_time() {
    let long = "list virtual machines ".repeat(50_000);
    assert_eq!(found(&long)[0], "proxmox.list_vms");
}
