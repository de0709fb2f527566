//! `initialize`: the beginning of a conversation of the older revisions (rows LC1, LC2, S1).

use bytes::{BufMut, BytesMut};
use serde::Serialize;
use toolgate_contract::v1::OpenMcpSessionRequest;

use super::INSTRUCTIONS;
use crate::mcp::{
    envelope::text,
    fault::Fault,
    reply::{Answer, Reply},
    result::ServerInfo,
    revision::Legacy,
    server::{Asked, Server, failed},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Beginning<'a> {
    protocol_version: &'static str,
    capabilities: Capabilities,
    server_info: &'a ServerInfo,
    instructions: &'static str,
}

#[derive(Serialize)]
struct Capabilities {
    logging: Empty,
    tools: ToolsCapability,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolsCapability {
    list_changed: bool,
}

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    let Some(wanted) = asked.params.protocol_version.as_ref().and_then(text) else {
        let fault = Fault::params("params.protocolVersion is missing or no text");
        return fault.about(Some(asked.id)).into();
    };
    let revision = Legacy::negotiate(&wanted);
    let request = asked.caller.request(OpenMcpSessionRequest {
        revision: revision.name().into(),
    });
    let mut sessions = server.link.sessions();
    let session = match server.link.ask(sessions.open_mcp_session(request)).await {
        Ok(opened) => Some(opened.session_id),
        Err(problem) => return failed(problem, &asked.id),
    };
    let beginning = Beginning {
        protocol_version: revision.name(),
        capabilities: Capabilities {
            logging: Empty {},
            tools: ToolsCapability { list_changed: true },
        },
        server_info: &server.info,
        instructions: INSTRUCTIONS,
    };
    let mut out = BytesMut::with_capacity(1024);
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    asked.id.write(&mut out);
    out.put_slice(b",\"result\":");
    // Texts and truth values always serialise.
    out.put_slice(&serde_json::to_vec(&beginning).unwrap_or_default());
    out.put_u8(b'}');
    Answer {
        session,
        ..Answer::result(out)
    }
    .into()
}
