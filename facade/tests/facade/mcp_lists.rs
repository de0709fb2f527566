//! `tools/list`: one page, one form for each era, and each caller's own.

use serde_json::{Value, json};
use toolgate_contract::v1::{ErrorReason, Failure, ListToolsResponse, ToolAnnotations, ToolDescription};
use toolgate_facade::{FacadeConfig, ToolNames};

use crate::{core::ScriptedCore, mcp::request, world::World};

fn catalog(version: &str, names: &[&str]) -> ListToolsResponse {
    let tool = |name: &&str| {
        ToolDescription {
        name: (*name).into(),
        function_name: name.replace('.', "_"),
        title: format!("Title of {name}"),
        description: "Reads.".into(),
        input_schema: r##"{"type":"object","properties":{"z":{"$ref":"#/$defs/z"}},"$defs":{"z":{"maximum":9007199254740993}},"additionalProperties":false}"##.into(),
        output_schema: r#"{"type":"object"}"#.into(),
        annotations: Some(ToolAnnotations { read_only_hint: true }),
        adapter_type: "ssh".into(),
        freshness: "live".into(),
        targets: vec![], ..Default::default() }
    };
    ListToolsResponse {
        tools: names.iter().map(tool).collect(),
        version: version.into(),
        unchanged: false,
    }
}

async fn world(names: ToolNames) -> World {
    let core = ScriptedCore::new();
    *core.tools.lock().unwrap() = catalog("v1", &["a.one", "b.two"]);
    World::with(
        core,
        FacadeConfig {
            tool_names: names,
            ..FacadeConfig::default()
        },
    )
    .await
}

fn names(result: &Value) -> Vec<&str> {
    result["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

/// T1, and reports #19, #28, #29 and #35.
#[tokio::test]
async fn the_whole_list_is_on_one_page_with_its_schemas_untouched() {
    let world = world(ToolNames::Underscore).await;
    let answer = world.say(&[], request(1, "tools/list", json!({}))).await;
    let schema = r##""inputSchema":{"type":"object","properties":{"z":{"$ref":"#/$defs/z"}},"$defs":{"z":{"maximum":9007199254740993}},"additionalProperties":false}"##;
    assert!(answer.text().contains(schema), "{}", answer.text());
    let result = answer.result();
    assert_eq!(names(&result), ["a_one", "b_two"]);
    assert!(result.get("nextCursor").is_none());
    assert_eq!(result["tools"][0]["_meta"]["toolgate/name"], "a.one");
    assert_eq!(result["tools"][0]["title"], "Title of a.one");
    for wrong in [json!("2"), json!(""), json!(7), json!({})] {
        world
            .say(&[], request(1, "tools/list", json!({"cursor": wrong})))
            .await
            .fault(200, -32602);
    }
    // Parameters may be absent altogether.
    world
        .say(&[], r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await
        .result();
}

#[tokio::test]
async fn names_are_spelt_as_the_operator_chose() {
    let world = world(ToolNames::Canonical).await;
    let answer = world.say(&[], request(1, "tools/list", json!({}))).await;
    assert_eq!(names(&answer.result()), ["a.one", "b.two"]);
}

/// Caching of revision 2026-07-28: a list is one caller's own.
#[tokio::test]
async fn the_newest_revision_is_told_how_long_a_list_may_be_kept_and_for_whom() {
    let world = world(ToolNames::Underscore).await;
    let result = world.modern("tools/list", json!({})).await.result();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        (&result["cacheScope"], result["ttlMs"].as_u64().is_some()),
        (&json!("private"), true)
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "toolgate"
    );
    let legacy = world.say(&[], request(1, "tools/list", json!({}))).await.result();
    assert_eq!(legacy["tools"], result["tools"]);
    assert_eq!(legacy.as_object().unwrap().len(), 1, "{legacy}");
}

#[tokio::test]
async fn a_known_list_is_not_fetched_again_and_a_new_one_is_told_at_once() {
    let world = world(ToolNames::Underscore).await;
    let ask = async || {
        let answer = world.say(&[], request(1, "tools/list", json!({}))).await;
        names(&answer.result()).len()
    };
    assert_eq!((ask().await, ask().await), (2, 2));
    *world.core.tools.lock().unwrap() = catalog("v2", &["c.three"]);
    assert_eq!((ask().await, ask().await), (1, 1));
    let known: Vec<_> = world
        .core
        .asked("ListTools")
        .into_iter()
        .map(|asked| asked.message)
        .collect();
    for (message, expected) in known.iter().zip(["None", "v1", "v1", "v2"]) {
        assert!(message.contains(expected), "{message}");
    }
}

/// No list of one caller, profile or form ever goes to another.
#[tokio::test]
async fn each_caller_and_profile_has_a_list_of_its_own() {
    let world = world(ToolNames::Underscore).await;
    let body = || request(1, "tools/list", json!({}));
    world.say(&[], body()).await.result();
    // The scripted core answers unchanged only to the version it has now, so a foreign list would show here.
    *world.core.tools.lock().unwrap() = catalog("v2", &["c.three"]);
    let other = world.ask("POST", "/mcp/p/other", &[], body()).await.result();
    assert_eq!(names(&other), ["c_three"]);
    let asked = world.core.asked("ListTools");
    assert!(asked[1].message.contains("None"), "{}", asked[1].message);
    // REST's form is never MCP's.
    let rest = world.get("/api/mcp/tools").await.json();
    assert_eq!(rest["tools"][0]["name"], "c.three");
    assert_eq!(names(&world.say(&[], body()).await.result()), ["c_three"]);
}

/// A list cannot be an error by itself, so HTTP and the code say it.
#[tokio::test]
async fn a_list_that_is_refused_is_an_error_with_the_status_of_http() {
    let check = async |failure: Failure, status: u16, code: i64, challenge: &str| {
        let reason = failure.reason().name();
        let world = World::with(ScriptedCore::failing(failure), FacadeConfig::default()).await;
        for modern in [false, true] {
            let answer = match modern {
                false => world.say(&[], request(1, "tools/list", json!({}))).await,
                true => world.modern("tools/list", json!({})).await,
            };
            let json = answer.fault(status, code);
            assert_eq!(
                (&json["id"], &json["error"]["data"]["reason"]),
                (&json!(1), &json!(reason))
            );
            assert_eq!(answer.header("www-authenticate"), challenge, "{reason}");
        }
    };
    let failure = |reason| Failure::new(reason, "what happened; what to do");
    check(
        failure(ErrorReason::CredentialInvalid),
        401,
        401,
        "Bearer realm=\"toolgate\", error=\"invalid_token\"",
    )
    .await;
    check(
        failure(ErrorReason::RoleForbidden),
        403,
        403,
        "Bearer realm=\"toolgate\", error=\"insufficient_scope\"",
    )
    .await;
    check(failure(ErrorReason::Overloaded), 503, 503, "").await;
    check(failure(ErrorReason::AuditUnavailable), 503, 503, "").await;
    check(failure(ErrorReason::ProjectNotFound), 200, -32602, "").await;
    check(failure(ErrorReason::ProjectOffline), 200, -32603, "").await;
    check(failure(ErrorReason::Internal), 200, -32603, "").await;
    let limited = failure(ErrorReason::RateLimited).retry_after(std::time::Duration::from_secs(4));
    let world = World::with(ScriptedCore::failing(limited), FacadeConfig::default()).await;
    let answer = world.say(&[], request(1, "tools/list", json!({}))).await;
    assert_eq!(answer.fault(429, 429)["error"]["data"]["retryAfter"], 4);
    assert_eq!(answer.header("retry-after"), "4");
}
