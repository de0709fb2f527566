//! Sessions of browsers: the one place that reads the session's cookie, and the one place that holds a request against
//! the tricks other sites play with it.
//!
//! A request below `/api` without a credential of its own gets the cookie's as one, so nothing further in knows of
//! cookies. What changes something must show that it comes from our pages: by a header that only they can compute, and
//! by what the browser says of where it comes from. Everywhere else the cookie is not read; it is taken off here.

pub(crate) mod cookie;
mod csrf;

use axum::extract::Request;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use toolgate_contract::{registry::ROUTES, v1::ErrorReason};

use self::cookie::Twice;
pub(crate) use self::csrf::token as csrf_token;
use crate::{problem::Problem, rest};

/// The session's cookie. The prefix keeps other hosts and plain HTTP from setting it.
pub(crate) const COOKIE: &str = "__Host-toolgate";
/// What the pages prove themselves with.
const CSRF: HeaderName = HeaderName::from_static("x-csrf-token");
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// How a session's token begins: no other credential travels in a cookie.
const SESSION_TOKEN: &[u8] = b"tgs_";
/// Below this the cookie is read.
const API: &str = "/api/";
/// Below this lie cookies of other purposes.
const SIGN_IN: &str = "/sign-in/";

/// That a request's credential is the cookie's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByCookie;

/// Turns the cookie into the request's credential, where it is one, and takes it off.
pub(crate) fn admit(request: &mut Request, template: &str) -> Result<(), Problem> {
    if !request.uri().path().starts_with(API) {
        if !request.uri().path().starts_with(SIGN_IN) {
            request.headers_mut().remove(header::COOKIE);
        }
        return Ok(());
    }
    let credential = credential(request.method(), template, request.headers())?;
    let headers = request.headers_mut();
    headers.remove(header::COOKIE);
    if let Some(credential) = credential {
        headers.insert(header::AUTHORIZATION, credential);
        request.extensions_mut().insert(ByCookie);
    }
    Ok(())
}

/// The cookie's credential, if the request may use it.
fn credential(method: &Method, template: &str, headers: &HeaderMap) -> Result<Option<HeaderValue>, Problem> {
    if headers.contains_key(header::AUTHORIZATION) {
        return Ok(None);
    }
    let is_safe = method == Method::GET || method == Method::HEAD;
    if !is_safe {
        check_site(headers, false)?;
    }
    if is_public(method, template) {
        return Ok(None);
    }
    let twice = |Twice| {
        let text =
            format!("cookie {COOKIE} is given twice; remove the cookies of this gateway and sign in again");
        Problem::new(ErrorReason::RequestMalformed, text)
    };
    let session = cookie::find(headers, COOKIE).map_err(twice)?;
    let Some(value) = session.filter(|value| value.starts_with(SESSION_TOKEN)) else {
        return Ok(None);
    };
    match is_safe {
        true => check_site(headers, true)?,
        false => check_token(headers, value)?,
    }
    let mut credential = HeaderValue::try_from([b"Bearer ", value].concat()).ok();
    if let Some(credential) = &mut credential {
        credential.set_sensitive(true);
    }
    Ok(credential)
}

/// Browsers say where a request comes from; nothing else does, and is not believed to be one of our pages either.
fn check_site(headers: &HeaderMap, may_be_typed: bool) -> Result<(), Problem> {
    let is_ours = |site: &HeaderValue| site == "same-origin" || (may_be_typed && site == "none");
    match headers.get_all(SITE).iter().all(is_ours) {
        true => Ok(()),
        false => Err(foreign(
            "this request comes from another site, which may not use your session",
        )),
    }
}

fn check_token(headers: &HeaderMap, value: &[u8]) -> Result<(), Problem> {
    let mut shown = headers.get_all(CSRF).iter();
    match (shown.next(), shown.next()) {
        (Some(shown), None) if csrf::fits(value, shown.as_bytes()) => Ok(()),
        _ => Err(foreign(
            "with a session's cookie a request that changes something needs the header x-csrf-token with the csrfToken \
             of GET /api/session; a script sends its token in the header authorization instead",
        )),
    }
}

fn foreign(text: &str) -> Problem {
    Problem::new(ErrorReason::OriginForbidden, text)
}

/// Whether the route asks for no credential: then none is taken from a cookie, which may be of a session long ended.
fn is_public(method: &Method, template: &str) -> bool {
    let is_it = |verb: &str, path: &str| template == path && method.as_str() == verb;
    let (verb, path) = rest::BEGIN_SESSION;
    is_it(verb, path)
        || ROUTES
            .iter()
            .any(|route| route.public && is_it(route.verb, route.path))
}

#[cfg(test)]
mod tests;
