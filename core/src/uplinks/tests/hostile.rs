//! A project's relay that does what it may not: it harms nobody but its own project.

use toolgate_contract::frame::{MAX_BODY, MAX_CHUNK, MAX_IN_FLIGHT};

use super::{conversations::begin, projects::heard, *};
use crate::upstream::Report;

const WAIT: Duration = Duration::from_secs(10);

/// Waits until the relay's frames so far were read: its ping is answered.
async fn read(wire: &mut Wire) -> Vec<Frame> {
    let id = FrameId::parse("read").expect("an id");
    wire.send(Frame::new(Kind::Ping, id.clone(), "")).await;
    let mut before = Vec::new();
    loop {
        let frame = wire.next().await;
        if (frame.header.kind, &frame.header.id) == (Kind::Pong, &id) {
            return before;
        }
        before.push(frame);
    }
}

async fn still_serves(world: &World, relay: &Relay, wire: &mut Wire) {
    let asked = world.ask(relay.target(), "{}", WAIT);
    let id = wire.request().await.header.id;
    wire.answer(&id, "{}").await;
    assert!(asked.await.expect("ran").is_ok());
}

#[tokio::test]
async fn answers_that_nobody_asked_for_end_the_connection() {
    let world = World::new();
    let relay = world.project();
    for id in ["x.1", "0"] {
        let wire = &mut world.connect(&relay).await;
        wire.answer(&FrameId::parse(id).expect("an id"), "{}").await;
        assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol), "{id}");
    }
    let mut wire = world.connect(&relay).await;
    let unsent = wire.session.clone().expect("connected").request(3);
    wire.answer(&unsent, "{}").await;
    assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
}

#[tokio::test]
async fn a_question_to_all_or_to_nobody_is_refused_at_once() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let unknown = FrameId::parse("01UNKNOWN");
    for (n, conversation, code) in [
        (1, None, RefusalCode::UnknownMethod),
        (2, Some(FrameId::raw()), RefusalCode::UnknownMethod),
        (3, unknown, RefusalCode::ConversationUnknown),
    ] {
        let question = wire.question(n, conversation, None);
        wire.send(question.clone()).await;
        assert_eq!(wire.refusal().await, (question.header.id, Some(code)));
    }
    let again = wire.question(2, None, None);
    wire.send(again.clone()).await;
    assert_eq!(
        wire.refusal().await,
        (again.header.id, Some(RefusalCode::Replayed))
    );
    let mut broken = wire.question(4, None, None);
    broken.body = Bytes::from_static(b"{\"n\":");
    wire.send(broken.clone()).await;
    assert_eq!(
        wire.refusal().await,
        (broken.header.id, Some(RefusalCode::Malformed))
    );
    still_serves(&world, &relay, &mut wire).await;
}

#[tokio::test]
async fn a_question_of_another_session_ends_the_connection() {
    let world = World::new();
    let (_relay, mut wire) = world.connected_project().await;
    let mut question = wire.question(1, None, None);
    question.header.id = FrameId::parse("other.1").expect("an id");
    wire.send(question).await;
    assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
}

#[tokio::test]
async fn what_is_about_no_request_of_ours_reaches_nobody() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (asking, mut told) = heard(None);
    let _asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    let session = wire.session.clone().expect("connected");
    let others = [
        session.request(99),
        FrameId::zero(),
        FrameId::parse(&format!("x{request}")).expect("an id"),
    ];
    for (n, other) in (0..).zip(others) {
        wire.send(Frame::notify("notifications/progress", "{}").about(Some(other.clone())))
            .await;
        let question = wire.question(n, None, Some(other));
        wire.send(question).await;
        assert_eq!(wire.refusal().await.1, Some(RefusalCode::UnknownMethod));
    }
    read(&mut wire).await;
    assert!(told.try_recv().is_err());
    assert_eq!(world.told.said.lock().expect("lock").len(), 0);
    let presence = world.presence(&relay);
    assert_eq!(presence.passed_over, 3);
}

#[tokio::test]
async fn ten_thousand_conversations_that_nobody_began_leave_nothing() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let reading = async {
        for n in 0..10_000 {
            let conversation = FrameId::parse(&format!("c{n}"));
            wire.to_gateway
                .send(
                    Frame::notify("m", "{}")
                        .within(conversation.clone())
                        .encode()
                        .expect("encodes"),
                )
                .await
                .expect("connected");
            let closed = Frame::notify("toolgate/closed", "").within(conversation);
            wire.to_gateway
                .send(closed.encode().expect("encodes"))
                .await
                .expect("connected");
        }
    };
    reading.await;
    read(&mut wire).await;
    let presence = world.presence(&relay);
    assert_eq!(presence.passed_over, 10_000);
    still_serves(&world, &relay, &mut wire).await;
}

#[tokio::test]
async fn a_flood_of_notifications_costs_no_call_its_answer() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let mut listener = talk.listen().expect("going on");
    let (asking, mut told) = heard(None);
    let asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    // Nobody reads what is told.
    for n in 0..5_000 {
        let said = Frame::notify("notifications/message", format!(r#"{{"n":{n}}}"#));
        wire.send(said.clone().about(Some(request.clone()))).await;
        wire.send(said.within(Some(talk.id()))).await;
    }
    wire.answer(&request, r#"{"content":[]}"#).await;
    assert!(asked.await.expect("ran").is_ok());
    let mut heard = 0;
    while let Ok(Report::Said { params, .. }) = told.try_recv() {
        assert_eq!(params, format!(r#"{{"n":{heard}}}"#), "the first ones, in order");
        heard += 1;
    }
    assert_eq!(heard, 64);
    let question = wire.question(0, Some(talk.id()), None);
    wire.send(question.clone()).await;
    assert_eq!(
        wire.refusal().await,
        (question.header.id, Some(RefusalCode::Overloaded))
    );
    let presence = world.presence(&relay);
    assert_eq!(presence.passed_over, 5_000 - 64);
    // The end is heard however much waits.
    wire.send(Frame::notify("toolgate/closed", "").within(Some(talk.id())))
        .await;
    let mut last = None;
    while let Some(said) = listener.recv().await {
        last = Some(said);
    }
    assert_eq!(last, Some(FromServer::Over));
}

#[tokio::test]
async fn more_questions_than_may_be_under_way_are_refused() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (asking, mut told) = heard(None);
    let _asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    for n in 0..=MAX_IN_FLIGHT as u64 {
        let question = wire.question(n, None, Some(request.clone()));
        wire.send(question).await;
        tokio::task::yield_now().await;
        while told.try_recv().is_ok() {}
    }
    let (_, code) = wire.refusal().await;
    assert_eq!(code, Some(RefusalCode::Overloaded));
    still_serves(&world, &relay, &mut wire).await;
}

#[tokio::test]
async fn bodies_that_never_end_are_given_up_and_their_tails_are_no_message() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let mut listener = talk.listen().expect("going on");
    let mut said = Frame::notify("notifications/message", vec![b' '; MAX_CHUNK]).within(Some(talk.id()));
    said.header.id = FrameId::notification(0);
    let mut question = wire.question(0, Some(talk.id()), None);
    question.body = vec![b' '; MAX_CHUNK].into();
    for frame in [&mut said, &mut question] {
        frame.header.more = true;
        for _ in 0..=MAX_BODY / MAX_CHUNK {
            wire.send(frame.clone()).await;
        }
    }
    assert_eq!(
        wire.refusal().await,
        (question.header.id.clone(), Some(RefusalCode::TooLarge))
    );
    for frame in [&mut said, &mut question] {
        frame.body = Bytes::from_static(b"{}");
        frame.header.more = false;
        wire.send(frame.clone()).await;
    }
    assert!(read(&mut wire).await.is_empty(), "the question was answered once");
    assert!(listener.try_recv().is_err());
    still_serves(&world, &relay, &mut wire).await;
}

#[tokio::test]
async fn bodies_that_are_never_whole_cost_no_call_its_answer() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    // As many as are joined at once; what comes beyond is passed over.
    for n in 0..MAX_IN_FLIGHT as u64 {
        let mut said = Frame::notify("notifications/message", vec![b' '; MAX_CHUNK]);
        said.header.id = FrameId::notification(n);
        said.header.more = true;
        wire.send(said).await;
    }
    read(&mut wire).await;
    let asked = world.ask(relay.target(), "{}", WAIT);
    let id = wire.request().await.header.id;
    for chunk in Frame::new(Kind::Response, id, vec![b' '; 3 * MAX_CHUNK])
        .chunks()
        .expect("fits")
    {
        wire.send(chunk).await;
    }
    assert_eq!(asked.await.expect("ran").expect("answered").len(), 3 * MAX_CHUNK);
    // A relay that begins ever more of them is no sane one.
    for n in 0..=2 * MAX_IN_FLIGHT as u64 {
        let mut said = Frame::notify("m", vec![b' '; 9]);
        said.header.id = FrameId::notification(1_000 + n);
        said.header.more = true;
        wire.send(said).await;
    }
    assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
}

#[tokio::test]
async fn chunks_of_a_notification_without_an_id_of_its_own_end_the_connection() {
    let world = World::new();
    let (_relay, mut wire) = world.connected_project().await;
    let header = r#"{"v":1,"kind":"notify","id":"0","method":"m","more":true}"#;
    let mut message = u32::try_from(header.len()).expect("short").to_be_bytes().to_vec();
    message.extend_from_slice(header.as_bytes());
    message.push(b'{');
    wire.send_raw(message.into()).await;
    assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
}

#[tokio::test]
async fn a_relay_that_asks_and_never_reads_is_sent_away() {
    let world = World::new();
    let (_relay, wire) = world.connected_project().await;
    // Whatever fits into the queues between, and one more.
    let mut n = 0;
    while !wire.to_gateway.is_closed() {
        n += 1;
        assert!(n < 5_000, "it is heard for ever");
        let question = wire.question(n, None, None);
        wire.send(question).await;
    }
    assert!(n > 500, "{n}");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_never_answered_ends_in_an_hour_or_when_it_says() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let _listener = talk.listen().expect("going on");
    let began = Instant::now();
    let (mut short, long) = (
        wire.question(0, Some(talk.id()), None),
        wire.question(1, Some(talk.id()), None),
    );
    short.header.deadline_ms = Some(30_000);
    wire.send(short.clone()).await;
    wire.send(long.clone()).await;
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let frame = wire.receive().await.expect("connected");
        match frame.header.kind {
            Kind::Ping => wire.send(Frame::new(Kind::Pong, frame.header.id, "")).await,
            _ => ended.push((frame.header.id, frame.header.error, began.elapsed().as_secs())),
        }
    }
    let [(first, one, early), (second, two, late)] = &ended[..] else {
        panic!("two");
    };
    assert_eq!((first, second), (&short.header.id, &long.header.id));
    assert_eq!([one, two], [&Some(RefusalCode::DeadlineExceeded); 2]);
    assert!(
        (30..=32).contains(early) && (3600..=3602).contains(late),
        "{early} {late}"
    );
}

#[tokio::test]
async fn a_host_has_nothing_to_say_and_may_ask_nothing() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    for method in ["notifications/message", "toolgate/server", "toolgate/closed"] {
        let said = Frame::notify(method, r#"{"state":"up"}"#).within(FrameId::parse("c1"));
        wire.send(said).await;
    }
    still_serves(&world, &relay, &mut wire).await;
    assert_eq!(world.told.said.lock().expect("lock").len(), 0);
    assert_eq!(world.told.servers.lock().expect("lock").len(), 0);
    let question = wire.question(0, None, None);
    wire.send(question).await;
    assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
}
