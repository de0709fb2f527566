//! Event streams: framing, resuming, keeping alive, and what leaving does.

use std::time::Duration;

use http_body_util::BodyExt;
use toolgate_contract::v1::{
    CallDone, ErrorReason, Failure, ToolResult, WatchResponse, watch_response::Event,
};
use toolgate_facade::{FacadeConfig, Limits};
use tower::ServiceExt;

use crate::{
    core::{CALL_ID, ScriptedCore},
    world::World,
};

fn path() -> String {
    format!("/api/mcp/stream/{CALL_ID}")
}

fn event(number: u32, event: Event) -> Result<WatchResponse, tonic::Status> {
    Ok(WatchResponse {
        id: format!("{CALL_ID}-{number}"),
        event: Some(event),
    })
}

fn text(content: &'static str) -> Event {
    Event::ToolResult(ToolResult {
        content: content.into(),
        ..Default::default()
    })
}

fn done() -> Event {
    Event::Done(CallDone { duration_ms: 41 })
}

#[tokio::test]
async fn a_call_is_streamed_as_documented() {
    let world = World::start().await;
    let events = world.core.will_stream();
    let mut stream = world.live(&path(), &[]).await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    assert_eq!(stream.headers["cache-control"], "no-store");
    assert_eq!(stream.headers["x-accel-buffering"], "no");

    let result = ToolResult {
        content: "[{\"type\":\"text\",\n\"text\":\"a\\nb\"}]".into(),
        structured_content: "{\r\n\"exit_code\":0}".into(),
        is_error: false,
        meta: r#"{"toolgate/target":{"id":"T"}}"#.into(),
        ..Default::default()
    };
    events.send(event(1, Event::ToolResult(result))).await.unwrap();
    assert_eq!(
        stream.piece().await,
        format!(
            "id: {CALL_ID}-1\nevent: tool_result\ndata: {{\"content\":[{{\"type\":\"text\", \"text\":\"a\\nb\"}}],\
             \"structuredContent\":{{  \"exit_code\":0}},\"isError\":false,\
             \"_meta\":{{\"toolgate/target\":{{\"id\":\"T\"}}}}}}\n\n"
        )
    );
    events.send(event(2, done())).await.unwrap();
    assert_eq!(
        stream.rest().await,
        format!("id: {CALL_ID}-2\nevent: done\ndata: {{\"durationMs\":41}}\n\n")
    );
    // The stream ends by itself, though the core's side is still open.
    world.core.until_open(0).await;
}

#[tokio::test]
async fn a_failed_call_ends_with_its_problem() {
    let world = World::start().await;
    let events = world.core.will_stream();
    let failure = Failure::new(
        ErrorReason::UpstreamTimeout,
        "the target was silent for 10 seconds",
    );
    events.send(event(1, Event::Error(failure))).await.unwrap();
    let whole = world.live(&path(), &[]).await.rest().await;
    let data = whole
        .strip_prefix(&format!("id: {CALL_ID}-1\nevent: error\ndata: "))
        .expect("framing");
    let problem: serde_json::Value = serde_json::from_str(data.strip_suffix("\n\n").unwrap()).unwrap();
    assert_eq!(problem["status"], 504);
    assert_eq!(problem["type"], "urn:toolgate:error:upstream-timeout");
    assert_eq!(problem["detail"], "the target was silent for 10 seconds");
}

#[tokio::test]
async fn a_stream_that_breaks_says_so() {
    let check = async |last: Option<Result<WatchResponse, tonic::Status>>, reason: &str| {
        let world = World::start().await;
        let events = world.core.will_stream();
        events.send(event(1, text("[]"))).await.unwrap();
        if let Some(last) = last {
            events.send(last).await.unwrap();
        }
        drop(events);
        let whole = world.live(&path(), &[]).await.rest().await;
        let error = whole
            .rsplit_once("event: error\ndata: ")
            .expect("an error event")
            .1;
        assert!(error.contains(&format!("\"reason\":\"{reason}\"")), "{error}");
        assert!(error.ends_with("}\n\n"));
    };
    check(None, "INTERNAL").await;
    check(
        Some(Err(
            Failure::new(ErrorReason::Overloaded, "too slow").into_status()
        )),
        "OVERLOADED",
    )
    .await;
    check(Some(Err(tonic::Status::internal("secret detail"))), "INTERNAL").await;
}

#[tokio::test]
async fn a_reader_resumes_after_the_last_event_it_saw() {
    let world = World::start().await;
    let events = world.core.will_stream();
    events.send(event(2, done())).await.unwrap();
    let last = format!("{CALL_ID}-1");
    let whole = world
        .live(&path(), &[("last-event-id", &last)])
        .await
        .rest()
        .await;
    assert!(whole.starts_with(&format!("id: {CALL_ID}-2\n")), "{whole}");
    let asked = &world.core.asked("Watch")[0].message;
    assert!(
        asked.contains(&format!("last_event_id: Some({last:?})")),
        "{asked}"
    );
}

#[tokio::test]
async fn a_reader_who_saw_the_last_event_is_told_not_to_come_back() {
    let world = World::start().await;
    drop(world.core.will_stream());
    let last = format!("{CALL_ID}-2");
    let mut answer = world.live(&path(), &[("last-event-id", &last)]).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.headers.get("content-type"), None);
    assert_eq!(answer.rest().await, "");
}

#[tokio::test]
async fn a_reader_who_resumes_a_call_under_way_waits_for_its_events() {
    let world = World::start().await;
    let events = world.core.will_stream();
    let last = format!("{CALL_ID}-1");
    let mut answer = world.live(&path(), &[("last-event-id", &last)]).await;
    assert_eq!(answer.status, 200);
    events.send(event(2, done())).await.unwrap();
    let whole = answer.rest().await;
    assert!(whole.starts_with(&format!("id: {CALL_ID}-2\n")), "{whole}");
}

#[tokio::test]
async fn an_unknown_call_is_a_plain_404() {
    let world = World::start().await;
    world
        .get("/api/mcp/stream/01UNKNOWN")
        .await
        .problem(404, "CALL_NOT_FOUND");
}

#[tokio::test]
async fn a_head_request_does_not_become_a_reader() {
    let world = World::start().await;
    let _events = world.core.will_stream();
    let answer = world.ask("HEAD", &path(), &[], "").await;
    assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "GET"));
    assert!(world.core.asked("Watch").is_empty());
}

#[tokio::test]
async fn several_readers_watch_one_call_and_each_leaves_alone() {
    let world = World::start().await;
    let (first, second) = (world.core.will_stream(), world.core.will_stream());
    let one = world.live(&path(), &[]).await;
    let mut two = world.live(&path(), &[]).await;
    world.core.until_open(2).await;
    drop(one);
    world.core.until_open(1).await;
    assert!(
        first.send(event(1, text("[]"))).await.is_err(),
        "the first watch is gone"
    );
    second.send(event(1, done())).await.unwrap();
    assert!(two.rest().await.contains("event: done"));
}

#[tokio::test]
async fn a_reader_that_leaves_drops_its_watch_at_once() {
    let world = World::start().await;
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let _events = world.core.will_stream();
        let stream = world.live(&path(), &[]).await;
        world.core.until_open(1).await;
        let left = std::time::Instant::now();
        drop(stream);
        world.core.until_open(0).await;
        slowest = slowest.max(left.elapsed());
    }
    // The promise is 100 ms at the 99th percentile; the rest is room for a busy machine.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[tokio::test]
async fn a_reader_that_reads_nothing_is_cut() {
    let limits = Limits {
        write: Duration::from_millis(200),
        ..Limits::default()
    };
    let world = World::with(
        ScriptedCore::new(),
        FacadeConfig {
            limits,
            ..FacadeConfig::default()
        },
    )
    .await;
    let events = world.core.will_stream();
    let mut reader = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let request = format!("GET {} HTTP/1.1\r\nhost: {}\r\n\r\n", path(), world.address);
    tokio::io::AsyncWriteExt::write_all(&mut reader, request.as_bytes())
        .await
        .unwrap();
    let piece = format!("[\"{}\"]", "x".repeat(1024 * 1024));
    let mut sent = 0_u32;
    loop {
        let result = ToolResult {
            content: piece.clone().into(),
            ..Default::default()
        };
        sent += 1;
        assert!(
            sent < 1000,
            "everything is taken from a reader that reads nothing"
        );
        if events.send(event(sent, Event::ToolResult(result))).await.is_err() {
            break;
        }
    }
    world.core.until_open(0).await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_alive_every_fifteen_seconds() {
    let core = ScriptedCore::new();
    let events = core.will_stream();
    let router = toolgate_facade::router(core.service(), &FacadeConfig::default()).unwrap();
    let request = http::Request::get(path())
        .header("host", "localhost")
        .body(axum::body::Body::empty())
        .unwrap();
    let mut body = router.oneshot(request).await.unwrap().into_body();
    let began = tokio::time::Instant::now();
    let mut next = async || {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        (
            String::from_utf8(frame.to_vec()).unwrap(),
            began.elapsed().as_secs(),
        )
    };
    assert_eq!(next().await, (":\n\n".into(), 15));
    assert_eq!(next().await, (":\n\n".into(), 30));
    tokio::time::advance(Duration::from_secs(10)).await;
    events.send(event(1, text("[]"))).await.unwrap();
    assert!(next().await.0.contains("tool_result"));
    // Counted from the last thing said.
    assert_eq!(next().await, (":\n\n".into(), 55));
}
