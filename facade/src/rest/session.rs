//! `/api/session`: how a browser gets its session, asks about it, and ends it. By hand, because the answers set cookies.
//!
//! The session's token goes into the cookie and nowhere else of an answer, so no script of a page ever has it.

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use toolgate_contract::v1::{
    ErrorReason, GetSessionRequest, GetSessionResponse, SignInRequest, SignOutRequest,
};

use crate::{
    body::ObjectBody,
    link::Caller,
    problem::Problem,
    routes::{Shared, json_answer},
    session::{ByCookie, cookie, csrf_token},
};

pub(super) const PATH: &str = "/api/session";
/// Verb and path of the route that asks for no credential.
pub(crate) const BEGIN: (&str, &str) = ("POST", PATH);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    code: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    /// Only with a cookie: who sends a token in a header needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    csrf_token: Option<String>,
    tenant_id: String,
    tenant_name: String,
    principal: String,
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    uses_tools: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    method: String,
}

/// Trades the code of a sign-in link for a session. Whatever the browser had before is not looked at.
pub(super) async fn begin(
    State(shared): State<Shared>,
    caller: Caller,
    body: ObjectBody,
) -> Result<Response, Problem> {
    let Begin { code } = body.parse()?;
    let asked = caller.again().request(SignInRequest { code });
    let session = shared.link.ask(shared.link.sessions().sign_in(asked)).await?;
    let caller = caller.showing(&session.token)?;
    let told = ask(&shared, caller, Some(csrf_token(session.token.as_bytes()))).await?;
    let mut response = json_answer(StatusCode::CREATED, told);
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, cookie::given(&session.token)?);
    Ok(response)
}

/// Tells of the session; a cookie that is none any more is taken back with the answer.
pub(super) async fn current(State(shared): State<Shared>, caller: Caller, request: Request) -> Response {
    let token = by_cookie(&request).then(|| caller.credential()).flatten();
    let csrf = token.as_ref().map(|value| csrf_token(after_scheme(value)));
    match ask(&shared, caller, csrf).await {
        Ok(told) => json_answer(StatusCode::OK, told),
        Err(problem) => refused(problem, by_cookie(&request)),
    }
}

/// Ends the session and takes the cookie back.
pub(super) async fn end(State(shared): State<Shared>, caller: Caller, request: Request) -> Response {
    let asked = caller.request(SignOutRequest {});
    match shared.link.ask(shared.link.sessions().sign_out(asked)).await {
        Ok(_) => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
                .headers_mut()
                .insert(header::SET_COOKIE, cookie::taken_back());
            response
        }
        Err(problem) => refused(problem, by_cookie(&request)),
    }
}

fn by_cookie(request: &Request) -> bool {
    request.extensions().get::<ByCookie>().is_some()
}

fn after_scheme(credential: &HeaderValue) -> &[u8] {
    credential.as_bytes().strip_prefix(b"Bearer ").unwrap_or_default()
}

async fn ask(shared: &Shared, caller: Caller, csrf_token: Option<String>) -> Result<Bytes, Problem> {
    let asked = caller.request(GetSessionRequest {});
    let session = shared.link.ask(shared.link.sessions().get_session(asked)).await?;
    let told = Told::of(session, csrf_token);
    // Strings and booleans always serialise.
    Ok(serde_json::to_vec(&told).unwrap_or_default().into())
}

fn refused(problem: Problem, by_cookie: bool) -> Response {
    let has_ended = problem.reason() == ErrorReason::CredentialInvalid;
    let mut response = problem.into_response();
    if has_ended && by_cookie {
        response
            .headers_mut()
            .insert(header::SET_COOKIE, cookie::taken_back());
    }
    response
}

impl Told {
    fn of(session: GetSessionResponse, csrf_token: Option<String>) -> Self {
        Self {
            csrf_token,
            tenant_id: session.tenant_id,
            tenant_name: session.tenant_name,
            principal: session.principal,
            role: session.role,
            profile: session.profile,
            uses_tools: session.uses_tools,
            expires_at: session.expires_at,
            method: session.method,
        }
    }
}
