//! What pages of another origin may read and send.
//!
//! The rim has refused every origin that we do not serve before a request comes here, so the one that is named is
//! allowed. Credentials of the browser are never part of it: tokens are sent by hand.

use ::http::{
    HeaderMap, HeaderValue,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
    },
};

const ALLOWED: HeaderValue = HeaderValue::from_static(
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, \
     toolgate-profile, toolgate-project, toolgate-task, traceparent",
);
const EXPOSED: HeaderValue =
    HeaderValue::from_static("mcp-session-id, retry-after, toolgate-correlation-id, www-authenticate");
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");

/// Lets the page that asked read the answer.
pub(in crate::mcp) fn expose(asked: &HeaderMap, answer: &mut HeaderMap) {
    let Some(origin) = asked.get(ORIGIN) else {
        return;
    };
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    answer.append(VARY, HeaderValue::from_static("origin"));
}

/// Lets it send what the protocol sends.
pub(in crate::mcp) fn allow(answer: &mut HeaderMap) {
    answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED);
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}
