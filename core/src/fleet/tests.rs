use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_contract::splice;

use super::{Definition, ToolList, filter::only_reads, pipeline::Pipeline};

const STORY: &str = r##"{ "name":"create_story","x-unknown":[1, 2.50,9007199254740993],"title":"Create","description":"Makes \u0061 story.","inputSchema":{"$defs":{"a":{"type":"string"}},"type":"object","required":["name"],"properties":{"name":{"$ref":"#/$defs/a"}},"additionalProperties":false},"outputSchema":{"type":"object"},"_meta":{"k":1e2}}"##;

fn told(raw: &str) -> Arc<Definition> {
    Arc::new(Definition::read(raw).expect("a tool"))
}

fn list(project: &str, raws: &[&str]) -> ToolList {
    ToolList::publish(project, raws.iter().map(|raw| told(raw)).collect())
}

fn named(name: &str) -> String {
    json!({"name": name, "inputSchema": {"type": "object"}}).to_string()
}

#[test]
fn a_published_tool_is_its_projects_bytes_but_for_the_routing_argument() {
    let list = list("alpha", &[STORY]);
    let published = std::str::from_utf8(&list.tools()[0].definition).expect("text");
    let added = splice::at(published, &["inputSchema", "properties", "project"])
        .expect("an object")
        .expect("there");
    let added: Value = serde_json::from_str(added).expect("json");
    assert_eq!(added["type"], "string");
    // Without it, the text is the one that the project told.
    let schema = splice::member(published, "inputSchema").unwrap().unwrap();
    let properties = splice::member(schema, "properties").unwrap().unwrap();
    let (without, _) = splice::without(properties, "project").unwrap();
    let schema_without = splice::in_place_of(schema, properties, &without);
    assert_eq!(splice::in_place_of(published, schema, &schema_without), STORY);
}

#[test]
fn a_tool_with_a_project_of_its_own_is_routed_beside_it() {
    let own = r#"{"name":"t","inputSchema":{"type":"object","properties":{"project":{"type":"integer"}}}}"#;
    let list = list("alpha", &[own]);
    let tool = list.find("t").expect("published");
    assert!(tool.tool.has_project);
    let schema: Value = serde_json::from_slice(&tool.input_schema).expect("json");
    assert_eq!(schema["properties"]["project"], json!({"type": "integer"}));
    assert_eq!(schema["properties"]["toolgate_project"]["type"], "string");
}

#[test]
fn schemas_of_other_forms_keep_their_form() {
    for (schema, expected) in [
        (None, r#"{"type":"object","properties":{"project":"#),
        (
            Some(r#"{"type":"object"}"#),
            r#"{"type":"object","properties":{"project":"#,
        ),
        (Some("true"), "true"),
        (Some(r#"{"properties":5}"#), r#"{"properties":5}"#),
    ] {
        let raw = match schema {
            Some(schema) => format!(r#"{{"name":"t","inputSchema":{schema}}}"#),
            None => r#"{"name":"t"}"#.to_owned(),
        };
        let list = list("alpha", &[&raw]);
        let schema = std::str::from_utf8(&list.tools()[0].input_schema)
            .expect("text")
            .to_owned();
        assert!(schema.starts_with(expected), "{raw}: {schema}");
    }
}

#[test]
fn a_name_of_the_gateways_is_never_a_projects() {
    let list = list(
        "alpha",
        &[
            &named("query"),
            &named("ssh_exec"),
            &named("proxmox.list_vms"),
            &named("GitHub_create_issue"),
            &named("mine"),
        ],
    );
    let names: Vec<&str> = list.tools().iter().map(|tool| &*tool.name).collect();
    assert_eq!(
        names,
        [
            "alpha_GitHub_create_issue",
            "alpha_proxmox.list_vms",
            "alpha_query",
            "alpha_ssh_exec",
            "mine"
        ]
    );
    assert_eq!(
        list.find("alpha_query").map(|tool| &*tool.tool.own_name),
        Some("query")
    );
    assert_eq!(
        &*list
            .find("alpha_proxmox_list_vms")
            .expect("made fit")
            .tool
            .own_name,
        "proxmox.list_vms"
    );
    // What only reads so to a client of OpenAI is one as well.
    let odd = self::list(
        "alpha",
        &[
            &named("ssh!run_whitelisted_command"),
            &named("list.projects"),
            &named("proxmox!stop_vm"),
        ],
    );
    assert!(
        odd.tools().iter().all(|tool| tool.name.starts_with("alpha_")),
        "{odd:?}"
    );
    // Two that end at one name: the second is left out, and the first is the one that is called.
    let twice = self::list("alpha", &[&named("a.b"), &named("a_b"), &named("a.b")]);
    let names: Vec<&str> = twice.tools().iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["a.b"]);
    // A project's name may make a name of the gateway's.
    let find = self::list("find", &[&named("tools"), &named("query")]);
    let names: Vec<&str> = find.tools().iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["find_query", "tools"]);
}

#[test]
fn what_is_no_tool_or_plays_tricks_with_its_name_is_left_out() {
    let long = "n".repeat(129);
    for raw in [
        "{}",
        "[]",
        "5",
        r#"{"name":5}"#,
        r#"{"name":""}"#,
        r#"{"name":"a b"}"#,
        r#"{"name":"a\u0000b"}"#,
        "{\"name\":\"a\u{202e}b\"}",
        "{\"name\":\"a\u{200b}b\"}",
        r#"{"name":"a","name":"b"}"#,
        &named(&long),
    ] {
        assert!(Definition::read(raw).is_none(), "{raw}");
    }
}

#[test]
fn a_hint_narrows_only_when_it_is_true() {
    for (annotations, read_only) in [
        (r#"{"readOnlyHint":true}"#, true),
        (r#"{"readOnlyHint":false}"#, false),
        (r#"{"readOnlyHint":null}"#, false),
        ("{}", false),
        ("null", false),
    ] {
        let raw = format!(r#"{{"name":"t","annotations":{annotations}}}"#);
        assert_eq!(told(&raw).read_only, read_only, "{raw}");
    }
    // What is no truth value is none, and costs no tool.
    assert!(!told(r#"{"name":"t","annotations":{"readOnlyHint":"true"}}"#).read_only);
}

#[test]
fn a_hash_tells_every_text_and_no_order() {
    let (one, other) = (named("one"), named("other"));
    let hash = |raws: &[&str]| list("alpha", raws).hash;
    assert_eq!(hash(&[&one, &other]), hash(&[&other, &one]));
    let changed = one.replace("object", "objecu");
    assert_ne!(hash(&[&one, &other]), hash(&[&changed, &other]));
    assert_ne!(hash(&[&one, &other]), hash(&[&one]));
    assert_eq!(list("alpha", &[&one]).hash, list("beta", &[&one]).hash);
}

#[test]
fn a_schema_is_held_against_arguments_unless_it_is_too_much_or_leads_elsewhere() {
    let strict = told(STORY);
    let violations = strict
        .schema()
        .expect("compiled")
        .violations(&json!({"name": 5}), b"{}");
    assert_eq!(violations.len(), 1);
    let elsewhere = r#"{"name":"t","inputSchema":{"$ref":"https://example.org/schema.json"}}"#;
    assert!(told(elsewhere).schema().is_none());
    let long = format!(
        r#"{{"name":"t","inputSchema":{{"description":"{}"}}}}"#,
        "x".repeat(70_000)
    );
    assert!(told(&long).schema().is_none());
}

#[test]
fn a_list_without_writes_is_the_rest_byte_for_byte() {
    let reads = r#"{"name":"r" ,"annotations":{"readOnlyHint":true},"n":9007199254740993}"#;
    let writes = r#"{"name":"w"}"#;
    let result = format!(r#"{{"_meta":{{"a":1}} ,"tools":[{writes}, {reads},{writes}],"nextCursor":"c"}}"#);
    let kept = only_reads(&result.into()).expect("a list");
    assert_eq!(
        std::str::from_utf8(&kept).expect("text"),
        format!(r#"{{"_meta":{{"a":1}} ,"tools":[{reads}],"nextCursor":"c"}}"#)
    );
    assert_eq!(only_reads(&"{}".into()), None);
    assert_eq!(only_reads(&r#"{"tools":{}}"#.into()), None);
}

#[test]
fn a_pipeline_is_read_in_the_forms_that_projects_tell_it() {
    let stages = |structured: &Value| Pipeline::read(structured).map(|pipeline| pipeline.stages);
    let expected = Some(vec![("build".to_owned(), 2), ("test".to_owned(), 0)]);
    assert_eq!(
        stages(&json!({"stages": [{"name": "build", "count": 2}, {"stage": "test", "count": 0}]})),
        expected
    );
    assert_eq!(
        stages(&json!({"stages": {"build": 2, "test": {"count": 0}}})),
        expected
    );
    assert_eq!(
        stages(&json!({"stages": {"build": [{"id": 1}, {"id": 2}], "test": []}})),
        expected
    );
    for nothing in [
        json!(null),
        json!([]),
        json!({}),
        json!({"stages": 5}),
        json!({"stages": [{"name": "a"}]}),
        json!({"stages": {"a": -1}}),
    ] {
        assert_eq!(Pipeline::read(&nothing), None, "{nothing}");
    }
    let found = Pipeline::read(&json!({"items": [
        {"id": 7, "title": "Login", "stage": "qa", "state": "blocked"},
        {"id": "8", "title": "Logout", "stage": "qa", "status": "FAILED"},
        {"id": "9", "title": "Done", "stage": "done", "state": "ok"},
        {"id": "10", "name": "Stuck\u{1b}[31m", "stage": "qa", "blocked": true},
    ]}))
    .expect("items");
    assert_eq!(found.stages, [("done".to_owned(), 1), ("qa".to_owned(), 3)]);
    let told: Vec<_> = found
        .attention
        .iter()
        .map(|item| (&*item.id, &*item.title, &*item.state))
        .collect();
    assert_eq!(
        told,
        [
            ("7", "Login", "blocked"),
            ("8", "Logout", "FAILED"),
            ("10", "Stuck [31m", "blocked")
        ]
    );
    let many: Vec<Value> = (0..500).map(|id| json!({"id": id, "state": "blocked"})).collect();
    assert_eq!(
        Pipeline::read(&json!({"items": many}))
            .expect("items")
            .attention
            .len(),
        100
    );
}

proptest! {
    #[test]
    fn nothing_a_project_tells_makes_it_panic(raw in r#"[\\"{}\[\],:a-z0 $]{0,60}"#, name in ".{0,20}") {
        let told = [raw, json!({"name": name, "inputSchema": {"properties": {"project": 1}}}).to_string()];
        let tools: Vec<_> = told.iter().filter_map(|raw| Definition::read(raw)).map(Arc::new).collect();
        let list = ToolList::publish("alpha", tools);
        for tool in list.tools() {
            prop_assert!(serde_json::from_slice::<Value>(&tool.definition).is_ok());
        }
    }
}
