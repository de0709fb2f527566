//! The Rust SDK, in this process: the one client that can be held to an old revision.

use rmcp::{
    RoleClient, ServiceError,
    model::{CallToolRequestParams, CallToolResult, ClientConfig, Implementation, ProtocolVersion},
    service::{ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Value, json};

use super::Ask;

/// Lets the Rust SDK speak the revision that is its mode to a URL; gives what it saw, in the words of the other clients.
///
/// # Errors
/// What it complained of instead.
pub async fn rust_sdk(ask: Ask<'_>) -> Result<Value, String> {
    let revision = ask.mode;
    let url = ask.target.first().ok_or("no URL")?;
    let client = connect(revision, url, ask.token).await?;
    let told = tell(&client, ask).await;
    let told = told.map_err(|error| format!("{revision}: {error}"));
    client.cancel().await.map_err(|error| error.to_string())?;
    told
}

async fn connect(
    revision: &str,
    url: &str,
    token: &str,
) -> Result<RunningService<RoleClient, ClientConfig>, String> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let version: ProtocolVersion =
        serde_json::from_value(json!(revision)).map_err(|error| error.to_string())?;
    let lifecycle = if version.has_initialize() {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![version.clone()],
        }
    };
    let mut info = ClientConfig::default();
    info.protocol_version = version;
    info.client_info = Implementation::new("toolgate-tests", "1.0.0");
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
    info.serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), lifecycle)
        .await
        .map_err(|error| format!("{revision}: {error}"))
}

async fn tell(
    client: &RunningService<RoleClient, ClientConfig>,
    ask: Ask<'_>,
) -> Result<Value, ServiceError> {
    let arguments = serde_json::from_str(ask.arguments).unwrap_or_default();
    let peer = client.peer_info().ok_or(ServiceError::TransportClosed)?;
    let tools = client.list_all_tools().await?;
    let good = client.call_tool(call(ask.tool, arguments)).await?;
    let bad = client.call_tool(call(ask.tool, json!({"command": 7}))).await?;
    let unknown = match client.call_tool(call("no_such_tool", json!({}))).await {
        Err(ServiceError::McpError(error)) => json!({"code": error.code.0, "message": error.message}),
        Err(error) => return Err(error),
        Ok(answer) => json!({"isError": answer.is_error}),
    };
    Ok(json!({
        "revision": peer.protocol_version,
        "server": peer.server_info,
        "capabilities": peer.capabilities,
        "instructions": peer.instructions,
        "tools": tools,
        "good": result(&good),
        "bad": result(&bad),
        "unknown": unknown,
    }))
}

fn call(tool: &str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

fn result(outcome: &CallToolResult) -> Value {
    let content = serde_json::to_value(&outcome.content).unwrap_or_default();
    let texts: Vec<&str> = content
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str())
        .collect();
    json!({
        "isError": outcome.is_error.unwrap_or(false),
        "text": texts.join("\n"),
        "structured": outcome.structured_content,
        "meta": outcome.meta,
    })
}
