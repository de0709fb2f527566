//! How things end, and how often they begin again.

use super::*;

#[tokio::test]
async fn a_relay_that_stops_ends_its_servers_by_their_input() {
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    let began = Instant::now();
    played.project.end().await;
    assert!(played.project.local.tasks().is_empty(), "everything has ended");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn no_more_than_64_conversations_stand() {
    let mut played = up(scripted("sessions")).await;
    let cat = |n: usize| FrameId::parse(&format!("c{n}")).expect("an id");
    for n in 0..conversations::MOST {
        played.project.led.begin(&cat(n)).expect("begins");
    }
    let id = played.ask(Some("one-more"), "initialize", "{}").await;
    assert_eq!(played.refusal(&id).await, RefusalCode::Overloaded);
    // An id that is there already takes its own place.
    played.project.led.begin(&cat(7)).expect("begins anew");
}

#[tokio::test]
async fn a_conversation_that_nobody_uses_is_ended() {
    let mut played = up(scripted("sessions")).await;
    played.lead("c1").await;
    // Once this is answered, nothing is under way any more.
    let id = played.call_in("c1", "echo").await;
    played.result(&id).await;
    let id = FrameId::parse("c1").expect("an id");
    let conversation = played.project.led.of(&id).expect("it stands");
    tokio::time::pause();
    tokio::time::advance(conversations::IDLE - Duration::from_secs(120)).await;
    assert!(played.project.led.of(&id).is_some());
    tokio::time::advance(Duration::from_secs(200)).await;
    tokio::time::resume();
    conversation.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_again_and_again_is_started_less_and_less_often() {
    let missing = LocalServer::Url("http://127.0.0.1:9/mcp".to_owned());
    let project = project(missing);
    let mut now = project.now.subscribe();
    project.begin();
    let began = Instant::now();
    let mut downs = 0;
    while began.elapsed() < Duration::from_secs(3600) {
        now.changed().await.expect("watched");
        downs += u32::from(matches!(now.borrow_and_update().standing, Standing::Down(_)));
    }
    // Full jitter over a minute is half a minute on average: about 120 in an hour, and never one after the other.
    assert!((60..260).contains(&downs), "{downs}");
    project.end().await;
}
