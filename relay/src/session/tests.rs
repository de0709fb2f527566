//! The relay's session against a gateway played frame by frame. A shell script stands for the guard.

use serde_json::json;
use tokio::task::JoinHandle;
use toolgate_contract::frame::{MAX_CHUNK, Octets};

use super::*;
use crate::{
    exec::{Exec, GuardProgram},
    link::Far,
};

/// A guard that runs nothing: `script` speaks for it. Its standard input is the lifeline.
fn guard(script: &str) -> GuardProgram {
    GuardProgram {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into(), "guard".into()],
    }
}

/// Prints the command line it was asked to run.
const ECHO: &str = r#"shift 4; echo "$@"; echo "exit 0" >&0"#;
/// Runs until the lifeline ends.
const LASTING: &str = "exec cat";

struct Played {
    far: Far,
    session: Session,
    stop: CancellationToken,
    served: JoinHandle<End>,
}

fn play(script: &str) -> Played {
    let (link, far) = Link::in_memory(None);
    let session = Session::new(&Octets([1; 32]));
    let stop = CancellationToken::new();
    let (theirs, stopping) = (session.clone(), stop.clone());
    let exec = Arc::new(Exec::new(guard(script)));
    let served = tokio::spawn(async move { serve(link, theirs, exec, &stopping).await });
    Played {
        far,
        session,
        stop,
        served,
    }
}

fn params(command: &str) -> String {
    json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}}).to_string()
}

impl Played {
    fn request(&self, counter: u64, command: &str) -> Frame {
        Frame::request(
            self.session.request(counter),
            "tools/call",
            10_000,
            params(command),
        )
    }

    async fn response(&mut self) -> Frame {
        loop {
            let frame = self.far.receive().await.expect("connected");
            if frame.header.kind == Kind::Response {
                return frame;
            }
        }
    }

    async fn error(&mut self) -> Option<RefusalCode> {
        self.response().await.header.error
    }

    async fn end(self) -> End {
        self.served.await.expect("ran")
    }
}

#[tokio::test]
async fn a_command_of_the_grammar_runs_with_fixed_arguments() {
    let mut played = play(ECHO);
    played
        .far
        .send(&played.request(0, "systemctl status nginx"))
        .await;
    let response = played.response().await;
    assert_eq!(response.header.id, played.session.request(0));
    let result: serde_json::Value = serde_json::from_slice(&response.body).expect("json");
    assert_eq!(
        result["structuredContent"]["stdout"],
        "/usr/bin/systemctl status --no-pager -- nginx\n"
    );
    assert_eq!(result["structuredContent"]["exit_code"], 0);
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn frames_sent_straight_to_the_relay_meet_the_grammar_again() {
    let mut played = play(ECHO);
    for (n, command) in [
        "rm -rf /",
        "uptime; id",
        "systemctl status -H root@x",
        "uptime\nid",
        "journalctl -n ٥",
    ]
    .iter()
    .enumerate()
    {
        played.far.send(&played.request(n as u64, command)).await;
        assert_eq!(
            played.error().await,
            Some(RefusalCode::WriteRejected),
            "{command}"
        );
    }
    let shell = Frame::request(played.session.request(99), "shell/run", 1_000, params("uptime"));
    played.far.send(&shell).await;
    assert_eq!(played.error().await, Some(RefusalCode::UnknownMethod));
}

#[tokio::test]
async fn a_captured_request_is_refused_on_the_same_and_on_a_new_connection() {
    let mut played = play(ECHO);
    let captured = played.request(5, "uptime");
    played.far.send(&captured).await;
    assert_eq!(played.error().await, None);
    for replayed in [&captured, &played.request(4, "uptime")] {
        played.far.send(replayed).await;
        assert_eq!(played.error().await, Some(RefusalCode::Replayed));
    }
    let mut other = Session::new(&Octets([2; 32]));
    std::mem::swap(&mut other, &mut played.session);
    played.far.send(&played.request(6, "uptime")).await;
    assert_eq!(
        played.error().await,
        Some(RefusalCode::Replayed),
        "the id of another session"
    );
}

#[tokio::test]
async fn a_cancelled_request_is_answered_once_as_cancelled() {
    let mut played = play(LASTING);
    played.far.send(&played.request(0, "uptime")).await;
    played
        .far
        .send(&Frame::new(Kind::Cancel, played.session.request(0), ""))
        .await;
    assert_eq!(played.error().await, Some(RefusalCode::Cancelled));
    played.far.send(&played.request(1, "rm")).await;
    assert_eq!(
        played.response().await.header.id,
        played.session.request(1),
        "nothing more of the first"
    );
}

#[tokio::test]
async fn a_request_cancelled_before_it_was_whole_is_answered_too() {
    let mut played = play(ECHO);
    let mut half = played.request(0, "uptime");
    half.header.more = true;
    played.far.send(&half).await;
    played
        .far
        .send(&Frame::new(Kind::Cancel, played.session.request(0), ""))
        .await;
    assert_eq!(played.error().await, Some(RefusalCode::Cancelled));
}

#[tokio::test]
async fn a_deadline_is_kept_by_the_relay_itself() {
    let mut played = play(LASTING);
    let mut request = played.request(0, "uptime");
    request.header.deadline_ms = Some(200);
    let began = Instant::now();
    played.far.send(&request).await;
    assert_eq!(played.error().await, Some(RefusalCode::DeadlineExceeded));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn no_more_than_64_requests_are_under_way() {
    let mut played = play(LASTING);
    for n in 0..=MAX_IN_FLIGHT as u64 {
        played.far.send(&played.request(n, "uptime")).await;
    }
    let refused = played.response().await;
    assert_eq!(refused.header.error, Some(RefusalCode::Overloaded));
    assert_eq!(refused.header.id, played.session.request(MAX_IN_FLIGHT as u64));
}

#[tokio::test]
async fn a_request_that_never_ends_is_refused_once() {
    let mut played = play(ECHO);
    let mut chunk = Frame::request(
        played.session.request(0),
        "tools/call",
        1_000,
        vec![b' '; MAX_CHUNK],
    );
    chunk.header.more = true;
    for _ in 0..Exec::BUDGET / MAX_CHUNK + 3 {
        played.far.send(&chunk).await;
    }
    chunk.header.more = false;
    played.far.send(&chunk).await;
    assert_eq!(played.error().await, Some(RefusalCode::TooLarge));
    played.far.send(&played.request(1, "rm")).await;
    assert_eq!(
        played.response().await.header.id,
        played.session.request(1),
        "and not a second time"
    );
}

#[tokio::test]
async fn what_a_sane_gateway_does_not_send_ends_the_session() {
    let zero = FrameId::zero();
    for message in [
        Bytes::from_static(b"hello"),
        Frame::new(Kind::Response, zero.clone(), "{}")
            .encode()
            .expect("encodes"),
        Frame::new(Kind::Hello, zero.clone(), "{}")
            .encode()
            .expect("encodes"),
        Frame::new(Kind::Ready, zero, "{}").encode().expect("encodes"),
    ] {
        let played = play(ECHO);
        played.far.send_raw(message.clone()).await;
        let end = played.end().await;
        assert!(matches!(end, End::Broken(_)), "{message:?}: {end:?}");
    }
}

#[tokio::test]
async fn a_goaway_ends_the_session_with_its_reason() {
    let played = play(ECHO);
    played
        .far
        .send(&Frame::message(
            Kind::GoAway,
            &GoAway {
                reason: GoAwayReason::Revoked,
            },
        ))
        .await;
    assert!(matches!(played.end().await, End::GoAway(GoAwayReason::Revoked)));
}

#[tokio::test]
async fn a_relay_that_stops_says_so() {
    let mut played = play(LASTING);
    played.far.send(&played.request(0, "uptime")).await;
    played.stop.cancel();
    let mut last = None;
    while let Some(frame) = played.far.receive().await {
        last = Some(frame);
    }
    let away: GoAway = last.expect("a goodbye").read(Kind::GoAway).expect("a goodbye");
    assert_eq!(away.reason, GoAwayReason::ShuttingDown);
    assert!(matches!(played.end().await, End::Stopped));
}

#[tokio::test(start_paused = true)]
async fn heartbeats_go_both_ways_and_silence_ends_the_session() {
    let mut played = play(ECHO);
    let began = Instant::now();
    let ping = played.far.receive().await.expect("a ping");
    assert_eq!((ping.header.kind, began.elapsed().as_secs()), (Kind::Ping, 15));
    played
        .far
        .send(&Frame::new(Kind::Ping, FrameId::parse("g7").expect("an id"), "x"))
        .await;
    let pong = played.far.receive().await.expect("a pong");
    assert_eq!((pong.header.kind, pong.header.id.as_str()), (Kind::Pong, "g7"));
    assert!(matches!(played.served.await.expect("ran"), End::Silent));
    assert_eq!(began.elapsed().as_secs(), 60, "45 seconds after the last word");
}
