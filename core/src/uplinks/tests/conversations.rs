//! Conversations that clients of the pipe lead with a project's server.

use toolgate_contract::frame::{Assembler, MAX_BODY, MAX_CHUNK};

use super::{
    projects::{call, heard},
    *,
};
use crate::upstream::{Report, UpstreamError};

pub(super) fn begin(world: &World, relay: &Relay) -> Conversation {
    world
        .uplinks
        .conversation(&world.tenant, relay.target())
        .expect("begun")
}

fn said(method: &str) -> FromServer {
    FromServer::Said {
        method: method.into(),
        params: Bytes::new(),
    }
}

#[tokio::test]
async fn words_of_the_client_arrive_in_its_conversation_and_its_end_is_told() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (talk, other) = (begin(&world, &relay), begin(&world, &relay));
    assert_ne!(talk.id(), other.id());
    let asked = world.call(&relay, call("initialize", "{}", Some(talk.id())));
    let request = wire.request().await;
    assert_eq!(request.header.conversation, Some(talk.id()));
    wire.answer(&request.header.id, "{}").await;
    assert!(asked.await.expect("ran").is_ok());
    talk.tell("notifications/initialized", Bytes::new())
        .await
        .expect("told");
    let told = wire.next().await;
    assert_eq!(told.header.method.as_deref(), Some("notifications/initialized"));
    assert_eq!(
        (told.header.kind, told.header.conversation),
        (Kind::Notify, Some(talk.id()))
    );
    let id = talk.id();
    drop(talk);
    let closed = wire.next().await;
    assert_eq!(closed.header.method.as_deref(), Some("toolgate/close"));
    assert_eq!(
        (closed.header.kind, closed.header.conversation),
        (Kind::Notify, Some(id.clone()))
    );
    let late = world.call(&relay, call("tools/list", "{}", Some(id)));
    assert_eq!(
        late.await.expect("ran").expect_err("over"),
        UpstreamError::ConversationOver
    );
    assert!(!other.is_over());
}

#[tokio::test]
async fn long_words_of_two_clients_do_not_mix() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talks = [begin(&world, &relay), begin(&world, &relay)];
    let long = |n: usize| Bytes::from(vec![b'0' + n as u8; 5 * MAX_CHUNK]);
    let (one, two, whole) = tokio::join!(talks[0].tell("a", long(0)), talks[1].tell("a", long(1)), async {
        let (mut assembler, mut whole) = (Assembler::new(MAX_BODY), Vec::new());
        while whole.len() < 2 {
            whole.extend(assembler.push(wire.next().await).expect("joins"));
        }
        whole
    });
    assert_eq!((one, two), (Ok(()), Ok(())));
    for frame in whole {
        let n = talks
            .iter()
            .position(|talk| Some(talk.id()) == frame.header.conversation);
        assert!(frame.body == long(n.expect("one of them")));
    }
    let over = Bytes::from(vec![b' '; MAX_BODY + 1]);
    assert_eq!(talks[0].tell("a", over).await, Err(UplinkError::TooLarge));
}

#[tokio::test]
async fn the_newest_listener_hears_and_the_former_one_ends() {
    let world = World::new();
    let (relay, wire) = world.connected_project().await;
    let (talk, other) = (begin(&world, &relay), begin(&world, &relay));
    let mut others = other.listen().expect("going on");
    let mut former = talk.listen().expect("going on");
    let in_it = |method: &str| Frame::notify(method, "").within(Some(talk.id()));
    wire.send(in_it("one")).await;
    assert_eq!(former.recv().await, Some(said("one")));
    let mut newest = talk.listen().expect("going on");
    assert_eq!(former.recv().await, None);
    wire.send(in_it("two")).await;
    wire.send(in_it("toolgate/closed")).await;
    assert_eq!(newest.recv().await, Some(said("two")));
    assert_eq!(newest.recv().await, Some(FromServer::Over));
    assert_eq!(newest.recv().await, None);
    assert!(talk.is_over() && talk.listen().is_none());
    let told = talk.tell("late", Bytes::new()).await;
    assert_eq!(told, Err(UplinkError::Refused(RefusalCode::ConversationUnknown)));
    assert!(others.try_recv().is_err(), "nobody else heard");
    assert_eq!(world.told.said.lock().expect("lock").len(), 0);
}

#[tokio::test]
async fn the_end_of_the_connection_is_the_end_of_its_conversations() {
    let world = World::new();
    let (relay, wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let mut listener = talk.listen().expect("going on");
    drop(wire);
    assert_eq!(listener.recv().await, Some(FromServer::Over));
    assert_eq!(talk.tell("late", Bytes::new()).await, Err(UplinkError::Lost));
    let none = world.uplinks.conversation(&world.tenant, relay.target()).err();
    assert_eq!(none, Some(UplinkError::Offline));
    let mut again = world.connect(&relay).await;
    let old = world.call(&relay, call("tools/list", "{}", Some(talk.id())));
    assert_eq!(
        old.await.expect("ran").expect_err("over"),
        UpstreamError::ConversationOver
    );
    drop(talk);
    begin(&world, &relay)
        .tell("first", Bytes::new())
        .await
        .expect("told");
    assert_eq!(
        again.next().await.header.method.as_deref(),
        Some("first"),
        "the new one hears nothing of it"
    );
}

#[tokio::test]
async fn so_many_conversations_and_not_one_more() {
    let world = World::new();
    let (relay, host) = (world.project(), world.enrolled());
    let (mut wire, _host) = (world.connect(&relay).await, world.connect(&host).await);
    let mut talks: Vec<_> = (0..256).map(|_| begin(&world, &relay)).collect();
    let begun = |tenant: &TenantId, relay: &Relay| world.uplinks.conversation(tenant, relay.target()).err();
    assert_eq!(begun(&world.tenant, &relay), Some(UplinkError::Overloaded));
    talks.pop();
    assert_eq!(begun(&world.tenant, &relay), None);
    assert_eq!(begun(&TenantId::mint(), &relay), Some(UplinkError::Offline));
    assert_eq!(
        begun(&world.tenant, &host),
        Some(UplinkError::Offline),
        "a host has none"
    );
    drop(talks);
    for _ in 0..257 {
        assert_eq!(wire.next().await.header.method.as_deref(), Some("toolgate/close"));
    }
}

#[tokio::test]
async fn a_question_goes_to_the_listener_and_is_answered_in_its_own_conversation_only() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (talk, other) = (begin(&world, &relay), begin(&world, &relay));
    let mut listener = talk.listen().expect("going on");
    let question = wire.question(0, Some(talk.id()), None);
    wire.send(question.clone()).await;
    let Some(FromServer::Asked { id, method, .. }) = listener.recv().await else {
        panic!("asked");
    };
    assert_eq!(
        (&*id, &*method),
        (question.header.id.as_str(), "sampling/createMessage")
    );
    let answer = Ok(Bytes::from_static(b"{}"));
    for id in [&*id, "", "no id", "x.1"] {
        assert_eq!(
            other.answer(id, answer.clone()).await,
            Err(UplinkError::NotAsked),
            "{id}"
        );
    }
    assert_eq!(talk.answer(&id, answer).await, Ok(()));
    let response = wire.next().await;
    assert_eq!(
        (response.header.id, response.header.conversation),
        (question.header.id, Some(talk.id()))
    );
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_a_refusal() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let mut listener = talk.listen().expect("going on");
    let question = wire.question(0, Some(talk.id()), None);
    wire.send(question.clone()).await;
    assert!(listener.recv().await.is_some());
    let long = Ok(Bytes::from(vec![b' '; MAX_BODY + 1]));
    assert_eq!(
        talk.answer(question.header.id.as_str(), long).await,
        Err(UplinkError::TooLarge)
    );
    assert_eq!(
        wire.refusal().await,
        (question.header.id, Some(RefusalCode::TooLarge))
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_ten_seconds_for_somebody_who_hears_it() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);

    let first = wire.question(0, Some(talk.id()), None);
    wire.send(first.clone()).await;
    tokio::time::advance(Duration::from_secs(5)).await;
    let mut listener = talk.listen().expect("going on");
    assert!(
        matches!(listener.recv().await, Some(FromServer::Asked { .. })),
        "a listener came"
    );
    drop(listener);

    let second = wire.question(1, Some(talk.id()), None);
    wire.send(second.clone()).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    let (asking, mut told) = heard(Some(talk.id()));
    let _asked = world.call(&relay, asking);
    assert!(
        matches!(told.recv().await, Some(Report::Asked { .. })),
        "a request came"
    );
    let request = wire.request().await.header.id;
    let third = wire.question(2, Some(talk.id()), None);
    wire.send(third).await;
    assert!(
        matches!(told.recv().await, Some(Report::Asked { .. })),
        "one is there"
    );
    wire.answer(&request, r#"{"content":[]}"#).await;
    for _ in 1..=2 {
        assert_eq!(wire.refusal().await.1, Some(RefusalCode::Cancelled));
    }

    let (began, last) = (Instant::now(), wire.question(3, Some(talk.id()), None));
    wire.send(last.clone()).await;
    assert_eq!(
        wire.refusal().await,
        (last.header.id, Some(RefusalCode::UnknownMethod))
    );
    let waited = began.elapsed().as_secs();
    assert!((10..=11).contains(&waited), "{waited} s");
}

#[tokio::test(start_paused = true)]
async fn sixteen_questions_wait_in_one_conversation_and_another_has_its_own() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (talk, other) = (begin(&world, &relay), begin(&world, &relay));
    for n in 0..17 {
        let question = wire.question(n, Some(talk.id()), None);
        wire.send(question).await;
    }
    let seventeenth = wire.session.as_ref().expect("connected").request(16);
    assert_eq!(wire.refusal().await, (seventeenth, Some(RefusalCode::Overloaded)));
    let question = wire.question(17, Some(other.id()), None);
    wire.send(question).await;
    let mut listener = talk.listen().expect("going on");
    for n in 0..16 {
        let Some(FromServer::Asked { id, .. }) = listener.recv().await else {
            panic!("asked");
        };
        let wanted = wire.session.as_ref().expect("connected").request(n);
        assert_eq!(&*id, wanted.as_str(), "in their order");
    }
    assert!(matches!(
        other.listen().expect("going on").recv().await,
        Some(FromServer::Asked { .. })
    ));
}

#[tokio::test]
async fn a_question_that_is_taken_back_is_told_and_has_its_one_answer() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let mut listener = talk.listen().expect("going on");
    let question = wire.question(0, Some(talk.id()), None);
    let id = question.header.id.clone();
    wire.send(question).await;
    assert!(listener.recv().await.is_some());
    wire.send(Frame::new(Kind::Cancel, id.clone(), "")).await;
    assert_eq!(wire.refusal().await, (id.clone(), Some(RefusalCode::Cancelled)));
    let Some(FromServer::Said { method, params }) = listener.recv().await else {
        panic!("said");
    };
    assert_eq!(&*method, "notifications/cancelled");
    assert_eq!(params, format!(r#"{{"requestId":"{id}"}}"#));
    let late = talk.answer(id.as_str(), Ok(Bytes::from_static(b"{}"))).await;
    assert_eq!(late, Err(UplinkError::NotAsked));
}

#[tokio::test]
async fn questions_of_a_conversation_that_ends_are_refused() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let mut listener = talk.listen().expect("going on");
    let question = wire.question(0, Some(talk.id()), None);
    wire.send(question.clone()).await;
    assert!(listener.recv().await.is_some());
    drop(talk);
    assert_eq!(
        wire.refusal().await,
        (question.header.id, Some(RefusalCode::Cancelled))
    );
    assert_eq!(wire.next().await.header.method.as_deref(), Some("toolgate/close"));
}

#[tokio::test]
async fn what_nobody_listens_to_goes_to_a_request_of_the_conversation() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let (asking, mut told) = heard(Some(talk.id()));
    let _asked = world.call(&relay, asking);
    wire.request().await;
    wire.send(Frame::notify("notifications/message", "{}").within(Some(talk.id())))
        .await;
    let Some(Report::Said { method, .. }) = told.recv().await else {
        panic!("said");
    };
    assert_eq!(&*method, "notifications/message");
}
