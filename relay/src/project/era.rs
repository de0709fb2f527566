//! Which era of MCP the local server speaks, found by asking, in the order that the newest revision lays down.
//!
//! `server/discover` first; what answers it with revision 2026-07-28 has no sessions. Whatever else comes, or nothing,
//! means `initialize`. An endpoint that knows no POST is one of HTTP+SSE.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use tokio::time::timeout;
use toolgate_contract::frame::RefusalCode;

use super::{
    conversation::{Asked, Conversation, Reply},
    gateway::Gateway,
    local::Local,
    stateless,
    wire::Unanswered,
};

/// What a server that may still be starting gets to answer the first question. Old ones may never do.
const DISCOVER: Duration = Duration::from_secs(10);
/// What it gets to begin: a package may be fetched first.
const INITIALIZE: Duration = Duration::from_secs(60);

/// How the server keeps what belongs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: a session begins with `initialize`.
    Sessions,
    /// 2026-07-28: every request stands for itself.
    Stateless,
}

/// The conversation that all callers share, once it stands.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) era: Era,
    pub(crate) revision: String,
    pub(crate) server: ServerInfo,
}

/// What the server calls itself. Data, and not more than that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct ServerInfo {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    #[serde(default)]
    server_info: ServerInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<String>,
    #[serde(default, rename = "_meta")]
    meta: Meta,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(default, rename = "io.modelcontextprotocol/serverInfo")]
    server_info: ServerInfo,
}

/// Opens the shared conversation; an error says why it cannot be.
pub(crate) async fn open(local: &Local, gateway: &Arc<Gateway>) -> Result<Opened, String> {
    local.use_events(false);
    let mut conversation = dial(local, gateway)?;
    match discover(&conversation).await {
        Found::Stateless(server) => return Ok(stateless_with(conversation, server)),
        Found::Sessions(asked) => {
            let initialized = initialize(&conversation).await;
            drop(asked);
            match initialized {
                Err(Unanswered::Status(404 | 405)) if local.is_url() => {}
                outcome => return opened(conversation, outcome),
            }
            conversation.close();
            local.use_events(true);
        }
        // A server that ends on a question it does not know gets another chance without it.
        Found::Nothing(why) if local.is_url() => return Err(why),
        Found::Nothing(_) => {}
    }
    conversation = dial(local, gateway)?;
    let outcome = initialize(&conversation).await;
    opened(conversation, outcome)
}

fn dial(local: &Local, gateway: &Arc<Gateway>) -> Result<Arc<Conversation>, String> {
    local.dial(None, gateway).map_err(|error| {
        tracing::error!(%error, "the server cannot be started");
        format!("it cannot be started: {error}")
    })
}

enum Found {
    Stateless(ServerInfo),
    /// Held until the session stands: an old server is not told of a withdrawal before its session has begun.
    Sessions(Option<Asked>),
    Nothing(String),
}

async fn discover(conversation: &Arc<Conversation>) -> Found {
    let params = stateless::completed("{}").unwrap_or_default();
    let mut asked = match conversation.ask(None, "server/discover", &params) {
        Ok(asked) => asked,
        Err(refusal) => return Found::Nothing(refusal.message),
    };
    match timeout(DISCOVER, asked.answer()).await {
        Ok(Ok(result)) => match serde_json::from_slice::<Discovered>(&result) {
            Ok(found)
                if found
                    .supported_versions
                    .iter()
                    .any(|it| it == stateless::REVISION) =>
            {
                Found::Stateless(found.meta.server_info)
            }
            _ => Found::Sessions(None),
        },
        Ok(Err(Unanswered::Refused(refusal))) if refusal.code == RefusalCode::ServerDown => {
            Found::Nothing(conversation.why_over().unwrap_or(refusal.message))
        }
        Ok(Err(_)) => Found::Sessions(None),
        Err(_) => Found::Sessions(Some(asked)),
    }
}

async fn initialize(conversation: &Arc<Conversation>) -> Reply {
    let params = concat!(
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"toolgate-relay","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}}"#
    );
    let mut asked = conversation
        .ask(None, "initialize", params)
        .map_err(Unanswered::Refused)?;
    match timeout(INITIALIZE, asked.answer()).await {
        Ok(reply) => reply,
        Err(_) => Err(Unanswered::down("it did not begin within a minute")),
    }
}

fn opened(conversation: Arc<Conversation>, initialized: Result<Bytes, Unanswered>) -> Result<Opened, String> {
    let why = match initialized {
        Ok(result) => match serde_json::from_slice::<Initialized>(&result) {
            Ok(initialized) => {
                conversation.say("notifications/initialized", "{}");
                return Ok(Opened {
                    conversation,
                    era: Era::Sessions,
                    revision: initialized.protocol_version,
                    server: initialized.server_info,
                });
            }
            Err(_) => "it answers initialize with what is no result of it".to_owned(),
        },
        Err(Unanswered::Error(_)) => "it refuses to begin: it answers initialize with an error".to_owned(),
        Err(Unanswered::Refused(refusal)) => conversation.why_over().unwrap_or(refusal.message),
        Err(Unanswered::Status(status)) => format!("it answers HTTP {status}"),
        Err(Unanswered::SessionLost) => "it forgets its session".to_owned(),
    };
    conversation.close();
    Err(why)
}

fn stateless_with(conversation: Arc<Conversation>, server: ServerInfo) -> Opened {
    Opened {
        conversation,
        era: Era::Stateless,
        revision: stateless::REVISION.to_owned(),
        server,
    }
}
