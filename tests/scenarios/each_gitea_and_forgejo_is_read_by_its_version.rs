//! Gate 023, 027, J2-4. Servers of every version, below a path and behind an address that they do not know, are added, listed
//! to the last page and asked for their CI from the best that they have; they see GETs and nothing else.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::{Value, json};
use toolgate_test_support::World;
use toolgate_upstream_sim::gitea::{Gitea, Setup, Token, Version};

const TOKEN: &str = "ca11ab1e0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn each_gitea_and_forgejo_is_read_by_its_version() {
    let world = World::new().unlimited().start().await;

    for version in Version::ALL {
        let gitea = start(version).await;
        let target = added(&world, &gitea, version).await;
        let source = match version {
            Version::Gitea1_19 | Version::Gitea1_20 | Version::Gitea1_22 => "statuses",
            Version::Gitea1_23 | Version::Gitea1_24 | Version::Forgejo11 => "tasks",
            Version::Gitea1_25 | Version::GiteaOfACommit | Version::Forgejo15 => "runs",
        };

        assert_eq!(everything(&world, &target).await, 61, "{version:?}");
        let told = recent(&world, &target, "acme", "shop").await;
        assert_eq!(told["source"], source, "{version:?}: {told}");
        let rows = if source == "statuses" {
            &told["statuses"]
        } else {
            &told["runs"]
        };
        assert!(
            rows.as_array().is_some_and(|rows| !rows.is_empty()),
            "{version:?}: {told}"
        );
        let renamed = recent(&world, &target, "acme", "homepage").await;
        assert_eq!(renamed["repository"], "acme/website", "{version:?}: {renamed}");
        let outside = recent(&world, &target, "ops", "deploy").await;
        assert_eq!(outside["source"], "statuses", "{version:?}: {outside}");
        assert_eq!(
            outside["statuses"].as_array().unwrap().len(),
            3,
            "{version:?}: {outside}"
        );
        let without = recent(&world, &target, "ops", "notes").await;
        assert!(without.get("statuses").is_none(), "{version:?}: {without}");
        let nowhere = call(
            &world,
            "gitea.get_recent_ci_runs",
            json!({"owner": "ops", "repo": "none", "target_id": target}),
        );
        assert_eq!(nowhere.await["isError"], true, "{version:?}");

        assert_eq!(gitea.seen().writes(), [""; 0], "{version:?}");
        for request in gitea.seen().all() {
            assert!(request.path.starts_with("/forge/api/v1/"), "{}", request.path);
            assert!(!request.query.contains(TOKEN) && request.header("sudo").is_empty());
        }
    }
}

/// Served below a path, thirty rows at once whatever is asked for.
async fn start(version: Version) -> Gitea {
    let setup = Setup {
        sub_path: "/forge",
        most: 30,
        ..Setup::of(version)
    };
    let gitea = Gitea::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), setup)
        .await
        .unwrap();
    gitea.token(TOKEN, Token::least());
    gitea
}

/// Adds it, by the address of its API with a slash too many; gives the target's id.
async fn added(world: &World, gitea: &Gitea, version: Version) -> String {
    let config =
        json!({"baseUrl": format!("{}/api/v1/", gitea.url()), "allowHttp": true, "allowLoopback": true});
    let name = format!("forge-{version:?}").to_lowercase().replace('_', "-");
    let body = json!({"type": "gitea", "name": name, "config": config, "credential": {"token": TOKEN}});
    let added = world.admin().post("/api/mcp/adapter", body).await.ok().unwrap();
    assert_eq!(added["validation"]["verdict"], "passed", "{version:?}: {added}");
    added["id"].as_str().unwrap().to_owned()
}

/// How many repositories there are, page by page, each once.
async fn everything(world: &World, target: &str) -> usize {
    let mut ids = vec![];
    let mut arguments = json!({"limit": 50, "target_id": target});
    loop {
        let result = call(world, "gitea.list_repos", arguments.clone()).await;
        let told = &result["structuredContent"];
        ids.extend(
            told["repos"]
                .as_array()
                .unwrap()
                .iter()
                .map(|repo| repo["id"].as_u64().unwrap()),
        );
        match told.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

async fn recent(world: &World, target: &str, owner: &str, repo: &str) -> Value {
    let arguments = json!({"owner": owner, "repo": repo, "target_id": target});
    let mut result = call(world, "gitea.get_recent_ci_runs", arguments).await;
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].take()
}

async fn call(world: &World, tool: &str, arguments: Value) -> Value {
    world.call(tool, arguments).await.unwrap().result
}
