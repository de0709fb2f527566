//! Calls that tell what they are doing while they go on.

use tokio::time::Instant;

use super::{
    stand_in::{LIST, until},
    *,
};
use crate::upstream::{Level, Report};

const CLOSED: &str = "select count(*) from intent_closed where tenant_id = $1";
const INTENTS: &str = "select count(*) from intent where tenant_id = $1";

const NOTHING: Wanted = Wanted {
    progress: false,
    level: None,
    everything: false,
};
const EVERYTHING: Wanted = Wanted {
    progress: true,
    level: Some(Level::Debug),
    everything: false,
};

impl World {
    async fn run(&self, name: &str, wanted: Wanted) -> Running {
        let arguments = if name == SSH { UPTIME } else { "{}" };
        let asked = ask(Some(&self.admin));
        self.broker
            .run(&asked, wish(name, arguments), wanted)
            .await
            .unwrap()
    }
}

/// Reports as short words, and how the call ended.
async fn told(mut running: Running) -> (Vec<String>, Option<ErrorReason>) {
    let mut words = Vec::new();
    while let Some(event) = running.next().await {
        match event {
            RunEvent::Report(report) => words.push(word(&report)),
            RunEvent::Ended(outcome) => {
                assert!(running.next().await.is_none(), "nothing comes after the end");
                return (words, outcome.err().map(|failed| failed.error.reason()));
            }
        }
    }
    panic!("a run ends with its outcome");
}

fn word(report: &Report) -> String {
    match report {
        Report::Progress {
            progress,
            total,
            message,
        } => format!("{progress}/{total:?} {message:?}"),
        Report::Log { level, logger, data } => format!("{} {logger} {data}", level.as_str()),
        Report::Said { method, .. } | Report::Asked { method, .. } => format!("server: {method}"),
    }
}

#[tokio::test]
async fn a_run_tells_what_is_wanted_in_order_and_then_its_outcome() {
    let contacting =
        format!(r#"debug toolgate {{"message":"contacting the target","target":"web-1","tool":"{SSH}"}}"#);
    let (half, working) = (r#"1/Some(2.0) Some("half")"#, r#"info host "working""#);
    let only = |progress, level| Wanted {
        progress,
        level,
        everything: false,
    };
    let cases: [(Wanted, &[&str]); 5] = [
        (EVERYTHING, &[&contacting, half, working]),
        (only(true, None), &[half]),
        (only(false, Some(Level::Info)), &[working]),
        (only(false, Some(Level::Notice)), &[]),
        (NOTHING, &[]),
    ];
    for (wanted, expected) in cases {
        let world = World::new(Limits::default()).await;
        for (does, reason) in [
            (Does::Tell(None), None),
            (
                Does::Tell(Some(UpstreamError::Failed)),
                Some(ErrorReason::UpstreamFailed),
            ),
        ] {
            world.does(does);
            let (words, ended) = told(world.run(SSH, wanted).await).await;
            assert_eq!(words, expected, "{wanted:?}");
            assert_eq!(ended, reason);
        }
        assert_eq!(world.rows().await.len(), 2);
    }
}

#[tokio::test]
async fn a_run_that_is_refused_has_no_events() {
    let world = World::new(Limits::default()).await;
    let asked = ask(Some(&world.admin));
    let refused = world.broker.run(&asked, wish("nope", "{}"), EVERYTHING).await;
    assert_eq!(refused.unwrap_err().error.reason(), ErrorReason::ToolNotFound);
    assert_eq!(world.contacts(), 0);
}

#[tokio::test]
async fn a_run_that_told_something_and_is_left_goes_on_the_record_as_cancelled() {
    let world = World::new(Limits::default()).await;
    world.does(Does::TellAndHang);
    let mut running = world.run(SSH, EVERYTHING).await;
    for _ in 0..3 {
        assert!(matches!(running.next().await, Some(RunEvent::Report(_))));
    }
    let began = Instant::now();
    drop(running);
    world.host.left.notified().await;
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "{:?}",
        began.elapsed()
    );
    world.broker.rooms().calls.close();
    world.broker.rooms().calls.wait().await;
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "cancelled"));
    assert_eq!(world.count(INTENTS).await, 0);
    assert_eq!(world.count(CLOSED).await, 0);
}

#[tokio::test]
async fn a_run_that_told_nothing_and_is_left_is_closed_without_a_row() {
    let world = World::new(Limits::default()).await;
    world.does(Does::TellAndHang);
    let running = world.run(SSH, NOTHING).await;
    world.host.contacted.notified().await;
    drop(running);
    world.broker.rooms().calls.close();
    world.broker.rooms().calls.wait().await;
    assert_eq!(world.rows().await, []);
    assert_eq!(world.count(CLOSED).await, 1);
}

#[tokio::test]
async fn whoever_debugs_is_told_that_an_answer_was_kept_and_how_old_it_is() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    let (first, _) = told(world.run(LIST, EVERYTHING).await).await;
    assert_eq!(first.len(), 1);
    assert!(first[0].contains("contacting the target"), "{first:?}");
    world.clock.advance(Duration::from_secs(7));
    let (second, _) = told(world.run(LIST, EVERYTHING).await).await;
    assert_eq!(
        second,
        [r#"debug toolgate {"message":"answered out of the cache","ageSeconds":7}"#]
    );
}

#[tokio::test]
async fn a_read_that_is_shared_tells_the_one_who_began_it() {
    let world = World::at_hand().await;
    world.proxmox("lab").await;
    world.cluster.hold();
    let starter = tokio::spawn(told(world.run(LIST, EVERYTHING).await));
    until(async || world.cluster.reads() == 1).await;
    let joined = tokio::spawn(told(world.run(LIST, EVERYTHING).await));
    until(async || world.broker.rooms().flights.seats() == 2).await;
    world.cluster.release();
    let (starter, joined) = (starter.await.unwrap(), joined.await.unwrap());
    assert_eq!((starter.0.len(), joined.0.len()), (1, 0));
    assert_eq!((starter.1, joined.1), (None, None));
}
