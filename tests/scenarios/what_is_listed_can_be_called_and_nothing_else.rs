//! Under every profile and policy, and in every dialect: what the list names can be called, in either spelling, and what
//! it does not name answers as if it did not exist.

use std::collections::BTreeSet;

use serde_json::json;
use toolgate_contract::registry::{Effect, Group, PROFILES, TOOLS, ToolDef};
use toolgate_test_support::{BackEnds, Caller, Dialect, World};

const SWITCHED_OFF: &str = "github.get_workflow_run";

/// What a tenant has for tools of agents: a back end of each type with this access, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    Nothing,
    ReadOnly,
    ReadWrite,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_listed_can_be_called_and_nothing_else() {
    let profiles = PROFILES.iter().map(|profile| Some(profile.name)).chain([None]);
    check(Has::Nothing, &profiles.collect::<Vec<_>>()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_listed_of_the_tools_of_agents_can_be_called_and_nothing_else() {
    for has in [Has::ReadOnly, Has::ReadWrite] {
        check(has, &[None, Some("hosts"), Some("review"), Some("lifecycle")]).await;
    }
}

async fn check(has: Has, profiles: &[Option<&str>]) {
    let world = World::new().unlimited().host("web-1").start().await;
    let off = json!({"disabledTools": [SWITCHED_OFF]});
    let changed = world
        .admin()
        .send(
            world
                .admin()
                .request(reqwest::Method::PUT, "/api/mcp/policy")
                .json(&off),
        )
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let access = match has {
        Has::Nothing => None,
        Has::ReadOnly => Some("read_only"),
        Has::ReadWrite => Some("read_write"),
    };
    let back_ends = match access {
        None => None,
        Some(access) => Some(BackEnds::added(world.admin(), access).await.expect("added")),
    };

    for profile in profiles {
        let caller = pinned(&world, *profile).await;
        let expected = expected(has, *profile);
        for dialect in Dialect::ALL {
            let speaker = caller.by(dialect).await;
            let listed = speaker.tools().await;
            let distinct: BTreeSet<&str> = listed.iter().map(|name| canonical(name)).collect();
            assert_eq!(
                listed.len(),
                distinct.len(),
                "{dialect:?} {profile:?}: named twice"
            );
            assert_eq!(distinct, expected, "{dialect:?} {has:?} {profile:?}");
            for tool in TOOLS {
                for name in BTreeSet::from([tool.name, tool.function_name]) {
                    // Arguments that no schema takes: whether it can be called shows, and nothing is contacted.
                    let told = speaker.call(name, &json!({"no such": "argument"})).await;
                    let reason = match expected.contains(tool.name) {
                        true => "ARGUMENTS_INVALID",
                        false if is_hidden_only_by_access(has, *profile, tool) => "WRITE_REJECTED",
                        false => "TOOL_NOT_FOUND",
                    };
                    assert_eq!(told.reason(), reason, "{dialect:?} {has:?} {profile:?} {name}");
                }
            }
        }
    }
    assert_eq!(world.host("web-1").received(), [""; 0]);
    let asked = back_ends.map(|back_ends| back_ends.asked().len());
    assert_eq!(asked.unwrap_or(0), 0, "no back end is asked");
}

fn expected(has: Has, profile: Option<&str>) -> BTreeSet<&'static str> {
    let there = |tool: &&ToolDef| match (tool.group, has) {
        (None, _) => true,
        // The gateway's own are there where a profile asks for them, and none of the contract does.
        (Some(Group::Gateway), _) | (_, Has::Nothing) => false,
        // Those about the fleet are there where the tenant has a project.
        (Some(Group::Fleet), _) => false,
        (_, Has::ReadOnly) => tool.effect != Effect::Write,
        (_, Has::ReadWrite) => true,
    };
    let tools = TOOLS.iter().filter(there);
    tools
        .map(|tool| tool.name)
        .filter(|name| *name != SWITCHED_OFF && is_of(profile, name))
        .collect()
}

fn is_of(profile: Option<&str>, tool: &str) -> bool {
    let of = |wanted| PROFILES.iter().find(|profile| profile.name == wanted).unwrap();
    profile.is_none_or(|wanted| of(wanted).tools.contains(&tool))
}

fn is_hidden_only_by_access(has: Has, profile: Option<&str>, tool: &ToolDef) -> bool {
    has == Has::ReadOnly && tool.is_of_back_end() && tool.effect == Effect::Write && is_of(profile, tool.name)
}

async fn pinned(world: &World, profile: Option<&str>) -> Caller {
    let mut body = json!({"name": format!("of-{}", profile.unwrap_or("none")), "role": "engineer"});
    if let Some(profile) = profile {
        body["profile"] = profile.into();
    }
    let made = world.admin().post("/api/tokens", body).await;
    world
        .admin()
        .with_token(made.json()["token"].as_str().expect("a token"))
}

/// The canonical name behind either spelling; a name that is neither stays as it is, to be seen.
fn canonical(name: &str) -> &str {
    TOOLS
        .iter()
        .find(|tool| tool.name == name || tool.function_name == name)
        .map_or(name, |tool| tool.name)
}
