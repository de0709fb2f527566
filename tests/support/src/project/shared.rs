//! What the sessions of a project have in common: its script and what it has seen.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};
use toolgate_contract::frame::{FrameId, Session};

use super::{Asked, Does, Witnessed, lock};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) name: String,
    script: Mutex<Script>,
    session: Mutex<Option<Session>>,
    requests: AtomicU64,
    seen: watch::Sender<Witnessed>,
    told: Notify,
}

#[derive(Debug)]
struct Script {
    tools: Vec<String>,
    page: usize,
    does: BTreeMap<String, Does>,
}

impl Shared {
    pub(super) fn new(name: &str, tools: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            script: Mutex::new(Script {
                tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
                page: usize::MAX,
                does: BTreeMap::new(),
            }),
            session: Mutex::new(None),
            requests: AtomicU64::new(0),
            seen: watch::Sender::new(Witnessed::default()),
            told: Notify::new(),
        }
    }

    pub(super) fn when(&self, what: &str, does: Does) {
        lock(&self.script).does.insert(what.to_owned(), does);
    }

    pub(super) fn offer(&self, tools: &[&str]) {
        lock(&self.script).tools = tools.iter().map(|&tool| tool.to_owned()).collect();
    }

    pub(super) fn page(&self, size: usize) {
        lock(&self.script).page = size;
    }

    pub(super) fn tell(&self) {
        self.told.notify_one();
    }

    pub(super) async fn until_told(&self) {
        self.told.notified().await;
    }

    /// What is done about a request.
    pub(super) fn does(&self, asked: &Asked) -> Does {
        let script = lock(&self.script);
        let (tool, arguments) = call_of(&asked.params);
        let what = match asked.method.as_str() {
            "tools/call" => &tool,
            method => method,
        };
        let done = script.does.get(what).or_else(|| script.does.get(&asked.method));
        match (done, asked.method.as_str()) {
            (Some(Does::Echoes), _) | (None, "tools/call") => self.echo(&tool, arguments),
            (Some(does), _) => does.clone(),
            (None, "tools/list") => Does::Answers(script.list(&asked.params)),
            (None, "initialize") => Does::Answers(self.initialized(&asked.params)),
            (None, "ping" | "logging/setLevel") => Does::Answers("{}".to_owned()),
            (None, _) => Does::Errs(r#"{"code":-32601,"message":"Method not found"}"#.to_owned()),
        }
    }

    /// The name, the tool and the arguments.
    pub(super) fn echo_of(&self, asked: &Asked) -> Does {
        let (tool, arguments) = call_of(&asked.params);
        self.echo(&tool, arguments)
    }

    fn echo(&self, tool: &str, arguments: &str) -> Does {
        let (name, tool) = (&self.name, serde_json::Value::from(tool));
        Does::Answers(format!(
            r#"{{"content":[{{"type":"text","text":"{name}"}}],"structuredContent":{{"project":"{name}","tool":{tool},"arguments":{arguments}}}}}"#
        ))
    }

    fn initialized(&self, params: &str) -> String {
        let params: serde_json::Value = serde_json::from_str(params).unwrap_or_default();
        let revision = &params["protocolVersion"];
        let name = &self.name;
        format!(
            r#"{{"protocolVersion":{revision},"capabilities":{{"tools":{{"listChanged":true}},"prompts":{{}},"resources":{{"subscribe":true}},"completions":{{}},"logging":{{}}}},"serverInfo":{{"name":"{name}","version":"1.0.0"}},"instructions":"I am {name}."}}"#
        )
    }

    pub(super) fn opened(&self, session: Option<Session>) {
        *lock(&self.session) = session;
        self.requests.store(0, Ordering::Relaxed);
        self.seen.send_modify(|seen| {
            seen.connected = true;
            seen.connections += 1;
            seen.goaway = None;
        });
    }

    pub(super) fn closed(&self) {
        self.seen.send_modify(|seen| {
            seen.connected = false;
            seen.closed_at = Some(Instant::now());
        });
    }

    pub(super) fn next_id(&self) -> Option<FrameId> {
        let counter = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        Some(lock(&self.session).as_ref()?.request(counter))
    }

    pub(super) fn see(&self, change: impl FnOnce(&mut Witnessed)) {
        self.seen.send_modify(change);
    }

    pub(super) fn seen(&self) -> Witnessed {
        self.seen.borrow().clone()
    }

    pub(super) fn forget(&self) {
        self.seen.send_modify(|seen| {
            seen.asked.clear();
            seen.notified.clear();
        });
    }

    pub(super) async fn wait(&self, limit: Duration, check: impl FnMut(&Witnessed) -> bool) -> Witnessed {
        let mut seen = self.seen.subscribe();
        let _ = tokio::time::timeout(limit, seen.wait_for(check)).await;
        self.seen()
    }
}

impl Script {
    /// The page that the cursor names, which is the number of its first tool.
    fn list(&self, params: &str) -> String {
        let params: serde_json::Value = serde_json::from_str(params).unwrap_or_default();
        let from: usize = params["cursor"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let to = from.saturating_add(self.page).min(self.tools.len());
        let tools = self.tools.get(from..to).unwrap_or_default().join(",");
        match to < self.tools.len() {
            true => format!(r#"{{"tools":[{tools}],"nextCursor":"{to}"}}"#),
            false => format!(r#"{{"tools":[{tools}]}}"#),
        }
    }
}

/// The name of the tool that is called, and its arguments as they came.
pub(super) fn call_of(params: &str) -> (String, &str) {
    #[derive(serde::Deserialize)]
    struct Call<'a> {
        #[serde(default)]
        name: String,
        #[serde(borrow, default)]
        arguments: Option<&'a RawValue>,
    }
    let call: Option<Call<'_>> = serde_json::from_str(params).ok();
    call.map_or_else(
        || (String::new(), "{}"),
        |call| (call.name, call.arguments.map_or("{}", RawValue::get)),
    )
}
