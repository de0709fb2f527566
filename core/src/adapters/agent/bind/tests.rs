use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_contract::registry;

use super::*;

fn bound(tool: &str, arguments: &str) -> Result<Bound, Vec<Violation>> {
    bind(
        registry::tool(tool).unwrap().http.as_ref().unwrap(),
        arguments.as_bytes(),
    )
}

fn line(tool: &str, arguments: &str) -> String {
    let bound = bound(tool, arguments).unwrap();
    let body = bound.body.map(|body| String::from_utf8(body.to_vec()).unwrap());
    let body = body.map_or_else(String::new, |body| format!(" {body}"));
    format!("{:?} {}{body}", bound.method, bound.target)
}

#[test]
fn arguments_travel_where_the_contract_says() {
    let check = |tool: &str, arguments: &str, expected: &str| {
        assert_eq!(line(tool, arguments), expected, "{tool} {arguments}");
    };
    check("project_list", "{}", "Get /projects");
    check("get_memory", r#"{"id":"a/b?c"}"#, "Get /memories/a%2Fb%3Fc");
    check(
        "get_memory",
        r#"{"id":"größe 1#%"}"#,
        "Get /memories/gr%C3%B6%C3%9Fe%201%23%25",
    );
    check("get_memory", r#"{"id":"%2e%2e"}"#, "Get /memories/%252e%252e");
    check("search_entities", "{}", "Get /entities");
    check(
        "search_entities",
        r#"{"q":"a&b=c d"}"#,
        "Get /entities?q=a%26b%3Dc%20d",
    );
    check("search_entities", r#"{"q":""}"#, "Get /entities");
    check(
        "create_memory",
        r#"{"metadata":{"k":"v"},"text":"t"}"#,
        r#"Post /memories {"text":"t","metadata":{"k":"v"}}"#,
    );
    check(
        "patch_entity",
        r#"{"id":"e","patch":{"n":9007199254740993}}"#,
        r#"Patch /entities/e {"n":9007199254740993}"#,
    );
    check("task_update", r#"{"task":"t"}"#, "Patch /tasks/t {}");
    check(
        "already_done",
        r#"{"reason":"it is","task":"t"}"#,
        r#"Post /tasks/t/implement-outcome {"reason":"it is","action":"already_done"}"#,
    );
    check(
        "propose_issue",
        r#"{"body":"b","kind":"bug","project":"p","repo":"r","title":"t"}"#,
        r#"Post /projects/p/issues {"repositoryRef":"r","title":"t","body":"b","kind":"bug"}"#,
    );
    check(
        "chat_poll_messages",
        r#"{"participant_id":"p","room_id":"r"}"#,
        "Get /rooms/r/messages?participant=p",
    );
    check(
        "chat_get_log",
        r#"{"after":9007199254740993,"room_id":"r"}"#,
        "Get /rooms/r/log?after=9007199254740993",
    );
    check("delete_edge", r#"{"id":"a"}"#, "Delete /edges/a");
}

#[test]
fn the_merged_pairs_take_their_other_path_or_silently_list() {
    let check = |tool: &str, arguments: &str, expected: &str| {
        assert_eq!(
            line(tool, arguments),
            format!("Get /code-graph/{expected}"),
            "{arguments}"
        );
    };
    check("code_communities", r#"{"repo":"r"}"#, "communities?repo=r");
    check(
        "code_communities",
        r#"{"community":3,"repo":"r"}"#,
        "community?repo=r&community=3",
    );
    check(
        "code_communities",
        r#"{"community":"3","repo":"r"}"#,
        "community?repo=r&community=3",
    );
    check(
        "code_communities",
        r#"{"community":3.0,"repo":"r"}"#,
        "community?repo=r&community=3",
    );
    for malformed in [r#""abc""#, "null", "3.5", "[3]", r#""""#, "true"] {
        check(
            "code_communities",
            &format!(r#"{{"community":{malformed},"repo":"r"}}"#),
            "communities?repo=r",
        );
    }
    check("code_hyperedges", r#"{"repo":"r"}"#, "hyperedges?repo=r");
    check(
        "code_hyperedges",
        r#"{"entity":"e","repo":"r"}"#,
        "hyperedges?repo=r&entity=e",
    );
    check(
        "code_hyperedges",
        r#"{"id":"h","repo":"r"}"#,
        "hyperedge?repo=r&id=h",
    );
    check(
        "code_hyperedges",
        r#"{"entity":"e","id":"h","repo":"r"}"#,
        "hyperedge?repo=r&id=h",
    );
    check(
        "code_hyperedges",
        r#"{"entity":"e","id":"","repo":"r"}"#,
        "hyperedges?repo=r&entity=e",
    );
}

#[test]
fn what_cannot_be_one_segment_is_told_by_its_name() {
    let check = |tool: &str, arguments: Value, expected: &[(&str, &str)]| {
        let violations = bound(tool, &arguments.to_string()).unwrap_err();
        let told: Vec<_> = violations
            .iter()
            .map(|violation| (violation.pointer.as_str(), violation.keyword.as_str()))
            .collect();
        assert_eq!(told, expected, "{arguments}");
    };
    for id in ["", ".", ".."] {
        check("get_memory", json!({"id": id}), &[("/id", "not")]);
    }
    check("get_memory", json!({}), &[("/id", "required")]);
    check(
        "chat_remove_participant",
        json!({"room_id": "..", "participant_id": "."}),
        &[("/room_id", "not"), ("/participant_id", "not")],
    );
    check(
        "get_memory",
        json!({"id": "x".repeat(20_000)}),
        &[("", "maxLength")],
    );
}

proptest! {
    #[test]
    fn whatever_an_argument_holds_it_stays_in_its_place(id in ".*", q in ".*") {
        let Ok(bound) = bound("get_memory", &json!({"id": id}).to_string()) else {
            prop_assert!(matches!(id.as_str(), "" | "." | "..") || id.len() > 1_000);
            return Ok(());
        };
        let url = url::Url::parse(&format!("http://x/api{}", bound.target)).unwrap();
        let segments: Vec<_> = url.path_segments().unwrap().collect();
        prop_assert_eq!(segments.len(), 3);
        let decoded = percent_encoding::percent_decode_str(segments[2]).decode_utf8().unwrap();
        prop_assert_eq!(decoded, id);
        prop_assert!(url.query().is_none() && url.fragment().is_none());
        let target = super::bind(
            registry::tool("search_entities").unwrap().http.as_ref().unwrap(),
            json!({"q": q}).to_string().as_bytes(),
        ).unwrap().target;
        let url = url::Url::parse(&format!("http://x{target}")).unwrap();
        let pairs: Vec<_> = url.query_pairs().collect();
        prop_assert_eq!(pairs.len(), usize::from(!q.is_empty()));
        if let Some((name, value)) = pairs.first() {
            prop_assert_eq!(name, "q");
            prop_assert_eq!(value, &q);
        }
    }
}
