use toolgate_contract::frame::{MAX_CHUNK, MAX_IN_FLIGHT, Refusal};

use super::*;

const WAIT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_request_carries_method_deadline_and_body() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let call = world.ask(relay.target(), "{\"a\":1}", WAIT);
    let request = wire.request().await;
    assert_eq!(request.header.method.as_deref(), Some("tools/call"));
    assert!(
        request
            .header
            .deadline_ms
            .is_some_and(|ms| ms > 9_000 && ms <= 10_000)
    );
    assert_eq!(request.body, "{\"a\":1}");
    wire.answer(&request.header.id, "done").await;
    assert_eq!(call.await.expect("ran"), Ok(Bytes::from_static(b"done")));
}

#[tokio::test]
async fn many_calls_at_once_each_get_their_own_answer() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let calls: Vec<_> = (0..200)
        .map(|n| world.ask(relay.target(), Box::leak(n.to_string().into_boxed_str()), WAIT))
        .collect();
    let mut held: Vec<Frame> = Vec::new();
    let mut answered = 0;
    while answered < calls.len() {
        held.push(wire.request().await);
        assert!(held.len() <= MAX_IN_FLIGHT);
        // Answers go out newest first, and only when no more can come.
        if held.len() == MAX_IN_FLIGHT || answered + held.len() == calls.len() {
            while let Some(request) = held.pop() {
                wire.send(Frame::new(Kind::Response, request.header.id, request.body))
                    .await;
                answered += 1;
            }
        }
    }
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.expect("ran").expect("answered"), n.to_string());
    }
}

#[tokio::test]
async fn request_ids_grow_and_belong_to_the_session() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let session = wire.session.clone().expect("connected");
    let _calls: Vec<_> = (0..MAX_IN_FLIGHT)
        .map(|_| world.ask(relay.target(), "{}", WAIT))
        .collect();
    for wanted in 0..MAX_IN_FLIGHT as u64 {
        assert_eq!(session.counter(&wire.request().await.header.id), Some(wanted));
    }
}

#[tokio::test]
async fn an_answer_in_chunks_arrives_whole() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let (one, two) = (
        world.ask(relay.target(), "1", WAIT),
        world.ask(relay.target(), "2", WAIT),
    );
    let (first, second) = (wire.request().await, wire.request().await);
    let bodies = [vec![b'a'; 3 * MAX_CHUNK + 1], vec![b'b'; 2 * MAX_CHUNK]];
    let mut chunks: Vec<_> = [&first, &second]
        .into_iter()
        .zip(&bodies)
        .map(|(request, body)| {
            Frame::new(Kind::Response, request.header.id.clone(), body.clone())
                .chunks()
                .expect("fits")
        })
        .collect();
    let mut left = true;
    while left {
        left = false;
        for chunk in chunks.iter_mut().filter_map(Iterator::next) {
            left = true;
            wire.send(chunk).await;
        }
    }
    let answers = [
        one.await.expect("ran").expect("whole"),
        two.await.expect("ran").expect("whole"),
    ];
    let mut lengths = answers.map(|answer| answer.len());
    lengths.sort_unstable();
    assert_eq!(lengths, [2 * MAX_CHUNK, 3 * MAX_CHUNK + 1]);
}

#[tokio::test]
async fn an_answer_that_never_ends_fails_its_call_only() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let call = world.ask(relay.target(), "1", WAIT);
    let id = wire.request().await.header.id;
    let mut chunk = Frame::new(Kind::Response, id.clone(), vec![0; MAX_CHUNK]);
    chunk.header.more = true;
    for _ in 0..=toolgate_contract::frame::MAX_BODY / MAX_CHUNK {
        wire.send(chunk.clone()).await;
    }
    assert_eq!(call.await.expect("ran"), Err(UplinkError::TooLarge));
    assert_eq!(wire.receive().await.expect("a cancel").header.kind, Kind::Cancel);
    wire.answer(&id, "the end").await;
    let next = world.ask(relay.target(), "2", WAIT);
    let id = wire.request().await.header.id;
    wire.answer(&id, "fine").await;
    assert_eq!(next.await.expect("ran"), Ok(Bytes::from_static(b"fine")));
}

#[tokio::test]
async fn leaving_a_call_cancels_it_at_the_relay_and_its_late_answer_is_passed_over() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let call = world.ask(relay.target(), "{}", WAIT);
    let id = wire.request().await.header.id;
    call.abort();
    let cancel = wire.receive().await.expect("a cancel");
    assert_eq!((cancel.header.kind, &cancel.header.id), (Kind::Cancel, &id));
    wire.answer(&id, "late").await;
    let call = world.ask(relay.target(), "{}", WAIT);
    let next = wire.request().await.header.id;
    wire.answer(&next, "fine").await;
    assert_eq!(call.await.expect("ran"), Ok(Bytes::from_static(b"fine")));
    let presence = world.presence(&relay);
    assert_eq!(presence.in_flight, 0, "nothing is left of either");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_answers_the_caller_and_cancels_the_call() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let began = Instant::now();
    let call = world.ask(relay.target(), "{}", Duration::from_millis(700));
    let id = wire.request().await.header.id;
    assert_eq!(call.await.expect("ran"), Err(UplinkError::Deadline));
    assert_eq!(began.elapsed(), Duration::from_millis(700));
    let cancel = wire.receive().await.expect("a cancel");
    assert_eq!((cancel.header.kind, cancel.header.id), (Kind::Cancel, id));
}

#[tokio::test]
async fn an_answer_nobody_asked_for_ends_the_connection() {
    let world = World::new();
    let relay = world.enrolled();
    for counter in [0, 7] {
        let mut wire = world.connect(&relay).await;
        let id = wire.session.clone().expect("connected").request(counter);
        wire.answer(&id, "unasked").await;
        assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
    }
}

#[tokio::test]
async fn a_second_answer_ends_the_connection() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let call = world.ask(relay.target(), "{}", WAIT);
    let id = wire.request().await.header.id;
    wire.answer(&id, "one").await;
    wire.answer(&id, "two").await;
    assert_eq!(call.await.expect("ran"), Ok(Bytes::from_static(b"one")));
    assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
}

#[tokio::test]
async fn a_refusal_keeps_its_code() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let call = world.ask(relay.target(), "{}", WAIT);
    let id = wire.request().await.header.id;
    wire.send(Frame::refusal(
        id,
        &Refusal::new(RefusalCode::WriteRejected, "no"),
    ))
    .await;
    assert_eq!(
        call.await.expect("ran"),
        Err(UplinkError::Refused(RefusalCode::WriteRejected))
    );
}

#[tokio::test]
async fn a_connection_that_breaks_fails_its_calls_at_once() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let calls: Vec<_> = (0..MAX_IN_FLIGHT + 5)
        .map(|_| world.ask(relay.target(), "{}", WAIT))
        .collect();
    for _ in 0..MAX_IN_FLIGHT {
        wire.request().await;
    }
    drop(wire);
    let began = Instant::now();
    for call in calls {
        assert_eq!(call.await.expect("ran"), Err(UplinkError::Lost));
    }
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(
        world.ask(relay.target(), "{}", WAIT).await.expect("ran"),
        Err(UplinkError::Offline)
    );
}

#[tokio::test]
async fn the_relay_of_another_tenant_is_offline() {
    let world = World::new();
    let relay = world.enrolled();
    let _wire = world.connect(&relay).await;
    let other = TenantId::mint();
    let call = world
        .uplinks
        .request(&other, relay.target(), "tools/call", Bytes::new(), WAIT)
        .await;
    assert_eq!(call, Err(UplinkError::Offline));
    assert!(world.uplinks.presence(&other, relay.target()).is_none());
}
