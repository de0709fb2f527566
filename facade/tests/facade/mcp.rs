//! A client of MCP that can say anything.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::{
    client::{self, Answer},
    world::World,
};

pub(crate) const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(crate) const MODERN: &str = "2026-07-28";

/// A request of the older revisions.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// The `_meta` that every request of revision 2026-07-28 carries.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    })
}

impl World {
    /// Posts a message.
    pub(crate) async fn say(&self, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        let mut all = vec![BOTH, ("content-type", "application/json")];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend_from_slice(headers);
        self.ask("POST", "/mcp", &all, body).await
    }

    /// Posts a request of revision 2026-07-28 as it should be.
    pub(crate) async fn modern(&self, method: &str, params: Value) -> Answer {
        client::send(self.address, self.modern_request(method, params)).await
    }

    pub(crate) fn modern_request(&self, method: &str, mut params: Value) -> Request<Full<Bytes>> {
        let mut meta = modern_meta();
        if let Some(given) = params.get("_meta").and_then(Value::as_object) {
            meta.as_object_mut().unwrap().extend(given.clone());
        }
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        params["_meta"] = meta;
        let mut headers = vec![BOTH, ("mcp-protocol-version", MODERN), ("mcp-method", method)];
        if method == "tools/call" {
            headers.push(("mcp-name", name.as_str()));
        }
        self.request("POST", "/mcp", &headers, request(1, method, params))
    }

    /// Begins a session and gives its id.
    pub(crate) async fn session(&self, revision: &str) -> String {
        let answer = self
            .say(&[], request(0, "initialize", initialize(revision)))
            .await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        answer.header("mcp-session-id").to_owned()
    }
}

pub(crate) fn initialize(revision: &str) -> Value {
    json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}})
}

impl Answer {
    /// The error of a JSON-RPC answer, with its code checked. JR3: never beside a result, and its code a whole number.
    #[track_caller]
    pub(crate) fn fault(&self, status: u16, code: i64) -> Value {
        assert_eq!(self.status, status, "{:?}", self.body);
        assert_eq!(self.header("content-type"), "application/json");
        let json = self.json();
        assert_eq!(json["error"]["code"], code, "{json}");
        assert!(json.get("result").is_none(), "{json}");
        assert!(
            json["error"]["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        json
    }

    /// The result of a JSON-RPC answer (JR3: never beside an error).
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{:?}", self.body);
        let json = self.json();
        assert_eq!(json["jsonrpc"], "2.0");
        assert!(json.get("error").is_none(), "{json}");
        json["result"].clone()
    }
}

/// The messages of an event stream that is over.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| !data.is_empty())
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
