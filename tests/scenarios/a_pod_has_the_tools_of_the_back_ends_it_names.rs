//! `toolgate mcp` in a pod, without a token: every tool of the seed with all three back ends, those of fewer with fewer,
//! none that write under `--read-only` (rows B1, B2).

use std::collections::BTreeSet;

use serde_json::json;
use toolgate_test_support::Pod;

use crate::agent_tools::names_of;

/// Variables and their values.
type Variables<'a> = &'a [(&'a str, &'a str)];
/// Words after `toolgate mcp`.
type Words<'a> = &'a [&'a str];

fn set(names: Vec<String>) -> BTreeSet<String> {
    let (count, set) = (names.len(), names.into_iter().collect::<BTreeSet<_>>());
    assert_eq!(count, set.len(), "no name is told twice");
    set
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unset_or_empty_profile_gives_a_pod_exactly_the_sixty_three_tools() {
    let pod = Pod::start().await;
    let all = names_of(|_| true);
    assert_eq!(all.len(), 63);
    for more in [&[][..], &[("TATARA_TOOL_PROFILE", "")], &[("TOOLGATE_TOKEN", "")]] {
        let (mut pipe, begun) = pod.begin(&[], more).await.unwrap();
        assert_eq!(begun["result"]["serverInfo"]["name"], "tatara", "{begun}");
        assert_eq!(set(pipe.tools().await.unwrap()), all, "{more:?}");
        let ended = pipe.leave().await.unwrap();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let line = ended
            .stderr
            .lines()
            .find(|line| line.contains("tools are offered"));
        let line = line.expect(&ended.stderr);
        assert!(
            line.contains("INFO") && line.contains("profile=\"all\" tools=63"),
            "{line}"
        );
        assert!(!ended.stderr.contains("WARN"), "{}", ended.stderr);
    }
    for asked in [pod.memory.asked(), pod.operator.asked(), pod.chat.asked()] {
        assert!(asked.is_empty(), "a list asks no back end: {asked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_profile_hides_nothing_and_is_told_once_by_its_name() {
    let pod = Pod::start().await;
    let cases: [(Words<'_>, Variables<'_>, usize); 5] = [
        (&["--tool-profile", "nonsense"], &[], 63),
        // As a file ends that a variable was read from, and what no header can hold.
        (&[], &[("TATARA_TOOL_PROFILE", "nonsense\n")], 63),
        (&[], &[("TATARA_TOOL_PROFILE", "non\u{1b}sense\r\nnonsense")], 63),
        (&[], &[("TATARA_TOOL_PROFILE", "nonsense")], 63),
        (
            &["--tool-profile", "nonsense"],
            &[("TOOLGATE_UNKNOWN_PROFILE", "closed")],
            4,
        ),
    ];
    for (arguments, more, expected) in cases {
        let (mut pipe, _) = pod.begin(arguments, more).await.unwrap();
        let tools = set(pipe.tools().await.unwrap());
        pipe.call("project_list", json!({})).await.unwrap();
        assert_eq!(tools.len(), expected, "{tools:?}");
        if expected == 4 {
            let always = ["project_get", "repo_list", "report_internal_issue", "task_get"];
            assert_eq!(tools, always.map(str::to_owned).into());
        }
        let told = pipe.leave().await.unwrap().stderr;
        let warnings: Vec<_> = told.lines().filter(|line| line.contains("WARN")).collect();
        assert_eq!(warnings.len(), 1, "{told}");
        assert!(warnings[0].contains("nonsense"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fewer_back_ends_give_their_groups_and_the_report_is_always_there() {
    let pod = Pod::start().await;
    let [memory, operator, chat] = pod.variables();
    let cases: [(Variables<'_>, &[&str]); 5] = [
        (&[], &[]),
        (&[memory], &["memory", "code_graph"]),
        (&[operator], &["operator"]),
        (&[chat], &["chat"]),
        (&[memory, chat], &["memory", "code_graph", "chat"]),
    ];
    for (variables, groups) in cases {
        let (mut pipe, _) = pod.begin_with(&[], variables).await.unwrap();
        let expected = names_of(|tool| {
            let group = tool["group"].as_str().unwrap();
            group == "platform" || groups.contains(&group)
        });
        assert_eq!(set(pipe.tools().await.unwrap()), expected, "{groups:?}");
        pipe.leave().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_drops_exactly_the_tools_that_write_and_rejects_their_calls() {
    let pod = Pod::start().await;
    let (mut pipe, _) = pod
        .begin(&["--read-only"], &[("TATARA_PROJECT", "p")])
        .await
        .unwrap();
    let read = names_of(|tool| tool["effect"] != "write");
    assert_eq!(set(pipe.tools().await.unwrap()), read);
    for tool in names_of(|tool| tool["effect"] == "write") {
        let refused = pipe.call(&tool, json!({})).await.unwrap();
        assert_eq!(
            refused["result"]["_meta"]["toolgate/reason"], "WRITE_REJECTED",
            "{tool}: {refused}"
        );
    }
    let read = pipe.call("project_list", json!({})).await.unwrap();
    assert_eq!(read["result"]["isError"], false, "{read}");
    assert_eq!(pod.operator.asked().len(), 1);
    assert!(pod.memory.asked().is_empty() && pod.chat.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_pod_names_wrongly_is_told_by_its_variable_before_it_begins() {
    let pod = Pod::start().await;
    let cases: [(Words<'_>, Variables<'_>, &str); 4] = [
        (&[], &[("TATARA_CHAT_URL", "chat:8080/x y")], "TATARA_CHAT_URL"),
        (&[], &[("TATARA_CHAT_URL", "ftp://chat")], "TATARA_CHAT_URL"),
        (
            &[],
            &[
                ("TATARA_CHAT_URL", "http://chat"),
                ("TATARA_CLIENT_ID", "a"),
                ("OIDC_ISSUER", "http://i"),
            ],
            "TATARA_CLIENT_SECRET",
        ),
        (
            &["--core", "http://127.0.0.1:1", "--read-only"],
            &[("TOOLGATE_TOKEN", "t")],
            "--read-only",
        ),
    ];
    for (arguments, variables, told) in cases {
        let arguments = [&["mcp"][..], arguments].concat();
        let output = toolgate_test_support::run(&arguments, variables, pod.folder())
            .await
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{variables:?}: {complaint}");
        assert!(complaint.contains(told), "{complaint}");
        assert!(output.stdout.is_empty());
    }
}
