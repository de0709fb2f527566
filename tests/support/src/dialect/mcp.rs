//! MCP over HTTP, with a handshake in the older revisions and without one since 2026-07-28.

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{Method, RequestBuilder};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Revision, Told, Written, names, unreadable};
use crate::{Answer, Caller};

/// An MCP client's state.
#[derive(Debug)]
pub(super) struct Mcp {
    revision: Revision,
    session: Option<String>,
    next: AtomicU64,
}

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Value,
}

impl Mcp {
    pub(super) async fn open(caller: &Caller, revision: Revision) -> Self {
        let mut mcp = Self {
            revision,
            session: None,
            next: AtomicU64::new(1),
        };
        if revision == Revision::July2026 {
            return mcp;
        }
        let hello = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": {},
            "clientInfo": {"name": "toolgate-tests", "version": "1"}
        });
        let answer = mcp.ask(caller, "initialize", None, &hello.to_string()).await;
        mcp.session = answer.header("mcp-session-id").map(str::to_owned);
        if answer.status == 200 {
            let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let request = mcp.post(caller).body(ready);
            caller.send(request).await;
        }
        mcp
    }

    pub(super) async fn call(&self, caller: &Caller, tool: &str, arguments: &str) -> Told {
        let name = Value::from(tool);
        let params = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        let answer = self.ask(caller, "tools/call", Some(tool), &params).await;
        if answer.status == 401 {
            return Told::refused("CREDENTIAL_INVALID", None);
        }
        told(&answer.text)
    }

    /// Before 2026-07-28 a client that leaves has not cancelled.
    pub(super) fn cancels_by_message(&self) -> bool {
        self.revision != Revision::July2026
    }

    pub(super) async fn cancel_last(&self, caller: &Caller) {
        let id = self.next.load(Ordering::Relaxed) - 1;
        let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": "nobody wants it any more"}});
        let answer = caller.send(self.post(caller).body(told.to_string())).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
    }

    pub(super) async fn tools(&self, caller: &Caller) -> Vec<String> {
        let answer = self.ask(caller, "tools/list", None, "{}").await;
        names(&answer.json()["result"]["tools"], "/name")
    }

    async fn ask(&self, caller: &Caller, method: &str, name: Option<&str>, params: &str) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let body = message(self.revision, id, method, params);
        let mut request = self.post(caller).body(body);
        if self.revision == Revision::July2026 {
            request = request.header("mcp-method", method);
            if let Some(name) = name {
                request = request.header("mcp-name", header_value(name));
            }
        }
        caller.send(request).await
    }

    fn post(&self, caller: &Caller) -> RequestBuilder {
        let mut request = caller
            .request(Method::POST, "/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", self.revision.as_str());
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        request
    }
}

/// A request as it is written in a revision.
pub(super) fn message(revision: Revision, id: u64, method: &str, params: &str) -> String {
    let params = match revision {
        Revision::July2026 => with_meta(params, revision),
        Revision::June2025 | Revision::November2025 => params.to_owned(),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// What a message says of a call.
pub(super) fn told(message: &str) -> Told {
    let reply: Reply<'_> = match serde_json::from_str(message) {
        Ok(reply) => reply,
        Err(error) => return unreadable(error),
    };
    match reply.result {
        Some(result) => serde_json::from_str::<Written<'_>>(result.get()).map_or_else(unreadable, Told::from),
        None => {
            let data = &reply.error["data"];
            let reason = data["reason"].as_str().unwrap_or_default();
            Told::refused(reason, data["retryAfter"].as_u64())
        }
    }
}

fn with_meta(params: &str, revision: Revision) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": revision.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "toolgate-tests", "version": "1"}
    });
    match params.trim_end().strip_suffix('}') {
        Some(open) if open.trim_end().ends_with('{') => format!(r#"{open}"_meta":{meta}}}"#),
        Some(open) => format!(r#"{open},"_meta":{meta}}}"#),
        None => params.to_owned(),
    }
}

/// A name as a header carries it: as it is where it may, else in base64.
fn header_value(name: &str) -> String {
    let plain = name.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && name.trim() == name;
    match plain && !name.starts_with("=?") {
        true => name.to_owned(),
        false => format!("=?base64?{}?=", data_encoding::BASE64.encode(name.as_bytes())),
    }
}
