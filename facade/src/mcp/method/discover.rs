//! `server/discover`: what a client of revision 2026-07-28 may know before it asks anything else.

use bytes::{BufMut, BytesMut};
use serde_json::json;

use super::INSTRUCTIONS;
use crate::mcp::{
    reply::{Answer, Reply},
    revision,
    server::{Asked, Server},
};

/// How long the answer may be kept: it changes with the version of the gateway only.
const TTL_MS: u64 = 300_000;

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    if let Err(fault) = server.accept(asked.caller).await {
        return fault.about(Some(asked.id)).into();
    }
    let result = json!({
        "resultType": "complete",
        "supportedVersions": revision::NAMES,
        "capabilities": {"tools": {"listChanged": true}},
        "instructions": INSTRUCTIONS,
        "ttlMs": TTL_MS,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": server.info},
    });
    let mut out = BytesMut::with_capacity(1024);
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    asked.id.write(&mut out);
    out.put_slice(b",\"result\":");
    out.put_slice(result.to_string().as_bytes());
    out.put_u8(b'}');
    Answer::result(out).into()
}
