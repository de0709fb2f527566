//! A client of MCP that shows each message as it came, for tests of what passes through.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use futures::{Stream, StreamExt};
use reqwest::{
    Method, RequestBuilder,
    header::{HeaderMap, HeaderValue},
};
use serde_json::{Value, json};
use toolgate_contract::splice;

use crate::{Caller, Revision};

/// How long a message may be waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client of one endpoint.
#[derive(Debug)]
pub struct McpClient {
    caller: Caller,
    path: String,
    revision: Revision,
    capabilities: Value,
    session: Option<String>,
    hello: Heard,
    next: AtomicU64,
}

/// What came of a request.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// The status of HTTP.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The messages before the last, as they came.
    pub before: Vec<String>,
    /// The last message, as it came.
    pub answer: String,
}

/// An answer that is still coming, or a stream that stays open. Dropping it leaves.
pub struct Hearing {
    /// The status of HTTP.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    is_stream: bool,
    bytes: Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>,
    read: Vec<u8>,
    ready: VecDeque<String>,
}

impl std::fmt::Debug for Hearing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hearing")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Heard {
    /// The result as it is written; `None` for an error.
    #[must_use]
    pub fn result(&self) -> Option<&str> {
        splice::member(&self.answer, "result").ok().flatten()
    }

    /// The error as it is written; `None` for a result.
    #[must_use]
    pub fn error_text(&self) -> Option<&str> {
        splice::member(&self.answer, "error").ok().flatten()
    }

    /// The result, to be looked into.
    #[must_use]
    pub fn value(&self) -> Value {
        self.result()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// The error, to be looked into.
    #[must_use]
    pub fn error(&self) -> Value {
        self.error_text()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// The code of the error; 0 for a result.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.error()["code"].as_i64().unwrap_or_default()
    }

    /// The project that answered, where it was asked to echo.
    #[must_use]
    pub fn project(&self) -> String {
        let value = self.value();
        value["structuredContent"]["project"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// The reason, where the gate did not carry out the call.
    #[must_use]
    pub fn reason(&self) -> String {
        let (value, error) = (self.value(), self.error());
        let found = value["_meta"]["toolgate/reason"].as_str();
        found
            .or_else(|| error["data"]["reason"].as_str())
            .unwrap_or_default()
            .to_owned()
    }
}

impl McpClient {
    /// A client of `path` that can do nothing special. A handshake is made where the revision has one.
    pub async fn open(caller: &Caller, path: &str, revision: Revision) -> Self {
        Self::open_with(caller, path, revision, json!({})).await
    }

    /// The same with these capabilities.
    pub async fn open_with(caller: &Caller, path: &str, revision: Revision, capabilities: Value) -> Self {
        let mut client = Self {
            caller: caller.clone(),
            path: path.to_owned(),
            revision,
            capabilities,
            session: None,
            hello: Heard::default(),
            next: AtomicU64::new(1),
        };
        if revision == Revision::July2026 {
            return client;
        }
        let hello = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": client.capabilities,
            "clientInfo": {"name": "toolgate-tests", "version": "1"}
        });
        client.hello = client.ask("initialize", &hello.to_string()).await;
        let session = client.hello.headers.get("mcp-session-id");
        client.session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        if client.hello.result().is_some() {
            client.tell("notifications/initialized", "{}").await;
        }
        client
    }

    /// What came of the handshake.
    #[must_use]
    pub fn hello(&self) -> &Heard {
        &self.hello
    }

    /// The session's id, where there is one.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Calls a tool with arguments as JSON text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Heard {
        let tool = Value::from(tool);
        self.ask(
            "tools/call",
            &format!(r#"{{"name":{tool},"arguments":{arguments}}}"#),
        )
        .await
    }

    /// The tools, each as it is written, all pages.
    pub async fn tools(&self) -> Vec<String> {
        let mut tools = Vec::new();
        let mut params = "{}".to_owned();
        loop {
            let heard = self.ask("tools/list", &params).await;
            let Some(result) = heard.result() else {
                return tools;
            };
            let list = splice::member(result, "tools").ok().flatten().unwrap_or("[]");
            tools.extend(
                splice::elements(list)
                    .unwrap_or_default()
                    .into_iter()
                    .map(str::to_owned),
            );
            match heard.value()["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}).to_string(),
                None => return tools,
            }
        }
    }

    /// Their names.
    pub async fn names(&self) -> Vec<String> {
        let tools = self.tools().await;
        tools.iter().map(|tool| name_of(tool)).collect()
    }

    /// One tool as it is listed.
    pub async fn tool(&self, name: &str) -> Option<String> {
        self.tools().await.into_iter().find(|tool| name_of(tool) == name)
    }

    /// Asks and waits for the answer.
    pub async fn ask(&self, method: &str, params: &str) -> Heard {
        self.begin(method, params).await.1.whole().await
    }

    /// Asks; gives the id and what is being heard.
    pub async fn begin(&self, method: &str, params: &str) -> (u64, Hearing) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let params = match self.revision {
            Revision::July2026 => self.with_meta(params),
            Revision::June2025 | Revision::November2025 => params.to_owned(),
        };
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let mut request = self.post().body(body);
        if self.revision == Revision::July2026 {
            request = request.header("mcp-method", method);
            let named: Value = serde_json::from_str(&params).unwrap_or_default();
            let name = named["name"].as_str().or_else(|| named["uri"].as_str());
            if let Some(name) = name.and_then(|name| HeaderValue::from_str(name).ok()) {
                request = request.header("mcp-name", name);
            }
        }
        (
            id,
            Hearing::of(request.send().await.expect("the gateway answers")),
        )
    }

    /// Says something that has no answer; gives the status.
    pub async fn tell(&self, method: &str, params: &str) -> u16 {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        self.say(body).await
    }

    /// Takes a request back.
    pub async fn cancel(&self, id: u64) -> u16 {
        self.tell("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#))
            .await
    }

    /// Answers a request of the server's, `id` as it is written.
    pub async fn answer(&self, id: &str, result: &str) -> u16 {
        self.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
            .await
    }

    /// Opens the stream on which a session hears what belongs to no request.
    pub async fn listen(&self) -> Hearing {
        let request = self
            .dress(self.caller.request(Method::GET, &self.path))
            .header("accept", "text/event-stream");
        Hearing::of(request.send().await.expect("the gateway answers"))
    }

    /// Ends the session; gives the status.
    pub async fn leave(&self) -> u16 {
        let request = self.dress(self.caller.request(Method::DELETE, &self.path));
        self.caller.send(request).await.status
    }

    async fn say(&self, body: String) -> u16 {
        self.caller.send(self.post().body(body)).await.status
    }

    fn post(&self) -> RequestBuilder {
        self.dress(self.caller.request(Method::POST, &self.path))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    fn dress(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.header("mcp-protocol-version", self.revision.as_str());
        match &self.session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    fn with_meta(&self, params: &str) -> String {
        let mut whole = params.to_owned();
        for (key, value) in [
            ("protocolVersion", Value::from(self.revision.as_str())),
            ("clientCapabilities", self.capabilities.clone()),
            ("clientInfo", json!({"name": "toolgate-tests", "version": "1"})),
        ] {
            let key = format!("io.modelcontextprotocol/{key}");
            whole = splice::with_at(&whole, &["_meta", &key], &value.to_string()).unwrap_or(whole);
        }
        whole
    }
}

impl Hearing {
    fn of(response: reqwest::Response) -> Self {
        let headers = response.headers().clone();
        let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let status = response.status().as_u16();
        let bytes = response
            .bytes_stream()
            .filter_map(|chunk| std::future::ready(chunk.ok().map(|chunk| chunk.to_vec())));
        Self {
            status,
            headers,
            is_stream,
            bytes: Box::pin(bytes),
            read: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    /// The next message; `None` at the end, or when none comes for a while.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let Ok(chunk) = tokio::time::timeout(PATIENCE, self.bytes.next()).await else {
                return None;
            };
            match chunk {
                Some(chunk) => {
                    self.read.extend_from_slice(&chunk);
                    if self.is_stream {
                        self.cut();
                    }
                }
                None if self.read.is_empty() || self.is_stream => return None,
                None => return String::from_utf8(std::mem::take(&mut self.read)).ok(),
            }
        }
    }

    /// The next message of a method, others passed over.
    pub async fn next_of(&mut self, method: &str) -> Option<String> {
        while let Some(message) = self.next().await {
            let told: Value = serde_json::from_str(&message).unwrap_or_default();
            if told["method"] == method {
                return Some(message);
            }
        }
        None
    }

    /// All messages to the end.
    pub async fn whole(mut self) -> Heard {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        Heard {
            status: self.status,
            headers: self.headers,
            answer: messages.pop().unwrap_or_default(),
            before: messages,
        }
    }

    fn cut(&mut self) {
        while let Some(end) = self.read.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.read.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            let data = block.lines().filter_map(|line| line.strip_prefix("data:"));
            let data: Vec<&str> = data.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            let data = data.join("\n");
            if !data.is_empty() {
                self.ready.push_back(data);
            }
        }
    }
}

/// The name of a tool as it is listed.
fn name_of(tool: &str) -> String {
    let tool: Value = serde_json::from_str(tool).unwrap_or_default();
    tool["name"].as_str().unwrap_or_default().to_owned()
}
