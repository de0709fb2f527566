//! A project's list of tools, asked of its server: every page, within bounds.

use std::{collections::HashSet, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use toolgate_contract::{ids::CallId, splice};

use super::tool_list::{MOST_BYTES, MOST_TOOLS};
use crate::{
    journal::Contact,
    upstream::{Message, Payload, Raw, Reports, Upstream, UpstreamCall, UpstreamError},
};

/// All pages together.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pages at most: a server that never ends its list is not followed.
const MOST_PAGES: usize = 128;

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    /// The project gave no answer.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// Its server has no tools, or does not say them.
    #[error("its server does not tell its tools: {0}")]
    Refused(String),
    /// What it says is no list of tools.
    #[error("its server's list of tools cannot be read")]
    Shape,
    /// The list is over a bound.
    #[error("its server's list of tools is over the limit of {MOST_TOOLS} tools and 1 MiB")]
    TooLong,
}

/// Asks for the whole list: each definition as it stands there.
pub(super) async fn fetch(
    upstream: &Arc<dyn Upstream>,
    contact: &Contact,
) -> Result<Vec<String>, FetchError> {
    let until = Instant::now() + PATIENCE;
    let (mut tools, mut bytes) = (Vec::new(), 0);
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let params = cursor.map_or_else(|| "{}".to_owned(), |cursor| format!("{{\"cursor\":{cursor}}}"));
        let asked = upstream.call(
            contact,
            asking("tools/list", params.into(), until - Instant::now()),
        );
        let answer = timeout_at(until, asked)
            .await
            .map_err(|_| UpstreamError::Timeout)??;
        let page = match answer.raw {
            Some(Raw::Result(page)) => page,
            Some(Raw::Error(error)) => return Err(FetchError::Refused(said(&error))),
            None => return Err(FetchError::Shape),
        };
        let page = std::str::from_utf8(&page).map_err(|_| FetchError::Shape)?;
        let list = splice::member(page, "tools")
            .ok()
            .flatten()
            .ok_or(FetchError::Shape)?;
        for raw in splice::elements(list).map_err(|_| FetchError::Shape)? {
            bytes += raw.len();
            if tools.len() >= MOST_TOOLS || bytes > MOST_BYTES {
                return Err(FetchError::TooLong);
            }
            tools.push(raw.to_owned());
        }
        let next = splice::member(page, "nextCursor").map_err(|_| FetchError::Shape)?;
        match next.filter(|next| *next != "null") {
            None => return Ok(tools),
            // A cursor that comes again would be followed for ever.
            Some(next) if cursors.insert(next.to_owned()) => cursor = Some(next.to_owned()),
            Some(_) => return Err(FetchError::Shape),
        }
    }
    Err(FetchError::TooLong)
}

/// A request of the gateway's own, on the conversation that all callers share.
pub(crate) fn asking(method: &str, params: Bytes, deadline: Duration) -> UpstreamCall {
    UpstreamCall {
        call: CallId::mint(),
        tool: "",
        arguments: Payload(Bytes::new()),
        secret: None,
        deadline,
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: Some(Message {
            method: method.into(),
            params: Payload(params),
            conversation: None,
        }),
    }
}

/// What an error object says, for people: bounded, on one line.
pub(crate) fn said(error: &[u8]) -> String {
    let error: serde_json::Value = serde_json::from_slice(error).unwrap_or_default();
    let text = error["message"].as_str().unwrap_or("an error without a message");
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(500).collect()
}
