//! `GET /openai/v1/tools`: the catalog in either form.

use serde_json::json;
use toolgate_contract::v1::{ErrorReason, Failure, ListToolsResponse, TargetChoice, ToolDescription};

use crate::{challenges::CHALLENGE, world::World};

const TOOLS: &str = "/openai/v1/tools";
const RESPONSES: &str = "/openai/v1/tools?format=responses";

fn catalog(version: &str) -> ListToolsResponse {
    let target = |n: u8| TargetChoice {
        id: format!("01T{n}"),
        name: format!("pve-{n}"),
    };
    ListToolsResponse {
        tools: vec![ToolDescription {
            name: "proxmox.list_vms".into(),
            function_name: "proxmox_list_vms".into(),
            description: "Lists the guests of a cluster.".into(),
            input_schema: r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","z":1,"type":"object","properties":{"a":{"maximum":9007199254740993}}}"#.into(),
            output_schema: r#"{"type":"object"}"#.into(),
            targets: vec![target(1), target(2)],
            ..Default::default()
        }],
        version: version.into(),
        unchanged: false,
    }
}

#[tokio::test]
async fn tools_are_listed_as_chat_completions_want_them() {
    let world = World::start().await;
    *world.core.tools.lock().unwrap() = catalog("v7");
    let answer = world.get(TOOLS).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("etag"), "\"v7\"");
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(
        answer.text(),
        concat!(
            r#"{"tools":[{"type":"function","function":{"name":"proxmox_list_vms","#,
            r#""description":"Lists the guests of a cluster.\n\nTargets, for `target_id`: 01T1 (pve-1), 01T2 (pve-2)","#,
            r#""parameters":{"z":1,"type":"object","properties":{"a":{"maximum":9007199254740993}}},"#,
            r#""strict":false}}]}"#
        )
    );
    let asked = &world.core.asked("ListTools")[0];
    assert_eq!(asked.metadata["toolgate-facade"], "openai");
    assert_eq!(asked.metadata["authorization"], "Bearer tgk_t_secret");
    assert_eq!(world.get("/openai/v1/tools?format=chat").await.body, answer.body);
}

#[tokio::test]
async fn tools_are_listed_flat_for_the_responses_api() {
    let world = World::start().await;
    *world.core.tools.lock().unwrap() = catalog("v7");
    let answer = world.get(RESPONSES).await.json();
    assert_eq!(answer["tools"][0]["type"], "function");
    assert_eq!(answer["tools"][0]["name"], "proxmox_list_vms");
    assert_eq!(answer["tools"][0]["strict"], false);
    assert_eq!(answer["tools"][0].as_object().unwrap().len(), 5);
}

#[tokio::test]
async fn a_known_list_is_not_sent_again_and_no_form_is_given_for_the_other() {
    let world = World::start().await;
    *world.core.tools.lock().unwrap() = catalog("v7");
    let chat = world.get(TOOLS).await;
    let responses = world.get(RESPONSES).await;
    assert_ne!(chat.body, responses.body);
    assert_eq!(world.get(TOOLS).await.body, chat.body);
    assert_eq!(world.get(RESPONSES).await.body, responses.body);
    for path in [TOOLS, RESPONSES] {
        let tagged = world.ask("GET", path, &[("if-none-match", "\"v7\"")], "").await;
        assert_eq!((tagged.status.as_u16(), tagged.body.len()), (304, 0));
    }
    *world.core.tools.lock().unwrap() = catalog("v8");
    let changed = world.ask("GET", TOOLS, &[("if-none-match", "\"v7\"")], "").await;
    assert_eq!((changed.status.as_u16(), changed.header("etag")), (200, "\"v8\""));
}

#[tokio::test]
async fn every_tool_of_the_registry_is_listed_as_the_api_takes_it() {
    let world = World::start().await;
    let tools = toolgate_contract::registry::TOOLS
        .iter()
        .map(|tool| ToolDescription {
            name: tool.name.into(),
            function_name: tool.function_name.into(),
            description: tool.description.into(),
            input_schema: tool.input_schema.into(),
            ..Default::default()
        });
    *world.core.tools.lock().unwrap() = ListToolsResponse {
        tools: tools.collect(),
        version: "v1".into(),
        unchanged: false,
    };
    let listed = world.get(TOOLS).await.json();
    let listed = listed["tools"].as_array().unwrap();
    assert_eq!(listed.len(), toolgate_contract::registry::TOOLS.len());
    for tool in listed {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap();
        assert!(
            name.len() <= 64
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            "{name}"
        );
        assert!(
            function["description"].as_str().unwrap().chars().count() <= 1024,
            "{name}"
        );
        assert_eq!(function["parameters"]["type"], "object", "{name}");
        assert!(function["parameters"]["properties"].is_object(), "{name}");
        assert!(function["parameters"].get("$schema").is_none(), "{name}");
        assert!(function["strict"].is_boolean(), "{name}");
    }
}

#[tokio::test]
async fn what_is_not_known_of_a_query_is_refused_by_name() {
    let world = World::start().await;
    let check = async |query: &str, named: &str| {
        let problem = world
            .get(&format!("{TOOLS}?{query}"))
            .await
            .problem(400, "REQUEST_MALFORMED");
        assert!(problem["detail"].as_str().unwrap().contains(named), "{problem}");
    };
    check("format=mcp", "\"mcp\"").await;
    check("format=", "\"\"").await;
    check("access_token=tgk_t_secret", "\"access_token\"").await;
    check("format=chat&format=chat", "twice").await;
    assert!(world.core.asked("ListTools").is_empty());
}

#[tokio::test]
async fn a_refused_list_is_a_problem() {
    let world = World::start().await;
    *world.core.failure.lock().unwrap() = Some(Failure::new(ErrorReason::CredentialInvalid, "sign in again"));
    let answer = world.get(TOOLS).await;
    answer.problem(401, "CREDENTIAL_INVALID");
    assert_eq!(answer.header("www-authenticate"), CHALLENGE);
    *world.core.failure.lock().unwrap() =
        Some(Failure::new(ErrorReason::RoleForbidden, "auditors call nothing"));
    world.get(TOOLS).await.problem(403, "ROLE_FORBIDDEN");
    let other = world.ask("DELETE", TOOLS, &[], "").await;
    assert_eq!(other.status, 405);
    assert_eq!(json!(other.header("allow")), "GET,HEAD");
}
