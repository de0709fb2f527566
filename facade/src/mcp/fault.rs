//! Why a message has no result: a JSON-RPC error, and what HTTP says beside it.
//!
//! Codes: JSON-RPC's own, and from revision 2026-07-28 on those of the specification. None of ours lies in the ranges
//! that JSON-RPC and the specification keep for themselves (`decisions.md`, "MCP mapping").

use std::borrow::Cow;

use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use serde::Serialize;
use toolgate_contract::v1::ErrorReason;

use super::{envelope::Id, failure};
use crate::problem::Problem;

/// The bytes are no JSON.
const UNPARSEABLE: i32 = -32700;
/// The JSON is no message.
const NO_MESSAGE: i32 = -32600;
/// There is no such method.
const NO_METHOD: i32 = -32601;
/// The parameters cannot be read, or name what is not there.
pub(super) const PARAMS: i32 = -32602;
/// Our fault.
pub(super) const INTERNAL: i32 = -32603;
/// The headers say another thing than the body.
const HEADERS: i32 = -32020;
/// The revision is none of ours.
const REVISION: i32 = -32022;

/// A JSON-RPC error on its way to a peer.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: i32,
    pub(super) message: Cow<'static, str>,
    pub(super) id: Option<Id>,
    /// Facts as JSON; empty where the reason says it all.
    pub(super) data: Bytes,
    pub(super) http: Beside,
}

/// What HTTP says beside a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) status: StatusCode,
    /// Why there is no result, for the metrics.
    pub(crate) reason: Option<ErrorReason>,
    /// Whether the facade itself refused, so that the core has to be told.
    pub(crate) own: bool,
    /// Whole seconds to wait.
    pub(crate) retry_after: Option<u64>,
}

impl Beside {
    /// Nothing but that all is well.
    pub(super) const OK: Self = Self {
        status: StatusCode::OK,
        reason: None,
        own: false,
        retry_after: None,
    };
}

impl Fault {
    pub(super) fn unparseable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::own(UNPARSEABLE, message)
    }

    pub(super) fn no_message(message: impl Into<Cow<'static, str>>) -> Self {
        Self::own(NO_MESSAGE, message)
    }

    pub(super) fn headers(message: impl Into<Cow<'static, str>>) -> Self {
        Self::own(HEADERS, message)
    }

    /// Parameters that a method cannot read; a message like any other to HTTP.
    pub(super) fn params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::own(PARAMS, message).with_status(StatusCode::OK)
    }

    /// HTTP says so only in revision 2026-07-28.
    pub(super) fn no_method(method: &str, is_modern: bool) -> Self {
        Self {
            http: Beside {
                status: if is_modern {
                    StatusCode::NOT_FOUND
                } else {
                    StatusCode::OK
                },
                ..Beside::OK
            },
            ..Self::own(NO_METHOD, format!("no method {method}"))
        }
    }

    /// Tells which revisions there are.
    pub(super) fn revision(requested: &str) -> Self {
        #[derive(Serialize)]
        struct Data<'a> {
            supported: [&'static str; 5],
            requested: &'a str,
        }
        let data = Data {
            supported: super::revision::NAMES,
            requested,
        };
        let message = "this revision of the protocol is not served; 2026-07-28 is told on every request, and the \
             older ones begin with initialize";
        Self {
            // Texts always serialise.
            data: serde_json::to_vec(&data).unwrap_or_default().into(),
            ..Self::own(REVISION, message)
        }
    }

    /// A refusal of the facade's own before a message was read.
    pub(super) fn of_problem(problem: Problem) -> Self {
        let own = problem.is_own();
        let failure = problem.into_failure();
        let mut fault = failure::of_nothing(&failure);
        if own {
            fault.http.own = true;
            fault.code = NO_MESSAGE;
        }
        fault
    }

    /// The id of the request that it is about, where one is known.
    pub(super) fn about(mut self, id: Option<Id>) -> Self {
        self.id = self.id.or(id);
        self
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.http.status = status;
        self
    }

    fn own(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            id: None,
            data: Bytes::new(),
            http: Beside {
                status: StatusCode::BAD_REQUEST,
                reason: Some(ErrorReason::RequestMalformed),
                own: true,
                retry_after: None,
            },
        }
    }

    /// The whole message, on one line. Without a known request its id is null, as JSON-RPC wants it.
    pub(super) fn write(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(160 + self.message.len() + self.data.len());
        out.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        match &self.id {
            Some(id) => id.write(&mut out),
            None => out.put_slice(b"null"),
        }
        out.put_slice(b",\"error\":{\"code\":");
        crate::result::write_number(&mut out, self.code.into());
        out.put_slice(b",\"message\":");
        crate::result::write_text(&mut out, &self.message);
        if !self.data.is_empty() {
            out.put_slice(b",\"data\":");
            out.put_slice(&self.data);
        } else if let Some(reason) = self.http.reason {
            out.put_slice(b",\"data\":{\"reason\":");
            crate::result::write_text(&mut out, reason.name());
            out.put_u8(b'}');
        }
        out.put_slice(b"}}");
        out.freeze()
    }
}
