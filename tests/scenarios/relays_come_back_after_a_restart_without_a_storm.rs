//! After a restart of the gateway every relay comes back at once: at most fifty handshakes a second are let in beyond a first
//! burst of fifty, each relay is in before long, and calls are answered meanwhile. Two hundred relays, with TOOLGATE_FULL a
//! thousand.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;
use toolgate_test_support::{Gateway, Project, project::WHO, until};

/// What is let in at once, and how many a second after that.
const BURST: usize = 50;
const A_SECOND: f64 = 50.0;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn relays_come_back_after_a_restart_without_a_storm() {
    let count = relays();
    let limit = [
        "--limits-user-per-minute",
        "1000000",
        "--limits-tenant-per-minute",
        "1000000",
    ];
    let mut gateway = Gateway::start(&[&limit[..], &["--relay-built-in=false"]].concat())
        .await
        .unwrap();
    let admin = gateway.admin();
    let mut projects = Vec::new();
    for number in 0..count {
        let name = format!("project-{number}");
        let (target, token) = admin.add_project(&name, "read_write").await.unwrap();
        projects.push((name, target, token));
    }
    // Ten at a time: enrolment is not what is measured.
    let mut enrolled = Vec::new();
    for some in projects.chunks(10) {
        let enrolling = some
            .iter()
            .map(|(name, target, token)| Project::enrol_with(gateway.url(), name, target, token, &[WHO]));
        for project in futures::future::join_all(enrolling).await {
            enrolled.push(project.expect("enrols"));
        }
    }

    gateway.terminate().await;
    gateway.up().await.unwrap();
    let admin = gateway.admin();
    let (url, began) = (gateway.url().to_owned(), Instant::now());
    let mut coming = JoinSet::new();
    for project in enrolled {
        let url = url.clone();
        coming.spawn(async move {
            // Who is sent away comes again, as the real relay does.
            let mut tries = 1;
            while project.dial(&url).await.is_err() {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            (project, began.elapsed(), tries)
        });
    }
    let timed = Instant::now();
    admin
        .call("list_projects", json!({}))
        .await
        .expect("calls are answered meanwhile");
    assert!(timed.elapsed() < Duration::from_secs(2), "{:?}", timed.elapsed());

    let everyone = coming.join_all();
    let everyone = tokio::time::timeout(Duration::from_secs(90), everyone)
        .await
        .expect("none starves");
    let mut arrivals: Vec<Duration> = everyone.iter().map(|(_, at, _)| *at).collect();
    arrivals.sort_unstable();
    for (place, at) in arrivals.iter().enumerate() {
        // A little early is the measure's own inexactness: what is seen here is the end of a handshake.
        let allowed = BURST as f64 + A_SECOND * (at.as_secs_f64() + 0.2);
        assert!((place as f64) < allowed, "{} were in after {at:?}", place + 1);
    }
    let fair = Duration::from_secs_f64(count as f64 / A_SECOND * 2.0 + 10.0);
    assert!(
        arrivals.last().is_some_and(|last| *last < fair),
        "{:?}",
        arrivals.last()
    );

    let live = until(Duration::from_secs(20), || async {
        let told = admin.call("gateway_health", json!({})).await.ok()?;
        let rows = told.structured()["projects"].as_array()?;
        let live = rows
            .iter()
            .filter(|row| row["state"] == "live" && row["tools"] == 1)
            .count();
        (live == count).then_some(())
    });
    live.await.expect("all of them are live, with their tools");
    let (project, ..) = everyone.last().unwrap();
    let told = admin
        .call("who_are_you", json!({"project": project.name()}))
        .await
        .unwrap();
    assert_eq!(told.text(), project.name());
}

fn relays() -> usize {
    match crate::kill_cycles::full() {
        true => 1_000,
        false => 200,
    }
}
