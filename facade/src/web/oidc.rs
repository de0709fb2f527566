//! `/sign-in/oidc`: the two steps of OpenID Connect that a browser takes by itself.
//!
//! What the first step needs again in the second lies sealed in a cookie of this browser, for ten minutes and one use.
//! Whatever goes wrong ends on the sign-in page with one word of it; nothing that the provider or a link says is repeated.

use std::collections::HashMap;

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use toolgate_contract::v1::{BeginOidcRequest, ErrorReason, FinishOidcRequest};

use crate::{
    link::{Caller, Peer},
    problem::Problem,
    query,
    routes::{Shared, method_not_allowed},
    session::cookie,
};

const BEGIN: &str = "/sign-in/oidc";
const CALLBACK: &str = "/sign-in/oidc/callback";

/// The templates of its paths.
pub(super) const PATHS: [&str; 2] = [BEGIN, CALLBACK];

/// What the browser keeps between the steps.
const KEPT: &str = "__Host-toolgate-sign-in";
const KEPT_SECONDS: u32 = 600;

/// The words that the sign-in page knows.
const WORDS: [&str; 5] = ["provider_away", "no_role", "state_lost", "denied", "refused"];

/// Its routes.
pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route(BEGIN, get(begin))
        .route(CALLBACK, get(finish))
}

/// Sends the browser to the provider.
async fn begin(State(shared): State<Shared>, caller: Caller, request: Request) -> Result<Response, Problem> {
    if request.method() != Method::GET {
        return Ok(method_not_allowed(request.method().as_str(), "GET"));
    }
    check_mode(request.headers())?;
    let mut told = parameters(request.uri())?;
    let asked = BeginOidcRequest {
        next: told.remove("next").unwrap_or_default(),
        origin: origin(&request).unwrap_or_default(),
    };
    let mut core = shared.link.sign_in();
    let begun = match shared.link.ask(core.begin_oidc(caller.request(asked))).await {
        Ok(begun) => begun,
        Err(problem) => return refused(problem),
    };
    let mut response = see(StatusCode::FOUND, &begun.authorization_url)?;
    keep(&mut response, &begun.sealed, KEPT_SECONDS)?;
    Ok(response)
}

/// Takes back what the browser brings from the provider, and gives it a session.
async fn finish(State(shared): State<Shared>, caller: Caller, request: Request) -> Result<Response, Problem> {
    if request.method() != Method::GET {
        return Ok(method_not_allowed(request.method().as_str(), "GET"));
    }
    let Some(asked) = asked(request.uri(), request.headers()) else {
        return forget(to_sign_in("state_lost")?);
    };
    let mut core = shared.link.sign_in();
    let finished = match shared.link.ask(core.finish_oidc(caller.request(asked))).await {
        Ok(finished) => finished,
        Err(problem) => return forget(refused(problem)?),
    };
    let mut response = see(StatusCode::SEE_OTHER, &finished.next)?;
    let session = cookie::given(&finished.token)?;
    response.headers_mut().append(header::SET_COOKIE, session);
    forget(response)
}

/// A browser says how it asks. Anything but going there, such as the picture of a foreign page, would put another sign-in in
/// the place of one under way.
fn check_mode(headers: &HeaderMap) -> Result<(), Problem> {
    match headers
        .get_all("sec-fetch-mode")
        .iter()
        .all(|mode| mode == "navigate")
    {
        true => Ok(()),
        false => {
            let text = "a sign-in begins by going to this address, not by a request of a page";
            Err(Problem::new(ErrorReason::OriginForbidden, text))
        }
    }
}

/// What came back; nothing where a parameter stands twice or the browser kept two things: which counts nobody can say.
fn asked(uri: &Uri, headers: &HeaderMap) -> Option<FinishOidcRequest> {
    let mut told = parameters(uri).ok()?;
    let kept = cookie::find(headers, KEPT).ok()?.unwrap_or_default();
    let mut take = |name: &str| told.remove(name).unwrap_or_default();
    Some(FinishOidcRequest {
        sealed: String::from_utf8(kept.to_vec()).ok()?,
        state: take("state"),
        code: take("code"),
        error: take("error"),
        iss: told.remove("iss"),
    })
}

fn parameters(uri: &Uri) -> Result<HashMap<String, String>, Problem> {
    let mut told = HashMap::new();
    for (name, value) in query::pairs(uri.query().unwrap_or_default())? {
        if told.insert(name, value).is_some() {
            let text = "a parameter of the query is given twice";
            return Err(Problem::new(ErrorReason::RequestMalformed, text));
        }
    }
    Ok(told)
}

/// Scheme and authority that the browser dialled. The rim has looked at the authority before.
fn origin(request: &Request) -> Option<String> {
    let host = request.headers().get(header::HOST);
    let named = host.and_then(|host| host.to_str().ok());
    let authority = named.or_else(|| Some(request.uri().authority()?.as_str()))?;
    let by_tls = request
        .extensions()
        .get::<Peer>()
        .is_some_and(|peer| peer.exporter.is_some());
    let scheme = if by_tls { "https" } else { "http" };
    Some(format!("{scheme}://{authority}"))
}

/// People are told on the sign-in page; what is no matter of a sign-in is told as everywhere.
fn refused(problem: Problem) -> Result<Response, Problem> {
    let failure = problem.into_failure();
    let word = failure.metadata.get("signIn");
    match WORDS
        .into_iter()
        .find(|known| word.is_some_and(|word| word == known))
    {
        Some(word) => to_sign_in(word),
        // More tries than one source has.
        None if failure.reason() == ErrorReason::RateLimited => to_sign_in("refused"),
        None => Err(failure.into()),
    }
}

fn to_sign_in(word: &'static str) -> Result<Response, Problem> {
    see(StatusCode::SEE_OTHER, &format!("/sign-in?error={word}"))
}

fn see(status: StatusCode, place: &str) -> Result<Response, Problem> {
    let place = HeaderValue::try_from(place).map_err(|_| Problem::internal())?;
    let mut response = status.into_response();
    response.headers_mut().insert(header::LOCATION, place);
    Ok(response)
}

/// One use, whatever came of it.
fn forget(mut response: Response) -> Result<Response, Problem> {
    keep(&mut response, "", 0)?;
    Ok(response)
}

fn keep(response: &mut Response, value: &str, seconds: u32) -> Result<(), Problem> {
    let attributes = format!("Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}");
    let mut header =
        HeaderValue::try_from(format!("{KEPT}={value}; {attributes}")).map_err(|_| Problem::internal())?;
    header.set_sensitive(true);
    response.headers_mut().append(header::SET_COOKIE, header);
    Ok(())
}
