//! An MCP server over HTTP that does what a test asks of it.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use ::bytes::Bytes;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, Response, StatusCode},
};
use futures::{Stream, StreamExt, stream};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};

use super::*;

/// Which era it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Sessions with ids, answers as streams, a GET stream.
    Sessions,
    /// No session ids, answers as JSON, no GET stream.
    Plain,
    /// 2026-07-28.
    Stateless,
    /// HTTP+SSE.
    Events,
    /// Sends everybody elsewhere; at `/there` it is plain.
    Redirect,
}

/// One request, as it came.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) body: String,
    pub(super) session: Option<String>,
    pub(super) revision: Option<String>,
    pub(super) mcp_method: Option<String>,
    pub(super) mcp_name: Option<String>,
}

pub(super) struct Http {
    world: Arc<World>,
    address: SocketAddr,
    /// Its own, so that all its connections can end at once.
    runtime: Mutex<Option<tokio::runtime::Runtime>>,
}

impl Drop for Http {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.lock().expect("lock").take() {
            runtime.shutdown_background();
        }
    }
}

struct World {
    script: Script,
    seen: watch::Sender<Vec<Seen>>,
    sessions: AtomicUsize,
    /// Sessions up to this one are forgotten.
    forgotten: AtomicUsize,
    forgets_always: AtomicBool,
    elsewhere: Mutex<String>,
    /// The stream of HTTP+SSE, or GET streams.
    streams: Mutex<Vec<mpsc::Sender<String>>>,
    /// The call that waits for the answer to a question.
    asking: Mutex<Option<(Value, mpsc::Sender<String>)>>,
    /// The call whose stream broke off.
    broken: Mutex<Value>,
}

impl Http {
    pub(super) async fn start(script: Script) -> Self {
        Self::start_at(script, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(super) async fn start_at(script: Script, address: SocketAddr) -> Self {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("reusable");
        socket.bind(address).expect("free");
        let listener: TcpListener = socket.listen(64).expect("listens");
        let address = listener.local_addr().expect("an address");
        let listener = listener.into_std().expect("a listener");
        let world = Arc::new(World {
            script,
            seen: watch::Sender::default(),
            sessions: AtomicUsize::new(0),
            forgotten: AtomicUsize::new(0),
            forgets_always: AtomicBool::new(false),
            elsewhere: Mutex::default(),
            streams: Mutex::default(),
            asking: Mutex::default(),
            broken: Mutex::default(),
        });
        let app = Router::new().fallback(answer).with_state(Arc::clone(&world));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a listener");
            axum::serve(listener, app).await.expect("serves");
        });
        Self {
            world,
            address,
            runtime: Mutex::new(Some(runtime)),
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(super) fn local(&self) -> LocalServer {
        LocalServer::Url(self.url())
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.world.seen.borrow().clone()
    }

    pub(super) async fn sees(&self, method: &str) {
        let mut seen = self.world.seen.subscribe();
        let look = seen.wait_for(|seen| seen.iter().any(|seen| seen.method == method));
        timeout(Duration::from_secs(10), look)
            .await
            .expect(method)
            .expect("a server");
    }

    /// Forgets the sessions there are.
    pub(super) fn forget(&self) {
        let known = self.world.sessions.load(Ordering::SeqCst);
        self.world.forgotten.store(known, Ordering::SeqCst);
    }

    pub(super) fn forget_always(&self) {
        self.world.forgets_always.store(true, Ordering::SeqCst);
    }

    pub(super) fn redirect_to(&self, place: String) {
        *self.world.elsewhere.lock().expect("lock") = place;
    }

    /// Ends it with every connection, and frees its address.
    pub(super) async fn kill(&self) -> SocketAddr {
        let runtime = self.runtime.lock().expect("lock").take().expect("alive");
        let ending = move || runtime.shutdown_timeout(Duration::from_secs(5));
        tokio::task::spawn_blocking(ending).await.expect("ended");
        self.address
    }
}

async fn answer(State(world): State<Arc<World>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 16 << 20).await.expect("a body");
    let text = String::from_utf8_lossy(&body).into_owned();
    let message: Value = serde_json::from_str(&text).unwrap_or_default();
    let method = match (&parts.method, message["method"].as_str()) {
        (&Method::POST, Some(method)) => method.to_owned(),
        (&Method::POST, None) => "response".to_owned(),
        (method, _) => method.to_string(),
    };
    world.note(&method, &text, &parts.headers);
    match world.script {
        Script::Redirect if parts.uri.path() == "/mcp" => {
            let place = world.elsewhere.lock().expect("lock").clone();
            Response::builder()
                .status(307)
                .header("location", place)
                .body(Body::empty())
                .expect("a response")
        }
        Script::Redirect | Script::Plain => world.plain(&method, &message, &text),
        Script::Sessions => world.with_session(&method, &message, &text, &parts.headers),
        Script::Stateless => world.stateless(&method, &message, &text, &parts.headers),
        Script::Events => world.events(&method, &message, &text),
    }
}

impl World {
    fn note(&self, method: &str, body: &str, headers: &HeaderMap) {
        let header = |name: &str| {
            headers
                .get(name)
                .map(|value| value.to_str().expect("ascii").to_owned())
        };
        let seen = Seen {
            method: method.to_owned(),
            body: body.to_owned(),
            session: header("mcp-session-id"),
            revision: header("mcp-protocol-version"),
            mcp_method: header("mcp-method"),
            mcp_name: header("mcp-name"),
        };
        self.seen.send_modify(|all| all.push(seen));
    }

    fn plain(&self, method: &str, message: &Value, text: &str) -> Response<Body> {
        match method {
            "GET" | "DELETE" => status(405),
            "initialize" => json_of(&initialized(message, "2025-06-18")),
            "tools/call" => json_of(&echoed(message, text)),
            _ if message["id"].is_null() => status(202),
            _ => json_of(&no_method(message)),
        }
    }

    fn with_session(&self, method: &str, message: &Value, text: &str, headers: &HeaderMap) -> Response<Body> {
        let session = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        let number = session
            .and_then(|id| id.strip_prefix("session-"))
            .and_then(|n| n.parse::<usize>().ok());
        if method == "initialize" {
            let number = self.sessions.fetch_add(1, Ordering::SeqCst) + 1;
            let mut response = events(stream::iter([initialized(message, "2025-06-18")]));
            let id = format!("session-{number}").parse().expect("a header");
            response.headers_mut().insert("mcp-session-id", id);
            return response;
        }
        let Some(number) = number else {
            return status(400);
        };
        if number <= self.forgotten.load(Ordering::SeqCst) || self.forgets_always.load(Ordering::SeqCst) {
            return status(404);
        }
        match (method, message["params"]["name"].as_str()) {
            ("GET", _) if headers.contains_key("last-event-id") => {
                let last = headers["last-event-id"].to_str().expect("ascii");
                let broken = self.broken.lock().expect("lock").clone();
                events(stream::iter([said(&broken, &format!("after {last}"))]))
            }
            ("GET", _) => {
                let (sender, receiver) = mpsc::channel(8);
                self.streams.lock().expect("lock").push(sender);
                events(of(receiver))
            }
            ("DELETE", _) => status(204),
            ("response", _) => {
                if let Some((id, asking)) = self.asking.lock().expect("lock").take() {
                    let result = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#);
                    asking.try_send(result).expect("waits");
                }
                status(202)
            }
            ("tools/call", Some("hang")) => events(stream::pending()),
            ("tools/call", Some("ask")) => self.asks(message),
            ("tools/call", Some("break_off")) => {
                *self.broken.lock().expect("lock") = message["id"].clone();
                let opening = "id: event-7\nretry: 60\ndata:\n\n".to_owned();
                raw_events(stream::iter([opening]))
            }
            ("tools/call", _) => events(stream::iter([echoed(message, text)])),
            _ if message["id"].is_null() => status(202),
            _ => json_of(&no_method(message)),
        }
    }

    fn asks(&self, message: &Value) -> Response<Body> {
        let (sender, receiver) = mpsc::channel(8);
        for said in [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{}}"#,
        ] {
            sender.try_send(said.to_owned()).expect("room");
        }
        for listener in &*self.streams.lock().expect("lock") {
            let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
            // Of a session that has ended, perhaps.
            let _ = listener.try_send(changed.to_owned());
        }
        *self.asking.lock().expect("lock") = Some((message["id"].clone(), sender));
        events(of(receiver))
    }

    fn stateless(
        self: &Arc<Self>,
        method: &str,
        message: &Value,
        text: &str,
        headers: &HeaderMap,
    ) -> Response<Body> {
        if matches!(method, "GET" | "DELETE") {
            return status(405);
        }
        if message["id"].is_null() {
            return status(202);
        }
        let id = &message["id"];
        if headers.get("mcp-method").is_none_or(|named| named != method) {
            let error =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32020,"message":"header"}}}}"#);
            return with_status(400, &error);
        }
        match (method, message["params"]["name"].as_str()) {
            ("server/discover", _) => json_of(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"scripted","version":"9"}}}}}}}}"#
            )),
            ("tools/call", Some("hang")) => {
                let told = HungUp(Arc::clone(self));
                events(stream::pending().chain(stream::once(async move {
                    drop(told);
                    String::new()
                })))
            }
            ("tools/call", Some("credentials")) => status(401),
            ("tools/call", Some("bad_gateway")) => status(502),
            ("tools/call", Some("nothing")) => json_of(""),
            ("tools/call", Some("huge")) => {
                let piece = format!(r#"{{"id":{id},"result":{{"x":"{}"#, "y".repeat(1 << 20));
                let pieces = stream::iter([piece]).chain(stream::repeat_with(|| "y".repeat(1 << 20)));
                raw(200, "application/json", pieces)
            }
            ("tools/call", _) => json_of(&echoed(message, text)),
            _ => with_status(
                404,
                &format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no such method", "data":1.0}}}}"#
                ),
            ),
        }
    }

    fn events(&self, method: &str, message: &Value, text: &str) -> Response<Body> {
        let say = |text: String| {
            let streams = self.streams.lock().expect("lock");
            streams.last().expect("a stream").try_send(text).expect("room");
            status(202)
        };
        match (method, message["params"]["name"].as_str()) {
            ("GET", _) => {
                let (sender, receiver) = mpsc::channel(8);
                self.streams.lock().expect("lock").push(sender);
                let elsewhere = self.elsewhere.lock().expect("lock").clone();
                let place = match elsewhere.is_empty() {
                    true => "/messages?session=1".to_owned(),
                    false => elsewhere,
                };
                let endpoint = stream::iter([format!("event: endpoint\ndata: {place}\n\n")]);
                raw_events(endpoint.chain(of(receiver).map(|text| event(&text))))
            }
            ("initialize" | "server/discover", _) if !self.has_stream() => status(405),
            ("initialize", _) => say(initialized(message, "2024-11-05")),
            ("tools/call", Some("hang")) => status(202),
            ("tools/call", _) => say(echoed(message, text)),
            _ if message["id"].is_null() => status(202),
            _ => say(no_method(message)),
        }
    }

    fn has_stream(&self) -> bool {
        !self.streams.lock().expect("lock").is_empty()
    }
}

/// Tells that a stream was closed from the other end.
struct HungUp(Arc<World>);

impl Drop for HungUp {
    fn drop(&mut self) {
        self.0.note("hung up", "", &HeaderMap::new());
    }
}

fn initialized(message: &Value, revision: &str) -> String {
    let id = &message["id"];
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"scripted","version":"9"}}}}}}"#
    )
}

/// The params as they came, as a result.
fn echoed(message: &Value, text: &str) -> String {
    let (_, params) = text.split_once(r#""params":"#).expect("params");
    let params = params.strip_suffix('}').expect("the relay's own envelope");
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{params}}}"#, message["id"])
}

fn said(id: &Value, text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}

fn no_method(message: &Value) -> String {
    let id = &message["id"];
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no such method"}}}}"#)
}

fn event(text: &str) -> String {
    format!("event: message\ndata: {text}\n\n")
}

fn of(receiver: mpsc::Receiver<String>) -> impl Stream<Item = String> + Send + 'static {
    stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|text| (text, receiver))
    })
}

fn events(messages: impl Stream<Item = String> + Send + 'static) -> Response<Body> {
    raw_events(messages.map(|text| event(&text)))
}

fn raw_events(pieces: impl Stream<Item = String> + Send + 'static) -> Response<Body> {
    raw(200, "text/event-stream", pieces)
}

fn raw(code: u16, content_type: &str, pieces: impl Stream<Item = String> + Send + 'static) -> Response<Body> {
    let pieces = pieces.map(|piece| Ok::<_, Infallible>(Bytes::from(piece)));
    Response::builder()
        .status(code)
        .header("content-type", content_type)
        .body(Body::from_stream(pieces))
        .expect("a response")
}

fn json_of(text: &str) -> Response<Body> {
    with_status(200, text)
}

fn with_status(code: u16, text: &str) -> Response<Body> {
    raw(
        code,
        "application/json; charset=utf-8",
        stream::iter([text.to_owned()]),
    )
}

fn status(code: u16) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(code).expect("a status"))
        .body(Body::empty())
        .expect("a response")
}
