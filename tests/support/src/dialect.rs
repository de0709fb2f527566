//! The dialects of the gate, spoken alike: list the tools, call one, and hear one kind of answer.
//!
//! Texts stay as they came: arguments are sent and results are given as JSON text, so that what a dialect does to a
//! number or a key shows.

mod mcp;
mod openai;
mod pipe;

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tonic::Status;
use toolgate_contract::v1::Failure;

pub(crate) use self::pipe::Pipes;
use self::{mcp::Mcp, pipe::Pipe};
use crate::{Caller, Grpc};

/// A way to talk to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// REST, waiting for the outcome.
    Rest,
    /// gRPC.
    Grpc,
    /// MCP over HTTP.
    Mcp(Revision),
    /// MCP over a pair of pipes.
    Stdio(Revision),
    /// OpenAI's tool calls.
    OpenAi(Form),
}

/// A revision of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// 2025-06-18.
    June2025,
    /// 2025-11-25.
    November2025,
    /// 2026-07-28.
    July2026,
}

/// A form of OpenAI's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The tool's result.
    Result {
        /// The content blocks as JSON text; `None` where the dialect has none of its own.
        content: Option<String>,
        /// The structured result as JSON text.
        structured: Option<String>,
        /// Whether the tool said no.
        is_error: bool,
    },
    /// The gate did not carry it out.
    Refused {
        /// The reason in UPPER_SNAKE.
        reason: String,
        /// Whole seconds to wait.
        retry_after: Option<u64>,
    },
}

impl Dialect {
    /// Every dialect in every form.
    pub const ALL: [Self; 9] = [
        Self::Rest,
        Self::Grpc,
        Self::Mcp(Revision::June2025),
        Self::Mcp(Revision::November2025),
        Self::Mcp(Revision::July2026),
        Self::Stdio(Revision::June2025),
        Self::Stdio(Revision::July2026),
        Self::OpenAi(Form::Chat),
        Self::OpenAi(Form::Responses),
    ];

    /// The dialect as the record names it.
    #[must_use]
    pub fn on_record(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Grpc => "grpc",
            Self::Mcp(_) | Self::Stdio(_) => "mcp",
            Self::OpenAi(_) => "openai",
        }
    }
}

impl Revision {
    /// The revision as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }
}

impl Told {
    /// The reason of a refusal; empty for a result.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Result { .. } => "",
            Self::Refused { reason, .. } => reason,
        }
    }

    /// The structured result; null where there is none.
    #[must_use]
    pub fn structured(&self) -> Value {
        match self {
            Self::Result {
                structured: Some(text),
                ..
            } => serde_json::from_str(text).unwrap_or_default(),
            _ => Value::Null,
        }
    }

    fn refused(reason: &str, retry_after: Option<u64>) -> Self {
        Self::Refused {
            reason: reason.to_owned(),
            retry_after,
        }
    }
}

/// A result as REST and MCP write it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

impl From<Written<'_>> for Told {
    fn from(written: Written<'_>) -> Self {
        if let Some(reason) = written.meta["toolgate/reason"].as_str() {
            return Self::refused(reason, written.meta["toolgate/retryAfter"].as_u64());
        }
        Self::Result {
            content: Some(written.content.get().to_owned()),
            structured: written.structured_content.map(|json| json.get().to_owned()),
            is_error: written.is_error,
        }
    }
}

/// Someone who speaks one dialect.
#[derive(Debug)]
pub struct Speaker {
    dialect: Dialect,
    caller: Caller,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Rest,
    Grpc(Box<Grpc>),
    Mcp(Mcp),
    Stdio(Box<Pipe>),
    OpenAi(Form),
}

impl Caller {
    /// The same caller in a dialect. A session is opened where the dialect has one, which a bad credential does not get.
    pub async fn by(&self, dialect: Dialect) -> Speaker {
        let way = match dialect {
            Dialect::Rest => Way::Rest,
            Dialect::Grpc => Way::Grpc(Box::new(self.grpc().await)),
            Dialect::Mcp(revision) => Way::Mcp(Mcp::open(self, revision).await),
            Dialect::Stdio(revision) => Way::Stdio(Box::new(Pipe::open(self, revision).await)),
            Dialect::OpenAi(form) => Way::OpenAi(form),
        };
        Speaker {
            dialect,
            caller: self.clone(),
            way,
        }
    }
}

impl Speaker {
    /// The dialect.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Calls a tool and waits for its outcome.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Told {
        self.call_with(tool, &arguments.to_string()).await
    }

    /// The same with arguments as JSON text, or as what is none.
    pub async fn call_with(&self, tool: &str, arguments: &str) -> Told {
        match &self.way {
            Way::Rest => self.over_rest(tool, arguments).await,
            Way::Grpc(grpc) => over_grpc(grpc, tool, arguments).await,
            Way::Mcp(mcp) => mcp.call(&self.caller, tool, arguments).await,
            Way::Stdio(pipe) => pipe.call(tool, arguments).await,
            Way::OpenAi(form) => openai::call(&self.caller, *form, tool, arguments).await,
        }
    }

    /// Calls a tool, and cancels the call in the dialect's own way once it `reached` its target. The call is held open
    /// until the cancellation was `noticed` there, where leaving is not itself the cancellation. Gives when it was sent.
    pub async fn cancel(
        &self,
        tool: &str,
        arguments: &Value,
        reached: impl Future<Output = ()>,
        noticed: impl Future<Output = ()>,
    ) -> Instant {
        let arguments = arguments.to_string();
        let (at, open) = {
            let mut call = Box::pin(self.call_with(tool, &arguments));
            tokio::select! {
                told = &mut call => panic!("the call was to be cancelled, but ended: {told:?}"),
                () = reached => {}
            }
            let at = Instant::now();
            let open = match &self.way {
                Way::Mcp(mcp) if mcp.cancels_by_message() => {
                    mcp.cancel_last(&self.caller).await;
                    Some(call)
                }
                Way::Stdio(pipe) => {
                    pipe.cancel_last().await;
                    Some(call)
                }
                _ => None,
            };
            (at, open)
        };
        noticed.await;
        drop(open);
        at
    }

    /// The names of the tools on the caller's list, as they are listed.
    pub async fn tools(&self) -> Vec<String> {
        match &self.way {
            Way::Rest => names(&self.caller.get("/api/mcp/tools").await.json()["tools"], "/name"),
            Way::Grpc(grpc) => {
                let list = grpc.tools().await.unwrap_or_default();
                list.tools.into_iter().map(|tool| tool.name).collect()
            }
            Way::Mcp(mcp) => mcp.tools(&self.caller).await,
            Way::Stdio(pipe) => pipe.tools().await,
            Way::OpenAi(form) => openai::tools(&self.caller, *form).await,
        }
    }

    async fn over_rest(&self, tool: &str, arguments: &str) -> Told {
        let name = Value::from(tool);
        let body = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        let request = self
            .caller
            .request(reqwest::Method::POST, "/api/mcp/invoke")
            .header("content-type", "application/json")
            .header("prefer", "wait")
            .body(body);
        let answer = self.caller.send(request).await;
        if answer.status == 200 {
            return serde_json::from_str::<Written<'_>>(&answer.text).map_or_else(unreadable, Told::from);
        }
        let retry_after = answer.header("retry-after").and_then(|text| text.parse().ok());
        Told::refused(answer.json()["reason"].as_str().unwrap_or_default(), retry_after)
    }
}

async fn over_grpc(grpc: &Grpc, tool: &str, arguments: &str) -> Told {
    let text = |bytes: bytes::Bytes| String::from_utf8(bytes.to_vec()).unwrap_or_default();
    match grpc.call_with(tool, arguments).await {
        Ok(answer) => {
            let result = answer.result.unwrap_or_default();
            Told::Result {
                content: Some(text(result.content)),
                structured: Some(text(result.structured_content)).filter(|text| !text.is_empty()),
                is_error: result.is_error,
            }
        }
        Err(status) => of_status(&status),
    }
}

fn of_status(status: &Status) -> Told {
    let failure = Failure::from_status(status);
    Told::refused(failure.reason().name(), failure.retry_after_seconds())
}

/// No test expects this reason, so that what cannot be read is seen.
fn unreadable(error: serde_json::Error) -> Told {
    Told::refused(&format!("UNREADABLE: {error}"), None)
}

fn names(list: &Value, pointer: &str) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item.pointer(pointer)?.as_str().map(str::to_owned))
        .collect()
}
