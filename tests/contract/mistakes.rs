//! Mistakes in proto files fail the build, each with the place and what is wrong.

use super::source::emit;

/// A contract with one tool; the parts are the rpc's comment, the tool option and the request's fields.
fn tool(comment: &str, option: &str, fields: &str) -> String {
    format!(
        "// Samples.
service SampleService {{
  {comment}
  rpc Look(LookRequest) returns (LookResponse) {{ option (toolgate.v1.tool) = {{{option}}}; }}
}}
message LookRequest {{
  {fields}
}}
message LookResponse {{}}"
    )
}

const COMMENT: &str = "// Looks at it.";
const LOCAL: &str =
    r#"name: "look" title: "Look" adapter: "sample" group: GROUP_PLATFORM effect: EFFECT_LOCAL"#;

/// Two tools of the given names.
fn two_tools(first: &str, second: &str) -> String {
    format!(
        "// Samples.
service SampleService {{
  // Looks at it.
  rpc Look(LookRequest) returns (LookResponse) {{
    option (toolgate.v1.tool) = {{name: \"{first}\" title: \"Look\" adapter: \"sample\" group: GROUP_PLATFORM effect: EFFECT_LOCAL}};
  }}
  // Peeks at it.
  rpc Peek(PeekRequest) returns (PeekResponse) {{
    option (toolgate.v1.tool) = {{name: \"{second}\" title: \"Peek\" adapter: \"sample\" group: GROUP_PLATFORM effect: EFFECT_LOCAL}};
  }}
}}
message LookRequest {{}}
message LookResponse {{}}
message PeekRequest {{}}
message PeekResponse {{}}"
    )
}

/// A route and its request's fields.
fn route(option: &str, fields: &str) -> String {
    format!(
        "// Samples.
service SampleService {{
  // Gets it.
  rpc Get(GetRequest) returns (GetResponse) {{ option (toolgate.v1.rest) = {{{option}}}; }}
}}
message GetRequest {{ {fields} }}
message GetResponse {{}}"
    )
}

fn profile(option: &str) -> String {
    format!(
        "{}
enum Set {{
  SET_UNSPECIFIED = 0;
  // Some.
  SET_SOME = 1 [(toolgate.v1.profile) = {{{option}}}];
}}",
        tool(COMMENT, LOCAL, "")
    )
}

#[track_caller]
fn fails(source: &str, mistakes: &[&str]) {
    let found = match emit(source) {
        Ok(_) => panic!("this contract must not build:\n{source}"),
        Err(found) => found.0,
    };
    assert_eq!(found, mistakes, "{source}");
}

#[track_caller]
fn builds(source: &str) {
    if let Err(mistakes) = emit(source) {
        panic!("{mistakes}\n{source}");
    }
}

#[test]
fn a_contract_without_mistakes_builds() {
    builds(&tool(COMMENT, LOCAL, "// What.\n optional string what = 1;"));
    builds(&two_tools("sample.look", "sample.peek"));
    builds(&route(r#"verb: "GET" path: "/it/{id}""#, "string id = 1;"));
    builds(&profile(r#"name: "some" adapters: ["sample"] tools: ["look"]"#));
}

#[test]
fn a_tool_without_a_comment_fails_the_build() {
    fails(
        &tool("", LOCAL, ""),
        &["rpc sample.v1.SampleService.Look: a tool needs a comment; it is the tool's description"],
    );
}

#[test]
fn a_field_of_a_tool_without_a_comment_fails_the_build() {
    fails(
        &tool(COMMENT, LOCAL, "optional string what = 1;"),
        &[
            "field sample.v1.LookRequest.what: a field of a tool needs a comment; it is the field's description",
        ],
    );
    let nested = "message Inner { optional string deep = 1; }\n";
    fails(
        &format!(
            "{nested}{}",
            tool(COMMENT, LOCAL, "// In.\n repeated Inner inner = 1;")
        ),
        &["field sample.v1.Inner.deep: a field of a tool needs a comment; it is the field's description"],
    );
}

#[test]
fn a_tool_without_an_effect_fails_the_build() {
    fails(
        &tool(
            COMMENT,
            r#"name: "look" title: "Look" adapter: "sample" group: GROUP_PLATFORM"#,
            "",
        ),
        &["rpc sample.v1.SampleService.Look: a tool needs an effect"],
    );
}

#[test]
fn a_tool_without_title_or_adapter_fails_the_build() {
    fails(
        &tool(
            COMMENT,
            r#"name: "look" group: GROUP_PLATFORM effect: EFFECT_LOCAL"#,
            "",
        ),
        &[
            "rpc sample.v1.SampleService.Look: a tool needs a title",
            "rpc sample.v1.SampleService.Look: a tool needs an adapter",
        ],
    );
}

#[test]
fn an_infrastructure_tool_that_does_not_only_read_fails_the_build() {
    for adapter in ["proxmox", "ssh", "github", "gitea"] {
        for effect in ["EFFECT_WRITE", "EFFECT_LOCAL"] {
            let option = format!(
                r#"name: "{adapter}.look" title: "Look" adapter: "{adapter}" effect: {effect} freshness: FRESHNESS_LIVE"#
            );
            let mistake = format!(
                "rpc sample.v1.SampleService.Look: infrastructure is read-only: a tool of adapter {adapter} needs EFFECT_READ"
            );
            fails(&tool(COMMENT, &option, ""), &[&mistake]);
        }
    }
}

#[test]
fn an_infrastructure_tool_without_a_freshness_fails_the_build() {
    fails(
        &tool(
            COMMENT,
            r#"name: "ssh.look" title: "Look" adapter: "ssh" effect: EFFECT_READ"#,
            "",
        ),
        &["rpc sample.v1.SampleService.Look: an infrastructure tool needs a freshness"],
    );
}

#[test]
fn an_infrastructure_tool_outside_its_name_space_fails_the_build() {
    let option = r#"name: "look" title: "Look" adapter: "ssh" effect: EFFECT_READ freshness: FRESHNESS_LIVE"#;
    fails(
        &tool(COMMENT, option, ""),
        &["rpc sample.v1.SampleService.Look: the name look of an infrastructure tool must start with `ssh.`"],
    );
}

#[test]
fn an_infrastructure_tool_that_declares_target_id_fails_the_build() {
    let option =
        r#"name: "ssh.look" title: "Look" adapter: "ssh" effect: EFFECT_READ freshness: FRESHNESS_LIVE"#;
    fails(
        &tool(COMMENT, option, "// Where.\n optional string target_id = 1;"),
        &[
            "field sample.v1.LookRequest.target_id: target_id is injected into infrastructure tools; do not declare it",
        ],
    );
}

#[test]
fn two_tools_of_one_name_fail_the_build() {
    fails(
        &two_tools("look", "look"),
        &[
            "rpc sample.v1.SampleService.Peek: the name look is already that of rpc sample.v1.SampleService.Look",
        ],
    );
}

#[test]
fn two_names_with_one_alias_fail_the_build() {
    fails(
        &two_tools("a.b_c", "a_b.c"),
        &["rpc sample.v1.SampleService.Peek: the names a.b_c and a_b.c share the alias a_b_c"],
    );
    fails(
        &two_tools("a.b", "a_b"),
        &["rpc sample.v1.SampleService.Peek: the names a.b and a_b share the alias a_b"],
    );
}

#[test]
fn names_that_clients_cannot_carry_fail_the_build() {
    let with_name = |name: &str| {
        tool(
            COMMENT,
            &format!(
                r#"name: "{name}" title: "T" adapter: "sample" group: GROUP_PLATFORM effect: EFFECT_LOCAL"#
            ),
            "",
        )
    };
    let at = "rpc sample.v1.SampleService.Look";
    builds(&with_name(&"a".repeat(40)));
    let long = "a".repeat(41);
    fails(
        &with_name(&long),
        &[&format!("{at}: the name {long} is over 40 characters")],
    );
    fails(
        &with_name("look__at"),
        &[&format!(
            "{at}: the name look__at contains `__`, which clients use to separate servers from tools"
        )],
    );
    for name in [
        "", "Look", "look at", "löok", "look.", ".look", "a.b.c", "9look", "look-at", "look/at",
    ] {
        let mistake =
            format!("{at}: the name `{name}` is not of lower-case letters, digits, `_` and one `.` inside");
        fails(&with_name(name), &[&mistake]);
    }
}

#[test]
fn a_profile_of_unknown_tools_or_adapters_fails_the_build() {
    fails(
        &profile(r#"name: "some" tools: ["loook"]"#),
        &["profile sample.v1.SET_SOME: no tool is named loook"],
    );
    fails(
        &profile(r#"name: "some" adapters: ["sampel"]"#),
        &["profile sample.v1.SET_SOME: no tool has the adapter sampel"],
    );
}

#[test]
fn a_profile_without_name_or_comment_or_with_a_taken_name_fails_the_build() {
    let source = format!(
        r#"{}
enum Set {{
  SET_UNSPECIFIED = 0;
  SET_BARE = 1 [(toolgate.v1.profile) = {{tools: ["look"]}}];
  // Some.
  SET_SOME = 2 [(toolgate.v1.profile) = {{name: "some"}}];
  // More.
  SET_MORE = 3 [(toolgate.v1.profile) = {{name: "some"}}];
}}"#,
        tool(COMMENT, LOCAL, "")
    );
    fails(
        &source,
        &[
            "profile sample.v1.SET_BARE: a profile needs a comment; it is the profile's description",
            "profile sample.v1.SET_BARE: a profile needs a name",
            "profile sample.v1.SET_MORE: there is already a profile named some",
        ],
    );
}

#[test]
fn a_path_variable_that_is_no_text_field_fails_the_build() {
    let at = "rpc sample.v1.SampleService.Get: the path variable {id}";
    let option = r#"verb: "GET" path: "/it/{id}""#;
    fails(
        &route(option, "string name = 1;"),
        &[&format!("{at} is no field of sample.v1.GetRequest")],
    );
    for fields in ["repeated string id = 1;", "int32 id = 1;"] {
        fails(
            &route(option, fields),
            &[&format!("{at} must be a single string or int64")],
        );
    }
}

#[test]
fn a_route_that_no_server_could_offer_fails_the_build() {
    let at = "rpc sample.v1.SampleService.Get";
    for (option, mistake) in [
        (
            r#"verb: "get" path: "/it""#,
            "the verb `get` is none of GET, POST, PUT, PATCH, DELETE",
        ),
        (r#"verb: "GET" path: "it""#, "the path `it` must start with `/`"),
        (
            r#"verb: "GET" path: "/it" body: "id""#,
            "the body is `*` or absent, not `id`",
        ),
        (
            r#"verb: "GET" path: "/it" success: 302"#,
            "the success status 302 is not between 200 and 299",
        ),
        (
            r#"verb: "GET" path: "/it" download: "text/plain""#,
            "a download streams responses with a `bytes chunk`",
        ),
    ] {
        fails(&route(option, ""), &[&format!("{at}: {mistake}")]);
    }
}

#[test]
fn two_routes_of_one_verb_and_path_fail_the_build() {
    let source = r#"
// Samples.
service SampleService {
  // Gets it.
  rpc Get(GetRequest) returns (GetResponse) { option (toolgate.v1.rest) = {verb: "GET" path: "/it/{id}"}; }
  // Reads it.
  rpc Read(ReadRequest) returns (ReadResponse) { option (toolgate.v1.rest) = {verb: "GET" path: "/it/{name}"}; }
  // Drops it.
  rpc Drop(DropRequest) returns (DropResponse) { option (toolgate.v1.rest) = {verb: "DELETE" path: "/it/{id}"}; }
}
message GetRequest { string id = 1; }
message GetResponse {}
message ReadRequest { string name = 1; }
message ReadResponse {}
message DropRequest { string id = 1; }
message DropResponse {}"#;
    fails(
        source,
        &[
            "rpc sample.v1.SampleService.Read: GET /it/{name} is already the route of rpc sample.v1.SampleService.Get",
        ],
    );
}

#[test]
fn a_required_scalar_whose_absence_cannot_be_seen_fails_the_build() {
    for kind in ["string", "bool", "int64", "double", "bytes"] {
        fails(
            &tool(
                COMMENT,
                LOCAL,
                &format!("// What.\n {kind} what = 1 [(toolgate.v1.rules) = {{required: true}}];"),
            ),
            &[
                "field sample.v1.LookRequest.what: a required scalar must be `optional`, or its absence could not be seen",
            ],
        );
        builds(&tool(
            COMMENT,
            LOCAL,
            &format!("// What.\n optional {kind} what = 1 [(toolgate.v1.rules) = {{required: true}}];"),
        ));
    }
}

#[test]
fn a_message_that_contains_itself_fails_the_build() {
    let tree = "message Tree {\n // More.\n repeated Tree children = 1; }\n";
    fails(
        &format!("{tree}{}", tool(COMMENT, LOCAL, "// Root.\n Tree root = 1;")),
        &["message sample.v1.Tree: a message of a tool may not contain itself"],
    );
    // Twice beside each other is no recursion.
    let leaf = "message Leaf {\n // Name.\n optional string name = 1; }\n";
    builds(&format!(
        "{leaf}{}",
        tool(
            COMMENT,
            LOCAL,
            "// One.\n Leaf one = 1;\n // Two.\n Leaf two = 2;"
        )
    ));
}

#[test]
fn an_enum_in_a_tool_fails_the_build() {
    let kind = "enum Kind { KIND_UNSPECIFIED = 0; }\n";
    fails(
        &format!(
            "{kind}{}",
            tool(COMMENT, LOCAL, "// Kind.\n optional Kind kind = 1;")
        ),
        &[
            "field sample.v1.LookRequest.kind: a value set of a tool is a `string` with `(rules).in`, not an enum",
        ],
    );
}

#[test]
fn rules_that_cannot_be_published_fail_the_build() {
    let field = |rules: &str| {
        tool(
            COMMENT,
            LOCAL,
            &format!("// What.\n optional string what = 1 [(toolgate.v1.rules) = {{{rules}}}];"),
        )
    };
    let at = "field sample.v1.LookRequest.what";
    fails(
        &field(r#"pattern: "a+""#),
        &[&format!("{at}: a pattern must start with `^` and end with `$`")],
    );
    for (rule, keyword) in [("default_json", "default"), ("example_json", "examples")] {
        fails(
            &field(&format!(r#"{rule}: "hour""#)),
            &[&format!(
                "{at}: the {keyword} is not JSON: expected value at line 1 column 1"
            )],
        );
    }
}

/// A tool of a back end: what its request is, and its fields.
fn bound(http: &str, fields: &str) -> String {
    let option = format!(
        r#"name: "look" title: "Look" adapter: "agent-sample" group: GROUP_MEMORY effect: EFFECT_READ http: {{{http}}}"#
    );
    tool(COMMENT, &option, fields)
}

#[test]
fn a_request_that_no_back_end_could_be_sent_fails_the_build() {
    const RULES: &str = "[(toolgate.v1.rules) = {required: true}]";
    const ID: &str = "// Id.\n optional string id = 1 [(toolgate.v1.rules) = {required: true}];";
    builds(&bound(r#"get: "/it/{id}""#, ID));
    let check = |http: &str, fields: &str, mistakes: &[&str]| {
        let told: Vec<String> = mistakes
            .iter()
            .map(|what| format!("rpc sample.v1.SampleService.Look: {what}"))
            .collect();
        fails(
            &bound(http, fields),
            &told.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    };
    check("", ID, &["the request needs a method and a path"]);
    check(r#"get: "it""#, "", &["the path it must start with `/`"]);
    check(r#"get: "/it/{it}""#, ID, &["the path variable it is no argument"]);
    check(
        r#"get: "/it/{id}""#,
        "// Id.\n optional string id = 1;",
        &["the path variable id must be required, or have something to stand in for it"],
    );
    check(
        r#"get: "/it/{id}""#,
        &format!("// Id.\n optional int64 id = 1 {RULES};"),
        &["the path variable id must be text"],
    );
    check(
        r#"delete: "/it" constants: {key: "a" value: "b"}"#,
        "",
        &["a request by Delete has no body"],
    );
    check(r#"post: "/it" body: "no""#, ID, &["the body no is no argument"]);
    check(
        r#"post: "/it" body: "id""#,
        &format!("{ID}\n// More.\n optional string more = 2;"),
        &["id is the whole body, so there is no room for other arguments"],
    );
    check(
        r#"get: "/it" alternative: {discriminator: "id" form: FORM_INTEGER path: "/one" query: ["no"]}"#,
        ID,
        &[
            "no of the other path is no argument",
            "the other path does not send what chooses it, id",
        ],
    );
    check(
        r#"get: "/it" alternative: {discriminator: "id" path: "/one" query: ["id"]}"#,
        ID,
        &["the other path needs a form"],
    );
}

#[test]
fn a_tool_is_bound_to_a_request_exactly_if_a_back_end_answers_it() {
    let without =
        r#"name: "look" title: "Look" adapter: "agent-sample" group: GROUP_MEMORY effect: EFFECT_READ"#;
    let local = r#"name: "look" title: "Look" adapter: "sample" group: GROUP_MEMORY effect: EFFECT_LOCAL http: {get: "/"}"#;
    for option in [without, local] {
        fails(
            &tool(COMMENT, option, ""),
            &[
                "rpc sample.v1.SampleService.Look: a tool has an HTTP request exactly if its adapter is a back end of agents",
            ],
        );
    }
    let no_group = r#"name: "look" title: "Look" adapter: "sample" effect: EFFECT_LOCAL"#;
    fails(
        &tool(COMMENT, no_group, ""),
        &["rpc sample.v1.SampleService.Look: a tool that is not of infrastructure needs a group"],
    );
    let local_back_end = r#"name: "look" title: "Look" adapter: "agent-sample" group: GROUP_MEMORY effect: EFFECT_LOCAL http: {get: "/"}"#;
    fails(
        &tool(COMMENT, local_back_end, ""),
        &["rpc sample.v1.SampleService.Look: a tool of a back end reads or writes; it is not local"],
    );
}

#[test]
fn a_profile_of_groups_that_no_tool_is_of_fails_the_build() {
    builds(&profile(
        r#"name: "some" groups: [GROUP_PLATFORM] task_kinds: ["a"]"#,
    ));
    fails(
        &profile(r#"name: "some" groups: [GROUP_CHAT]"#),
        &["profile sample.v1.SET_SOME: no tool is of the group 4"],
    );
    let shared = r#"
enum Set {
  option (toolgate.v1.profiles) = {always_on: ["no_such_tool"]};
  SET_UNSPECIFIED = 0;
  // Some.
  SET_SOME = 1 [(toolgate.v1.profile) = {name: "some" task_kinds: ["a"]}];
  // Other.
  SET_OTHER = 2 [(toolgate.v1.profile) = {name: "other" task_kinds: ["a"]}];
}"#;
    fails(
        &format!("{}{shared}", tool(COMMENT, LOCAL, "")),
        &[
            "enum sample.v1.Set: no tool is named no_such_tool",
            "profile sample.v1.SET_OTHER: tasks of kind a already get the profile some",
        ],
    );
}

#[test]
fn every_mistake_is_told_at_once() {
    let source = tool(
        "",
        r#"name: "look" group: GROUP_PLATFORM"#,
        "string what = 1 [(toolgate.v1.rules) = {required: true}];",
    );
    let Err(mistakes) = emit(&source) else {
        panic!("this contract must not build")
    };
    assert_eq!(mistakes.0.len(), 6, "{mistakes}");
}
