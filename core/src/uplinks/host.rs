//! A host as an upstream: one tool, carried to its relay.

use bytes::Bytes;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_contract::{
    frame::RefusalCode,
    ids::{TargetId, TenantId},
};

use super::{UplinkError, Uplinks};
use crate::{
    journal::Contact,
    upstream::{ToolResult, Upstream, UpstreamCall, UpstreamError},
};

const METHOD: &str = "tools/call";
/// The relay keeps 256 KiB of output, which comes twice, as text and structured, and grows when escaped. What is more
/// than this was not cut by an honest relay.
const MAX_RESULT: usize = 4 * 1024 * 1024;

/// One host behind its relay. A call of another tenant finds it offline.
#[derive(Debug, Clone)]
pub struct HostUpstream {
    uplinks: Uplinks,
    target: TargetId,
}

#[derive(Serialize)]
struct Params<'a> {
    name: &'a str,
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
struct CallResult {
    content: Box<RawValue>,
    #[serde(default, rename = "structuredContent")]
    structured: Option<Box<RawValue>>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

impl HostUpstream {
    /// The host of a target.
    #[must_use]
    pub fn new(uplinks: Uplinks, target: TargetId) -> Self {
        Self { uplinks, target }
    }

    async fn carry(&self, tenant: &TenantId, call: UpstreamCall) -> Result<ToolResult, UpstreamError> {
        let params = params(&call)?;
        // Dropping the request on the way out is what cancels it at the relay.
        let answer = tokio::select! {
            biased;
            answer = self.uplinks.request(tenant, self.target, METHOD, params, call.deadline) => answer,
            () = call.cancelled.cancelled() => return Err(UpstreamError::Cancelled),
        };
        read(&answer.map_err(told)?)
    }
}

impl Upstream for HostUpstream {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(self.carry(contact.tenant(), call))
    }
}

fn params(call: &UpstreamCall) -> Result<Bytes, UpstreamError> {
    let arguments = serde_json::from_slice(&call.arguments.0).map_err(|_| UpstreamError::Invalid)?;
    let params = Params {
        name: call.tool,
        arguments,
    };
    serde_json::to_vec(&params)
        .map(Bytes::from)
        .map_err(|_| UpstreamError::Invalid)
}

fn read(answer: &[u8]) -> Result<ToolResult, UpstreamError> {
    if answer.len() > MAX_RESULT {
        return Err(UpstreamError::TooLarge);
    }
    let result: CallResult = serde_json::from_slice(answer).map_err(|_| UpstreamError::Invalid)?;
    let is_array = result.content.get().starts_with('[');
    let is_object = result
        .structured
        .as_ref()
        .is_none_or(|structured| structured.get().starts_with('{'));
    if !is_array || !is_object {
        return Err(UpstreamError::Invalid);
    }
    Ok(ToolResult {
        content: result.content,
        structured: result.structured,
        is_error: result.is_error,
    })
}

fn told(error: UplinkError) -> UpstreamError {
    match error {
        UplinkError::Offline => UpstreamError::RelayOffline,
        UplinkError::Lost => UpstreamError::RelayLost,
        UplinkError::Deadline | UplinkError::Refused(RefusalCode::DeadlineExceeded) => UpstreamError::Timeout,
        UplinkError::Overloaded | UplinkError::Refused(RefusalCode::Overloaded) => UpstreamError::Overloaded,
        UplinkError::TooLarge | UplinkError::Refused(RefusalCode::TooLarge) => UpstreamError::TooLarge,
        UplinkError::Refused(RefusalCode::WriteRejected) => UpstreamError::WriteRejected,
        UplinkError::Refused(RefusalCode::Cancelled) => UpstreamError::Cancelled,
        UplinkError::Refused(
            RefusalCode::UnknownMethod
            | RefusalCode::Malformed
            | RefusalCode::Replayed
            | RefusalCode::Failed
            | RefusalCode::Unknown,
        ) => UpstreamError::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_passed_on_as_it_came() {
        let answer = br#"{"content":[{"type":"text","text":"up 1"}],"structuredContent":{"n":9007199254740993},"isError":false}"#;
        let result = read(answer).expect("reads");
        assert_eq!(result.content.get(), r#"[{"type":"text","text":"up 1"}]"#);
        assert_eq!(
            result.structured.expect("structured").get(),
            r#"{"n":9007199254740993}"#
        );
        assert!(!result.is_error);
    }

    #[test]
    fn what_is_no_result_is_invalid() {
        for answer in [
            "",
            "[]",
            "{}",
            r#"{"content":"x"}"#,
            r#"{"content":[],"structuredContent":[]}"#,
        ] {
            assert_eq!(
                read(answer.as_bytes()).expect_err("refused"),
                UpstreamError::Invalid,
                "{answer}"
            );
        }
        assert_eq!(
            read(&vec![b' '; MAX_RESULT + 1]).expect_err("refused"),
            UpstreamError::TooLarge
        );
    }
}
