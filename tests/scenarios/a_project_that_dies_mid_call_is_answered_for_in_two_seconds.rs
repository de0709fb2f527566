//! A project that ends while it is asked is answered for within two seconds, whether its socket broke, its server died or its
//! relay was killed; and the caller is told that what it asked may have happened.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_contract::frame::RefusalCode;
use toolgate_test_support::{Beside, Clients, Does, RealProject, Server, World, project::lives, until};

const LIMIT: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_that_dies_mid_call_is_answered_for_in_two_seconds() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .default_project("alpha")
        .start()
        .await;
    let alpha = world.project("alpha");
    alpha.when("create_story", Does::WhenTold(Box::new(Does::Drops)));
    let (refusal, took) = tokio::join!(world.call("create_story", json!({"name": "x"})), async {
        alpha.called("create_story").await.expect("it is asked");
        alpha.tell();
        Instant::now()
    });
    assert!(took.elapsed() < LIMIT, "{:?}", took.elapsed());
    let refusal = refusal.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "RELAY_LOST"),
        "{refusal:?}"
    );
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.last().unwrap()["reason"], "RELAY_LOST", "{rows:?}");

    alpha.dial(world.url()).await.unwrap();
    world.admin().project_is_up("alpha", 2).await;
    alpha.when("create_story", Does::Refuses(RefusalCode::ServerDown));
    let refusal = world
        .call("create_story", json!({"name": "x"}))
        .await
        .unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "PROJECT_OFFLINE"),
        "{refusal:?}"
    );
    assert!(refusal.took < LIMIT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_or_relay_that_is_killed_is_answered_for_as_well() {
    let Some(clients) = Clients::here("a_real_server_or_relay_that_is_killed_is_answered_for_as_well") else {
        return;
    };
    let world = World::new().unlimited().start().await;
    let folder = tempfile::tempdir().unwrap();
    let (_, token) = world.admin().add_project("workshop", "read_write").await.unwrap();
    world.admin().set_default_project("workshop").await.unwrap();
    let command = clients.server(Server::FastMcp, folder.path());
    let mut relay = RealProject::start(
        world.url(),
        "workshop",
        Some(&token),
        folder.path(),
        Beside::Command(&command),
    )
    .unwrap();
    relay.up(world.admin(), "workshop").await.unwrap();

    // The server: its relay stays, says so, and starts it again.
    let (refusal, killed) = tokio::join!(world.call("wait", json!({"seconds": 30})), async {
        let server = until(Duration::from_secs(10), || async {
            under_way(&world).await.then_some(())
        })
        .await;
        server.expect("the call is under way");
        let killed = Instant::now();
        kill(&relay.below("fastmcp_server.py"));
        killed
    });
    assert!(killed.elapsed() < LIMIT, "{:?} {}", killed.elapsed(), relay.log());
    let reason = refusal.unwrap_err().reason;
    assert!(
        ["PROJECT_OFFLINE", "RELAY_LOST"].contains(&reason.as_str()),
        "{reason}"
    );
    let again = until(Duration::from_secs(20), || async {
        world.call("add", json!({"a": 1, "b": 2})).await.ok()
    });
    assert_eq!(
        again.await.expect("its relay starts it again").structured()["result"],
        3
    );

    // The relay, and its server with it.
    let servers = relay.below("fastmcp_server.py");
    assert!(!servers.is_empty(), "{}", relay.log());
    let (refusal, killed) = tokio::join!(world.call("wait", json!({"seconds": 30})), async {
        let server = until(Duration::from_secs(10), || async {
            under_way(&world).await.then_some(())
        })
        .await;
        server.expect("the call is under way");
        let killed = Instant::now();
        relay.kill9().await;
        killed
    });
    assert!(killed.elapsed() < LIMIT, "{:?}", killed.elapsed());
    assert_eq!(refusal.unwrap_err().reason, "RELAY_LOST");
    let gone = until(LIMIT, || async {
        (!servers.iter().any(|pid| lives(*pid))).then_some(())
    });
    gone.await.expect("the server goes with its relay");
}

/// Whether an intent stands that nothing has settled: a call is at its target.
async fn under_way(world: &World) -> bool {
    world
        .store()
        .count("select count(*) from intent")
        .await
        .is_ok_and(|open| open > 0)
}

fn kill(processes: &[u32]) {
    assert!(!processes.is_empty(), "no server runs below the relay");
    for pid in processes {
        let killed = std::process::Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status();
        assert!(killed.is_ok_and(|status| status.success()), "{pid}");
    }
}
