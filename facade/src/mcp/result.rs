//! `ToolResult` → the result of `tools/call`, spliced from the bytes that the core gave.
//!
//! Nothing is parsed, so that numbers and the order of members stay as they are. Of a project's tool the whole result is
//! the project's, and stands there as it came.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};
use serde::Serialize;
use toolgate_contract::{splice, v1::CallResponse};

use super::{envelope::Id, era::Era};
use crate::result::write_text;

/// Who answers, in the words of MCP.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ServerInfo {
    pub(super) name: Cow<'static, str>,
    pub(super) title: &'static str,
    pub(super) version: String,
}

impl ServerInfo {
    pub(super) fn new(version: &str) -> Self {
        Self {
            name: super::SERVER_NAME.into(),
            title: "Toolgate",
            version: version.to_owned(),
        }
    }

    /// The member that results of revision 2026-07-28 carry in `_meta`, without braces.
    pub(super) fn write(&self, out: &mut BytesMut) {
        out.put_slice(b"\"io.modelcontextprotocol/serverInfo\":");
        // A memory buffer takes everything, and texts always serialise.
        let _ = serde_json::to_writer(out.writer(), self);
    }
}

/// Writes a message up to the first member of its result.
pub(super) fn begin_result(out: &mut BytesMut, id: &Id, era: Era) {
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(out);
    out.put_slice(b",\"result\":{");
    if era.is_modern() {
        out.put_slice(b"\"resultType\":\"complete\",");
    }
}

/// The whole message that answers a call.
pub(super) fn write(id: &Id, era: Era, answer: &CallResponse, server: &ServerInfo) -> BytesMut {
    let absent = Default::default();
    let result = answer.result.as_ref().unwrap_or(&absent);
    if !result.raw.is_empty() {
        let completed = complete(era, &result.raw);
        return raw(id, completed.as_deref().map_or(&result.raw, str::as_bytes));
    }
    let structured = structured(&result.structured_content, era);
    let known = result.content.len() + 2 * structured.len() + result.meta.len();
    let mut out = BytesMut::with_capacity(known + known / 8 + 320);
    begin_result(&mut out, id, era);
    out.put_slice(b"\"content\":");
    content(&mut out, &result.content, structured);
    if !structured.is_empty() {
        out.put_slice(b",\"structuredContent\":");
        out.put_slice(structured);
    }
    out.put_slice(if result.is_error {
        b",\"isError\":true"
    } else {
        b",\"isError\":false"
    });
    out.put_slice(b",\"_meta\":{\"toolgate/correlationId\":");
    write_text(&mut out, &answer.correlation_id);
    if era.is_modern() {
        out.put_u8(b',');
        server.write(&mut out);
    }
    if let Some(members) = inside(&result.meta, b'{', b'}') {
        out.put_u8(b',');
        out.put_slice(members);
    }
    out.put_slice(b"}}}");
    one_line(&mut out);
    out
}

/// The whole message around a result object that is somebody else's: nothing of it changes but line ends between its
/// parts.
pub(super) fn raw(id: &Id, result: &[u8]) -> BytesMut {
    let mut out = BytesMut::with_capacity(result.len() + 96);
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(&mut out);
    out.put_slice(b",\"result\":");
    out.put_slice(result);
    out.put_u8(b'}');
    one_line(&mut out);
    out
}

/// The result with the member that the newest revision wants; `None` where it stays as it is.
fn complete(era: Era, result: &[u8]) -> Option<String> {
    const TYPE: &str = "resultType";
    let text = std::str::from_utf8(result).ok().filter(|_| era.is_modern())?;
    match splice::member(text, TYPE) {
        Ok(None) => splice::with(text, TYPE, "\"complete\"").ok(),
        Ok(Some(_)) | Err(_) => None,
    }
}

/// Revisions before 2026-07-28 know objects only.
fn structured(json: &[u8], era: Era) -> &[u8] {
    let json = json.trim_ascii();
    let fits = era.is_modern() || json.first() == Some(&b'{');
    if fits { json } else { b"" }
}

/// The blocks, and after them the structured part as text, for clients that read nothing else (row T5).
fn content(out: &mut BytesMut, blocks: &[u8], structured: &[u8]) {
    let blocks = inside(blocks, b'[', b']').unwrap_or_default();
    out.put_u8(b'[');
    out.put_slice(blocks);
    if let Some(copy) = copy(blocks, structured) {
        if !blocks.is_empty() {
            out.put_u8(b',');
        }
        out.put_slice(b"{\"type\":\"text\",\"text\":");
        out.put_slice(&copy);
        out.put_u8(b'}');
    }
    out.put_u8(b']');
}

/// The structured part as a JSON text, unless one of the blocks is that text already.
fn copy(blocks: &[u8], structured: &[u8]) -> Option<BytesMut> {
    if structured.is_empty() {
        return None;
    }
    let mut copy = BytesMut::with_capacity(structured.len() + structured.len() / 8);
    write_text(&mut copy, std::str::from_utf8(structured).ok()?);
    let (had, text) = (
        std::str::from_utf8(blocks).ok()?,
        std::str::from_utf8(&copy).ok()?,
    );
    (!had.contains(text)).then_some(copy)
}

/// What stands between the brackets; `None` where nothing does.
fn inside(json: &[u8], open: u8, close: u8) -> Option<&[u8]> {
    let json = json.trim_ascii();
    let inside = json.strip_prefix(&[open])?.strip_suffix(&[close])?.trim_ascii();
    (!inside.is_empty()).then_some(inside)
}

/// Raw line ends in JSON are only white space, but would end the line of a stream.
pub(super) fn one_line(out: &mut [u8]) {
    for byte in out {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests;
