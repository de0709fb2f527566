//! A project against a gateway played frame by frame, and servers that do what a test asks of them.

mod bytes;
mod http;
mod stdio;
mod stop;

use std::collections::VecDeque;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use toolgate_contract::frame::{Assembler, Kind, Octets, Session};

use super::*;
use crate::{
    link::{Far, Link},
    session::{End, serve},
};

/// A guard that guards nothing: the program runs in its place.
fn no_guard() -> GuardProgram {
    GuardProgram {
        program: "/bin/sh".into(),
        arguments: ["-c", r#"shift 4; exec "$@""#, "guard"].map(Into::into).into(),
    }
}

fn scripted(era: &str) -> LocalServer {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/stdio.py");
    LocalServer::Command {
        program: "python3".into(),
        arguments: vec![script.into(), era.into()],
    }
}

/// A gateway, a relay and a server.
struct Played {
    far: Far,
    joining: Assembler,
    /// What came while something else was waited for.
    earlier: VecDeque<Frame>,
    session: Session,
    next: u64,
    project: Arc<Project>,
    stop: CancellationToken,
    served: JoinHandle<End>,
}

impl Drop for Played {
    fn drop(&mut self) {
        // Servers end with their input, also those of a test that failed.
        self.project.stop.cancel();
        self.project.led.close_all();
    }
}

fn project(server: LocalServer) -> Arc<Project> {
    Project::new(Local::new(server, no_guard(), TaskTracker::new()).expect("a server"))
}

fn play(server: LocalServer) -> Played {
    let project = project(server);
    connect(project)
}

fn connect(project: Arc<Project>) -> Played {
    let (link, far) = Link::in_memory(None);
    let session = Session::new(&Octets([1; 32]));
    let stop = CancellationToken::new();
    let (service, theirs, stopping) = (Arc::clone(&project), session.clone(), stop.clone());
    let served = tokio::spawn(async move { serve(link, theirs, service, &stopping).await });
    Played {
        far,
        joining: Assembler::new(8 * MAX_BODY),
        earlier: VecDeque::new(),
        session,
        next: 0,
        project,
        stop,
        served,
    }
}

/// The same, once the server is up.
async fn up(server: LocalServer) -> Played {
    let mut played = play(server);
    played.told("up").await;
    played
}

impl Played {
    /// Sends a request, and gives its id.
    async fn ask(
        &mut self,
        conversation: Option<&str>,
        method: &str,
        params: impl Into<::bytes::Bytes>,
    ) -> FrameId {
        let id = self.session.request(self.next);
        self.next += 1;
        let frame = Frame::request(id.clone(), method, 20_000, params);
        let conversation = conversation.map(|name| FrameId::parse(name).expect("an id"));
        self.send(frame.within(conversation)).await;
        id
    }

    /// Calls a tool in the shared conversation.
    async fn call(&mut self, name: &str) -> FrameId {
        let params = json!({"name": name, "arguments": {}}).to_string();
        self.ask(None, "tools/call", params).await
    }

    async fn notify(&self, conversation: Option<&str>, method: &str, params: &'static str) {
        let conversation = conversation.map(|name| FrameId::parse(name).expect("an id"));
        self.send(Frame::notify(method, params).within(conversation))
            .await;
    }

    async fn send(&self, frame: Frame) {
        for piece in frame.chunks().expect("fits") {
            self.far.send(&piece).await;
        }
    }

    /// The next frame that `which` picks; the others are kept.
    async fn find(&mut self, which: impl Fn(&Frame) -> bool) -> Frame {
        if let Some(at) = self.earlier.iter().position(&which) {
            return self.earlier.remove(at).expect("it is there");
        }
        let look = async {
            loop {
                let piece = self.far.receive().await.expect("connected");
                let Some(frame) = self.joining.push(piece).expect("joins") else {
                    continue;
                };
                if which(&frame) {
                    return frame;
                }
                self.earlier.push_back(frame);
            }
        };
        timeout(Duration::from_secs(20), look).await.expect("in time")
    }

    async fn response(&mut self, id: &FrameId) -> Frame {
        self.find(|frame| frame.header.kind == Kind::Response && frame.header.id == *id)
            .await
    }

    async fn result(&mut self, id: &FrameId) -> Value {
        let response = self.response(id).await;
        assert_eq!(response.header.error, None, "{response:?}");
        serde_json::from_slice(&response.body).expect("json")
    }

    async fn refusal(&mut self, id: &FrameId) -> RefusalCode {
        self.response(id).await.header.error.expect("refused")
    }

    async fn notification(&mut self, method: &str) -> Frame {
        self.find(|frame| frame.header.kind == Kind::Notify && frame.header.method.as_deref() == Some(method))
            .await
    }

    async fn question(&mut self) -> Frame {
        self.find(|frame| frame.header.kind == Kind::Request).await
    }

    /// What is told of the server, once it is in this state.
    async fn told(&mut self, state: &str) -> Value {
        let wanted = format!(r#""state":"{state}""#);
        let told = self
            .find(|frame| {
                frame.header.method.as_deref() == Some("toolgate/server")
                    && String::from_utf8_lossy(&frame.body).contains(&wanted)
            })
            .await;
        serde_json::from_slice(&told.body).expect("json")
    }

    /// Leads a conversation.
    async fn lead(&mut self, name: &str) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let id = self.ask(Some(name), "initialize", params.to_string()).await;
        let result = self.result(&id).await;
        assert_eq!(result["protocolVersion"], "2025-11-25");
        self.notify(Some(name), "notifications/initialized", "{}").await;
    }

    async fn call_in(&mut self, conversation: &str, name: &str) -> FrameId {
        let params = json!({"name": name, "arguments": {}}).to_string();
        self.ask(Some(conversation), "tools/call", params).await
    }
}
