//! The back ends of agents: memory and the code graph, projects and tasks, rooms. One adapter carries all of their tools,
//! each of which is one HTTP request that the contract declares; nothing here knows a tool by its name.
//!
//! This is the one adapter that may write, and its client is its own: what reads infrastructure cannot reach it.

mod answers;
mod bind;
mod client;
mod credential;
mod oauth;
mod settings;
mod validate;

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use http::HeaderValue;
use serde_json::Value;
use tokio::time::timeout;
use toolgate_contract::{registry::ToolDef, v1::Violation};

use self::{
    bind::Bound,
    client::{Answer, Client, Content, Request},
    credential::Credential,
    oauth::{Token, Tokens},
    settings::Settings,
};
pub(super) use self::{
    credential::{credential, nobody},
    settings::settings,
};
use super::{Adapter, Validation, said, settings::destination};
use crate::{
    journal::Contact,
    registry,
    secrets::{SecretValue, Traces},
    upstream::{ToolResult, Upstream, UpstreamCall, UpstreamError, reader::Fault},
};

/// One back end, with one credential.
struct BackEnd {
    client: Client,
    who: Who,
    /// What is read to find out whether it can be read.
    sample: &'static str,
    /// Whether tools that write may be called here; the path of calls has decided that before.
    read_write: bool,
}

/// As whom it is asked.
enum Who {
    /// With a token that was given.
    Bearer {
        header: HeaderValue,
        traces: Vec<Traces>,
    },
    /// With tokens that are asked for.
    Client(Tokens),
    /// Without a credential.
    Anyone,
    /// As nobody: settings and credential do not belong together.
    Nobody(Fault),
}

/// What one request is sent with.
enum Sent<'a> {
    Bearer(&'a HeaderValue, &'a [Traces]),
    Token(Arc<Token>),
    Nothing,
}

/// The adapter of one target. `sample` is a path of it that can be read without an argument.
pub(super) fn open(
    settings: &Value,
    credential: &SecretValue,
    sample: &'static str,
) -> Result<Arc<dyn Adapter>, UpstreamError> {
    let read = Settings::stored(settings).ok_or(UpstreamError::Unreachable)?;
    let destination = destination(read.base.clone(), settings)?;
    let credential = Credential::kept(credential).ok_or(UpstreamError::CredentialRejected)?;
    let who = match credential {
        Credential::Token(token) if read.tokens.is_none() => Who::Bearer {
            header: oauth::bearer(&token).ok_or(UpstreamError::CredentialRejected)?,
            traces: oauth::traces(&token),
        },
        Credential::Nobody => Who::Anyone,
        credential => Tokens::new(&read, credential, &destination.trust, &destination.allow)
            .map_or_else(Who::Nobody, Who::Client),
    };
    Ok(Arc::new(BackEnd {
        client: Client::new(&destination)?,
        who,
        sample,
        read_write: settings.get("access").and_then(Value::as_str) == Some("read_write"),
    }))
}

/// Every argument of a call that cannot stand where the tool's request has it; for those that match the schema.
#[must_use]
pub fn misplaced(tool: &ToolDef, arguments: &[u8]) -> Vec<Violation> {
    let bound = tool.http.as_ref().map(|http| bind::bind(http, arguments));
    bound.and_then(Result::err).unwrap_or_default()
}

impl BackEnd {
    async fn carry(
        &self,
        contact: &Contact,
        tool: &str,
        arguments: &[u8],
    ) -> Result<ToolResult, UpstreamError> {
        let Some(http) = registry::tool(tool).and_then(|tool| tool.http.as_ref()) else {
            return said::no("this target has no such tool");
        };
        let Ok(bound) = bind::bind(http, arguments) else {
            return said::no("the arguments cannot stand in the request of this tool");
        };
        let (answer, sent) = self.ask(contact, &bound).await.map_err(UpstreamError::from)?;
        answers::result(&answer, |text| sent.strike(text))
    }

    /// Asks once; and once more with another token where the one that was sent is not accepted any more. An answer of
    /// 401 says that nothing was carried out, so that this is right of a request that writes as well.
    async fn ask(&self, _: &Contact, bound: &Bound) -> Result<(Answer, Sent<'_>), Fault> {
        let sent = self.sent().await?;
        let answer = self.send(bound, &sent).await?;
        let (401, Sent::Token(token), Who::Client(tokens)) = (answer.status.as_u16(), &sent, &self.who)
        else {
            return Ok((answer, sent));
        };
        match tokens.after_rejected(token).await {
            None => Ok((answer, sent)),
            Some(renewed) => {
                let sent = Sent::Token(renewed?);
                Ok((self.send(bound, &sent).await?, sent))
            }
        }
    }

    async fn sent(&self) -> Result<Sent<'_>, Fault> {
        match &self.who {
            Who::Bearer { header, traces } => Ok(Sent::Bearer(header, traces)),
            Who::Client(tokens) => tokens.current().await.map(Sent::Token),
            Who::Anyone => Ok(Sent::Nothing),
            Who::Nobody(fault) => Err(fault.clone()),
        }
    }

    async fn send(&self, bound: &Bound, sent: &Sent<'_>) -> Result<Answer, Fault> {
        let content = match &bound.body {
            None => Content::Nothing,
            Some(json) => Content::Json(json.clone()),
        };
        let request = Request {
            method: bound.method,
            target: &bound.target,
            authorization: sent.header(),
            content,
        };
        self.client.send(request).await
    }
}

impl Sent<'_> {
    fn header(&self) -> Option<HeaderValue> {
        match self {
            Self::Bearer(header, _) => Some(HeaderValue::clone(header)),
            Self::Token(token) => Some(token.header()),
            Self::Nothing => None,
        }
    }

    /// The text without traces of what was sent.
    fn strike(&self, text: String) -> String {
        match self {
            Self::Bearer(_, traces) => traces
                .iter()
                .fold(text, |text, traces| traces.strike(&text).unwrap_or(text)),
            Self::Token(token) => token.strike(text),
            Self::Nothing => text,
        }
    }
}

impl Upstream for BackEnd {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(async move {
            timeout(call.deadline, self.carry(contact, call.tool, &call.arguments.0))
                .await
                .unwrap_or(Err(UpstreamError::Timeout))
        })
    }
}

impl Adapter for BackEnd {
    fn validate<'a>(&'a self, contact: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(validate::validate(self, contact))
    }
}

impl fmt::Debug for BackEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackEnd({})", self.client.base())
    }
}

#[cfg(test)]
mod tests;
