//! Calls to the server of a project, and what it says while they go on.

use serde_json::{Value, json};
use toolgate_contract::{
    frame::{MAX_CHUNK, MAX_IN_FLIGHT, Refusal},
    ids::CallId,
};

use super::{conversations::begin, hosts::contact, *};
use crate::upstream::{
    AWAY, Message, Payload, Raw, Report, Reports, Told as Reader, ToolResult, UpstreamCall, UpstreamError,
    Wanted,
};

const WAIT: Duration = Duration::from_secs(10);
const FINE: &str = r#"{"content":[],"n":1.0}"#;

pub(super) fn call(method: &str, params: impl Into<Bytes>, conversation: Option<FrameId>) -> UpstreamCall {
    UpstreamCall {
        secret: None,
        call: CallId::mint(),
        tool: "",
        arguments: Payload(Bytes::new()),
        deadline: WAIT,
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: Some(Message {
            method: method.into(),
            params: Payload(params.into()),
            conversation,
        }),
    }
}

/// A call of a tool, and the reader of everything that is said meanwhile.
pub(super) fn heard(conversation: Option<FrameId>) -> (UpstreamCall, Reader) {
    let (reports, told) = Reports::wanted(Wanted {
        progress: true,
        level: None,
        everything: true,
    });
    let call = call("tools/call", "{}", conversation);
    (UpstreamCall { reports, ..call }, told)
}

pub(super) type Asked = JoinHandle<Result<ToolResult, UpstreamError>>;

impl World {
    pub(super) fn call(&self, relay: &Relay, call: UpstreamCall) -> Asked {
        let (tenant, upstream) = (self.tenant.clone(), self.upstream(relay));
        tokio::spawn(async move { upstream.call(&contact(&tenant), call).await })
    }

    fn upstream(&self, relay: &Relay) -> Arc<dyn Upstream> {
        Arc::new(ProjectUpstream::new(
            self.uplinks.clone(),
            relay.target(),
            "alpha".into(),
        ))
    }
}

fn raw(result: Result<ToolResult, UpstreamError>) -> Bytes {
    match result.expect("answered").raw {
        Some(Raw::Result(bytes)) => bytes,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_reaches_the_server_as_it_is_and_its_result_comes_back_raw() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let asked = world.call(&relay, call("tools/call", r#"{"name" : "a","n":1e400}"#, None));
    let request = wire.request().await;
    assert_eq!(request.header.method.as_deref(), Some("tools/call"));
    assert_eq!(request.body, r#"{"name" : "a","n":1e400}"#);
    assert!(
        request
            .header
            .deadline_ms
            .is_some_and(|ms| ms > 9_000 && ms <= 10_000)
    );
    assert_eq!((request.header.conversation, request.header.about), (None, None));
    wire.answer(&request.header.id, FINE).await;
    assert_eq!(raw(asked.await.expect("ran")), FINE);
}

#[tokio::test]
async fn a_message_without_parameters_or_deadline_goes_without() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let endless = UpstreamCall {
        deadline: Duration::MAX,
        ..call("resources/list", "", Some(FrameId::raw()))
    };
    let asked = world.call(&relay, endless);
    let request = wire.request().await;
    assert_eq!(
        (request.header.deadline_ms, request.body.as_ref()),
        (None, &b"{}"[..])
    );
    assert_eq!(request.header.conversation, Some(FrameId::raw()));
    wire.answer(&request.header.id, "{}").await;
    let result = asked.await.expect("ran").expect("answered");
    assert_eq!(result.content.get(), "null");
}

#[tokio::test]
async fn an_error_of_the_server_is_an_answer() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let asked = world.call(&relay, call("prompts/get", "{}", None));
    let id = wire.request().await.header.id;
    let error = r#"{"code":-32602,"message":"no such prompt","data":[]}"#;
    wire.send(Frame::answered_with_error(id, error)).await;
    let result = asked.await.expect("ran").expect("answered");
    assert!(result.is_error);
    assert_eq!(result.raw, Some(Raw::Error(Bytes::from_static(error.as_bytes()))));
}

#[tokio::test]
async fn why_there_is_no_answer_is_told_by_name() {
    let world = World::new();
    let relay = world.project();
    let (project, id): (Arc<str>, Arc<str>) = ("alpha".into(), relay.target().to_string().into());
    let offline = UpstreamError::ProjectOffline {
        project: Arc::clone(&project),
        relay: Arc::clone(&id),
        why: AWAY,
    };
    let asked = world.call(&relay, call("tools/call", "{}", None));
    assert_eq!(asked.await.expect("ran").expect_err("offline"), offline);
    let down = UpstreamError::ProjectDown {
        project: Arc::clone(&project),
        relay: id,
    };
    let mut wire = world.connect(&relay).await;
    for (code, wanted) in [
        (RefusalCode::ServerDown, down),
        (RefusalCode::ConversationUnknown, UpstreamError::ConversationOver),
        (RefusalCode::DeadlineExceeded, UpstreamError::Timeout),
        (RefusalCode::Overloaded, UpstreamError::Overloaded),
        (RefusalCode::TooLarge, UpstreamError::TooLarge),
        (RefusalCode::Cancelled, UpstreamError::Cancelled),
        (RefusalCode::WriteRejected, UpstreamError::Failed),
        (RefusalCode::Unknown, UpstreamError::Failed),
    ] {
        let asked = world.call(&relay, call("tools/call", "{}", None));
        let id = wire.request().await.header.id;
        wire.send(Frame::refusal(id, &Refusal::new(code, "no"))).await;
        assert_eq!(asked.await.expect("ran").expect_err("refused"), wanted);
    }
    let asked = world.call(&relay, call("tools/call", "{}", None));
    wire.request().await;
    drop(wire);
    let lost = UpstreamError::ProjectLost { project };
    assert_eq!(asked.await.expect("ran").expect_err("lost"), lost);
}

#[tokio::test]
async fn a_project_is_none_of_another_tenant_and_no_host() {
    let world = World::new();
    let (project, host) = (world.project(), world.enrolled());
    let _wires = (world.connect(&project).await, world.connect(&host).await);
    assert!(world.uplinks.host(project.target()).is_none());
    assert!(world.uplinks.project(host.target(), "x".into()).is_none());
    assert!(world.uplinks.project(TargetId::mint(), "x".into()).is_none());
    assert!(world.uplinks.is_connected(project.target()) && world.uplinks.is_connected(host.target()));
    let upstream = world
        .uplinks
        .project(project.target(), "alpha".into())
        .expect("connected");
    let other = contact(&TenantId::mint());
    let refused = upstream
        .call(&other, call("tools/call", "{}", None))
        .await
        .expect_err("refused");
    assert!(
        matches!(refused, UpstreamError::ProjectOffline { .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_caller_that_leaves_or_cancels_is_told_to_the_relay() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    for leaves in [true, false] {
        let asked = call("tools/call", "{}", None);
        let cancelled = asked.cancelled.clone();
        let asked = world.call(&relay, asked);
        let id = wire.request().await.header.id;
        if leaves {
            asked.abort();
        } else {
            cancelled.cancel();
            assert_eq!(
                asked.await.expect("ran").expect_err("cancelled"),
                UpstreamError::Cancelled
            );
        }
        let cancel = wire.next().await;
        assert_eq!((cancel.header.kind, &cancel.header.id), (Kind::Cancel, &id));
        wire.send(Frame::refusal(
            id,
            &Refusal::new(RefusalCode::Cancelled, "so be it"),
        ))
        .await;
    }
}

#[tokio::test]
async fn a_caller_that_leaves_in_the_middle_of_a_long_request_leaves_the_others_alone() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let long = world.call(&relay, call("tools/call", vec![b' '; 100 * MAX_CHUNK], None));
    let first = wire.request().await;
    assert!(first.header.more);
    long.abort();
    let asked = world.call(&relay, call("tools/call", "{}", None));
    let mut cancelled = false;
    let whole = loop {
        let frame = wire.next().await;
        match frame.header.kind {
            Kind::Cancel => {
                assert_eq!(frame.header.id, first.header.id);
                cancelled = true;
            }
            Kind::Request if frame.header.id != first.header.id => break frame,
            _ => {}
        }
    };
    wire.answer(&whole.header.id, FINE).await;
    assert!(asked.await.expect("ran").is_ok());
    while !cancelled {
        cancelled = wire.next().await.header.kind == Kind::Cancel;
    }
}

#[tokio::test]
async fn what_the_server_says_goes_to_the_call_it_belongs_to_and_before_its_answer() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let mut readers = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..2 {
        let (asking, told) = heard(None);
        readers.push(told);
        calls.push(world.call(&relay, asking));
    }
    let ids = [wire.request().await.header.id, wire.request().await.header.id];
    for (n, id) in ids.iter().enumerate() {
        let params = format!(r#"{{"progressToken":{n},"progress":1}}"#);
        let said = Frame::notify("notifications/progress", params.clone()).about(Some(id.clone()));
        wire.send(said).await;
        wire.answer(id, FINE).await;
    }
    let mut seen = Vec::new();
    for (call, mut told) in calls.into_iter().zip(readers) {
        assert!(call.await.expect("ran").is_ok());
        let Report::Said { method, params } = told.try_recv().expect("told before the answer") else {
            panic!("said");
        };
        assert_eq!(&*method, "notifications/progress");
        let params: Value = serde_json::from_slice(&params).expect("json");
        seen.push(params["progressToken"].clone());
        assert!(told.try_recv().is_err());
    }
    seen.sort_by_key(Value::as_u64);
    assert_eq!(seen, [json!(0), json!(1)]);
}

#[tokio::test]
async fn what_the_server_says_to_all_is_told_with_its_state() {
    let world = World::new();
    let (_relay, wire) = world.connected_project().await;
    let state = r#"{"state":"up","name":"every\u0007thing","version":"1","revision":"2025-11-25"}"#;
    wire.send(Frame::notify("toolgate/server", state)).await;
    wire.send(Frame::notify("notifications/tools/list_changed", ""))
        .await;
    wire.send(Frame::notify("toolgate/else", "{}")).await;
    wire.send(Frame::notify("notifications/odd", "[1]")).await;
    wire.send(Frame::notify("notifications/odd", "{")).await;
    drop(wire.to_gateway);
    wire.served.await.expect("ended");
    let said = world.told.said.lock().expect("lock").clone();
    assert_eq!(
        said,
        [("notifications/tools/list_changed".to_owned(), Bytes::new())]
    );
    let servers = world.told.servers.lock().expect("lock").clone();
    assert_eq!(servers.len(), 1);
    assert_eq!(servers[0].name.as_deref(), Some("everything"));
}

#[tokio::test]
async fn what_concerns_all_is_told_to_all_though_it_comes_in_the_stream_of_a_call() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (asking, mut told) = heard(None);
    let asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    let all = [
        "notifications/progress",
        "notifications/message",
        "notifications/tools/list_changed",
    ];
    for method in all {
        wire.send(Frame::notify(method, "{}").about(Some(request.clone())))
            .await;
    }
    wire.answer(&request, FINE).await;
    assert!(asked.await.expect("ran").is_ok());
    for wanted in all {
        let Ok(Report::Said { method, .. }) = told.try_recv() else {
            panic!("said");
        };
        assert_eq!(&*method, wanted);
    }
    let said = world.told.said.lock().expect("lock").clone();
    let said: Vec<_> = said.into_iter().map(|(method, _)| method).collect();
    assert_eq!(said, all[1..]);
}

#[tokio::test]
async fn presence_tells_how_the_server_does() {
    let world = World::new();
    let (project, host) = (world.project(), world.enrolled());
    let (wire, host_wire) = (world.connect(&project).await, world.connect(&host).await);
    let down = r#"{"state":"down","why":"exit status 1"}"#;
    for wire in [&wire, &host_wire] {
        wire.send(Frame::notify("toolgate/server", down)).await;
        wire.send(Frame::notify("toolgate/odd", "")).await;
    }
    let seen = |relay: &Relay| world.presence(relay);
    while seen(&project).passed_over == 0 {
        tokio::task::yield_now().await;
    }
    let server = seen(&project).server.expect("told");
    assert_eq!(
        (server.state, server.why.as_deref()),
        (ServerPhase::Down, Some("exit status 1"))
    );
    assert_eq!((seen(&host).server, seen(&host).passed_over), (None, 0));
}

#[tokio::test]
async fn a_question_goes_to_the_caller_and_its_answer_back() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = begin(&world, &relay);
    let (asking, mut told) = heard(Some(talk.id()));
    let asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    for (n, answer, code) in [
        (1, Ok("{\"role\":\"user\"}"), None),
        (
            2,
            Err("{\"code\":-1,\"message\":\"no\"}"),
            Some(RefusalCode::AnsweredWithError),
        ),
    ] {
        let question = wire.question(n, None, Some(request.clone()));
        wire.send(question.clone()).await;
        let Some(Report::Asked { id, method, params }) = told.recv().await else {
            panic!("asked");
        };
        assert_eq!(
            (&*method, params.as_ref()),
            ("sampling/createMessage", &b"{\"n\":1}"[..])
        );
        let answer = answer.map(Bytes::from_static_str).map_err(Bytes::from_static_str);
        assert_eq!(talk.answer(&id, answer.clone()).await, Ok(()));
        assert_eq!(
            talk.answer(&id, answer.clone()).await,
            Err(UplinkError::NotAsked),
            "once"
        );
        let response = wire.next().await;
        assert_eq!(
            (&response.header.id, response.header.error),
            (&question.header.id, code)
        );
        assert_eq!(response.body, answer.unwrap_or_else(|error| error));
    }
    wire.answer(&request, FINE).await;
    assert!(asked.await.expect("ran").is_ok());
}

#[tokio::test]
async fn a_question_about_a_call_that_takes_none_is_refused() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (reports, _told) = Reports::wanted(Wanted {
        progress: true,
        ..Wanted::default()
    });
    let asking = UpstreamCall {
        reports,
        ..call("tools/call", "{}", None)
    };
    let _asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    let question = wire.question(1, None, Some(request));
    wire.send(question.clone()).await;
    let wanted = (question.header.id, Some(RefusalCode::UnknownMethod));
    assert_eq!(wire.refusal().await, wanted);
}

#[tokio::test(start_paused = true)]
async fn a_question_whose_call_has_ended_is_refused_soon() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let (asking, mut told) = heard(None);
    let asked = world.call(&relay, asking);
    let request = wire.request().await.header.id;
    let question = wire.question(1, None, Some(request.clone()));
    wire.send(question.clone()).await;
    assert!(matches!(told.recv().await, Some(Report::Asked { .. })));
    wire.answer(&request, FINE).await;
    assert!(asked.await.expect("ran").is_ok());
    let wanted = (question.header.id, Some(RefusalCode::Cancelled));
    assert_eq!(wire.refusal().await, wanted);
}

#[tokio::test]
async fn sixty_four_calls_and_sixty_four_questions_go_on_at_once() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let talk = Arc::new(begin(&world, &relay));
    let calls: Vec<_> = (0..MAX_IN_FLIGHT)
        .map(|_| {
            let (asking, mut told) = heard(Some(talk.id()));
            let (asked, talk) = (world.call(&relay, asking), Arc::clone(&talk));
            tokio::spawn(async move {
                let Some(Report::Asked { id, params, .. }) = told.recv().await else {
                    panic!("asked");
                };
                talk.answer(&id, Ok(params)).await.expect("answered");
                raw(asked.await.expect("ran"))
            })
        })
        .collect();
    let mut ids = Vec::new();
    for _ in 0..MAX_IN_FLIGHT {
        ids.push(wire.request().await.header.id);
    }
    // Questions in chunks, all of them interleaved, each about its own call.
    let mut questions: Vec<_> = (0u64..)
        .zip(&ids)
        .map(|(n, id)| {
            let mut question = wire.question(n, Some(talk.id()), Some(id.clone()));
            let filling = char::from(b'a' + (n % 26) as u8).to_string().repeat(MAX_CHUNK);
            question.body = format!(r#"{{"about":"{id}","filling":"{filling}"}}"#).into();
            question.chunks().expect("fits")
        })
        .collect();
    let mut left = true;
    while left {
        left = false;
        for chunk in questions.iter_mut().filter_map(Iterator::next) {
            left = true;
            wire.send(chunk).await;
        }
    }
    let mut joined = toolgate_contract::frame::Assembler::new(1 << 25);
    let mut answered = 0;
    while answered < MAX_IN_FLIGHT {
        let frame = wire.next().await;
        assert_eq!((frame.header.kind, frame.header.error), (Kind::Response, None));
        let Some(whole) = joined.push(frame).expect("joins") else {
            continue;
        };
        let said: Value = serde_json::from_slice(&whole.body).expect("json");
        let number = wire
            .session
            .as_ref()
            .expect("connected")
            .counter(&whole.header.id);
        let id = &ids[usize::try_from(number.expect("ours")).expect("small")];
        assert_eq!(
            said["about"],
            id.to_string(),
            "the answer of the call it was about"
        );
        let result = format!(r#"{{"content":[],"for":"{id}"}}"#);
        wire.send(Frame::new(Kind::Response, id.clone(), result)).await;
        answered += 1;
    }
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.expect("ran"));
    }
    results.sort();
    results.dedup();
    assert_eq!(results.len(), MAX_IN_FLIGHT);
}

#[tokio::test]
async fn requests_that_wait_for_ever_leave_room_for_others() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let endless = || UpstreamCall {
        deadline: Duration::MAX,
        ..call("subscriptions/listen", "{}", Some(FrameId::raw()))
    };
    let waiting: Vec<_> = (0..MAX_IN_FLIGHT * 3 / 4)
        .map(|_| world.call(&relay, endless()))
        .collect();
    for _ in &waiting {
        wire.request().await;
    }
    let refused = world.call(&relay, endless()).await.expect("ran");
    assert_eq!(refused.expect_err("refused"), UpstreamError::Overloaded);
    for _ in 0..100 {
        let asked = world.call(&relay, call("tools/call", "{}", None));
        let id = wire.request().await.header.id;
        wire.answer(&id, FINE).await;
        assert!(asked.await.expect("ran").is_ok());
    }
    // One that leaves makes room for another.
    for call in waiting {
        call.abort();
        let id = wire.next().await.header.id;
        wire.send(Frame::refusal(id, &Refusal::new(RefusalCode::Cancelled, "")))
            .await;
    }
    while world.presence(&relay).in_flight > 0 {
        tokio::task::yield_now().await;
    }
    let _again = world.call(&relay, endless());
    assert_eq!(
        wire.request().await.header.method.as_deref(),
        Some("subscriptions/listen")
    );
}

#[tokio::test]
async fn a_call_that_hangs_delays_no_other_and_loss_answers_all_at_once() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let hanging: Vec<_> = (0..MAX_IN_FLIGHT - 1)
        .map(|_| world.call(&relay, call("tools/call", "{}", None)))
        .collect();
    for _ in &hanging {
        wire.request().await;
    }
    for _ in 0..50 {
        let asked = world.ask(relay.target(), "{}", WAIT);
        let id = wire.request().await.header.id;
        wire.answer(&id, "{}").await;
        assert!(asked.await.expect("ran").is_ok());
    }
    drop(wire);
    let began = Instant::now();
    for call in hanging {
        let lost = call.await.expect("ran").expect_err("lost");
        assert!(matches!(lost, UpstreamError::ProjectLost { .. }), "{lost:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(2));
}

/// Printed, not judged: `cargo test -p toolgate-core --lib calls_a_second -- --nocapture --ignored`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn calls_a_second() {
    let world = World::new();
    let (relay, mut wire) = world.connected_project().await;
    let answering = tokio::spawn(async move {
        while let Some(frame) = wire.receive().await {
            if frame.header.kind == Kind::Request {
                wire.answer(&frame.header.id, FINE).await;
            }
        }
    });
    let began = std::time::Instant::now();
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let (tenant, upstream) = (world.tenant.clone(), world.upstream(&relay));
            tokio::spawn(async move {
                let contact = contact(&tenant);
                for _ in 0..500 {
                    upstream
                        .call(
                            &contact,
                            call("tools/call", r#"{"name":"a","arguments":{}}"#, None),
                        )
                        .await
                        .expect("answered");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("ran");
    }
    let took = began.elapsed();
    println!("{:.0} calls/s", 32_000.0 / took.as_secs_f64());
    answering.abort();
}

/// So that one table holds results and errors.
trait StaticText {
    fn from_static_str(text: &'static str) -> Self;
}

impl StaticText for Bytes {
    fn from_static_str(text: &'static str) -> Self {
        Self::from_static(text.as_bytes())
    }
}
