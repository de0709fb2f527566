//! Requests of MCP as a client writes them: those of 2026-07-28, which need no session, and the handshake of older ones.

use std::net::SocketAddr;

use crate::measure::Shape;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}}"#;

/// The request of a shape that is MCP's.
pub(crate) fn request(shape: Shape, host: SocketAddr, token: &str) -> Option<String> {
    let (headers, body) = match shape {
        Shape::Mcp => (
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: ssh_run_whitelisted_command\r\n",
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"ssh_run_whitelisted_command","arguments":{{"command":"uptime"}},{META}}}}}"#
            ),
        ),
        Shape::List => (
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\n",
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#),
        ),
        Shape::Initialize => (
            "",
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#.to_owned(),
        ),
        Shape::Wait | Shape::Stream | Shape::Direct | Shape::Read | Shape::Upstream => return None,
    };
    Some(format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n{headers}accept: application/json, \
         text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}
