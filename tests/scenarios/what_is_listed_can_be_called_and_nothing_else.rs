//! Under every profile and policy, and in every dialect: what the list names can be called, in either spelling, and what
//! it does not name answers as if it did not exist.

use std::collections::BTreeSet;

use serde_json::json;
use toolgate_contract::registry::{PROFILES, TOOLS};
use toolgate_test_support::{Caller, Dialect, World};

const SWITCHED_OFF: &str = "github.get_workflow_run";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_listed_can_be_called_and_nothing_else() {
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

    let profiles = PROFILES.iter().map(|profile| Some(profile.name));
    for profile in profiles.chain([None]) {
        let caller = pinned(&world, profile).await;
        // The tenant has no back end of agents, so none of their tools.
        let expected: BTreeSet<&str> = TOOLS
            .iter()
            .filter(|tool| tool.is_infrastructure())
            .map(|tool| tool.name)
            .filter(|name| *name != SWITCHED_OFF)
            .filter(|name| {
                let of = |wanted| PROFILES.iter().find(|profile| profile.name == wanted).unwrap();
                profile.is_none_or(|wanted| of(wanted).tools.contains(name))
            })
            .collect();
        for dialect in Dialect::ALL {
            let speaker = caller.by(dialect).await;
            let listed = speaker.tools().await;
            let distinct: BTreeSet<&str> = listed.iter().map(|name| canonical(name)).collect();
            assert_eq!(
                listed.len(),
                distinct.len(),
                "{dialect:?} {profile:?}: named twice"
            );
            assert_eq!(distinct, expected, "{dialect:?} {profile:?}");
            for tool in TOOLS {
                for name in [tool.name, tool.function_name] {
                    // Arguments that no schema takes: whether it can be called shows, and nothing is contacted.
                    let told = speaker.call(name, &json!({"no such": "argument"})).await;
                    let reason = match expected.contains(tool.name) {
                        true => "ARGUMENTS_INVALID",
                        false => "TOOL_NOT_FOUND",
                    };
                    assert_eq!(told.reason(), reason, "{dialect:?} {profile:?} {name}");
                }
            }
        }
    }
    assert_eq!(world.host("web-1").received(), [""; 0]);
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
