//! A project that does not answer, or whose socket takes nothing, delays no call of another, no list and nothing else; its own
//! calls end at their deadline and are taken back. What a caller takes back is taken back at the project.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_test_support::{Dialect, Does, World, until};

const QUICK: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_project_delays_nobody() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .default_project("alpha")
        .start()
        .await;
    let settings = json!({"access": "read_write", "timeoutSeconds": 3});
    let (target, token) = world.admin().add_project_with("hangs", settings).await.unwrap();
    let hangs = toolgate_test_support::Project::enrol(world.url(), "hangs", &target, &token)
        .await
        .unwrap();
    world.admin().project_is_up("hangs", 2).await;
    hangs.when("who_are_you", Does::Hangs);
    hangs.when("tools/list", Does::Hangs);

    let began = Instant::now();
    let mut waiting = tokio::task::JoinSet::new();
    // As many as an uplink carries, so that there is no room for another.
    for _ in 0..64 {
        let admin = world.admin().clone();
        waiting.spawn(async move { admin.call("who_are_you", json!({"project": "hangs"})).await });
    }
    let seen = hangs
        .wait(Duration::from_secs(3), |seen| seen.calls().count() >= 64)
        .await;
    assert_eq!(seen.calls().count(), 64);
    hangs.notify("notifications/tools/list_changed", "{}").await;

    let timed = Instant::now();
    assert_eq!(
        world.call("who_are_you", json!({})).await.unwrap().text(),
        "alpha"
    );
    assert!(
        timed.elapsed() < QUICK,
        "another's call took {:?}",
        timed.elapsed()
    );
    let timed = Instant::now();
    assert!(
        world
            .admin()
            .get("/api/mcp/tools")
            .await
            .text
            .contains("who_are_you")
    );
    world.call("list_projects", json!({})).await.unwrap();
    world.call("gateway_health", json!({})).await.unwrap();
    assert!(timed.elapsed() < QUICK, "a list took {:?}", timed.elapsed());
    while let Some(ended) = waiting.join_next().await {
        assert_eq!(ended.unwrap().unwrap_err().reason, "UPSTREAM_TIMEOUT");
    }
    let took = began.elapsed();
    assert!(
        took > Duration::from_secs(2) && took < Duration::from_secs(6),
        "{took:?}"
    );
    let seen = hangs.wait(QUICK, |seen| seen.cancelled >= 64).await;
    assert_eq!(seen.calls().filter(|asked| asked.cancelled.is_some()).count(), 64);
    assert!(
        seen.calls()
            .all(|asked| asked.deadline.is_some_and(|left| left <= Duration::from_secs(3)))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_caller_takes_back_is_taken_back_at_the_project() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .default_project("alpha")
        .start()
        .await;
    let alpha = world.project("alpha");
    alpha.when("who_are_you", Does::Hangs);
    for dialect in Dialect::ALL {
        alpha.forget();
        let before = alpha.seen().cancelled;
        let speaker = world.admin().by(dialect).await;
        let reached = async {
            alpha.called("who_are_you").await.expect("it is asked");
        };
        let noticed = async {
            let seen = alpha
                .wait(Duration::from_secs(5), |seen| seen.cancelled > before)
                .await;
            assert_eq!(seen.cancelled, before + 1, "{dialect:?}");
        };
        let sent = speaker.cancel("who_are_you", &json!({}), reached, noticed).await;
        let cancelled = alpha.seen().calls().next().unwrap().cancelled.unwrap();
        assert!(
            cancelled.duration_since(sent) < Duration::from_secs(1),
            "{dialect:?}"
        );
    }
    let settled = until(Duration::from_secs(5), || async {
        let open = world.store().count("select count(*) from intent").await;
        (open == Ok(0)).then_some(())
    });
    settled.await.expect("each is settled");
}
