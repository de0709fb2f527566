use axum::body::Body;

use super::*;

const TOKEN: &str = "tgs_t_secret";

/// Verb and template of every route below `/api`, by the contract and by hand.
fn routes() -> Vec<(Method, &'static str)> {
    let by_hand = ["GET", "POST", "DELETE"].map(|verb| (verb, rest::BEGIN_SESSION.1));
    let all = ROUTES.iter().map(|route| (route.verb, route.path)).chain(by_hand);
    let all: Vec<_> = all
        .filter(|(_, path)| path.starts_with("/api/"))
        .map(|(verb, path)| (verb.parse().unwrap(), path))
        .collect();
    assert!(all.len() > 30 && all.iter().any(|(verb, _)| verb == Method::PATCH));
    all
}

fn request(method: &Method, path: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = Request::builder()
        .method(method)
        .uri(path.replace(['{', '}'], ""));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

/// What the core would be shown, or that the request was refused.
fn shown(method: &Method, template: &str, headers: &[(&str, &str)]) -> Result<Option<String>, ErrorReason> {
    let mut request = request(method, template, headers);
    admit(&mut request, template).map_err(|problem| problem.reason())?;
    assert!(!request.headers().contains_key("cookie"), "the cookie went on");
    let credential = request.headers().get("authorization");
    Ok(credential.map(|value| value.to_str().unwrap().to_owned()))
}

fn with_cookie<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [("cookie", "theme=dark; __Host-toolgate=tgs_t_secret")]
        .into_iter()
        .chain(more.iter().copied())
        .collect()
}

#[test]
fn no_route_is_changed_by_a_cookie_alone() {
    let right = csrf_token(TOKEN.as_bytes());
    let other = csrf_token(b"tgs_t_other");
    let own = Ok(Some(format!("Bearer {TOKEN}")));
    for (method, path) in routes() {
        let ask = |headers: &[(&str, &str)]| shown(&method, path, &with_cookie(headers));
        let case = format!("{method} {path}");
        let is_public = is_public(&method, path);
        if method == Method::GET {
            assert_eq!(ask(&[]), if is_public { Ok(None) } else { own.clone() }, "{case}");
            continue;
        }
        let allowed = if is_public { Ok(None) } else { own.clone() };
        let refused = if is_public {
            Ok(None)
        } else {
            Err(ErrorReason::OriginForbidden)
        };
        // A form of another site, or a script that cannot read our answers.
        assert_eq!(ask(&[]), refused, "{case}");
        for wrong in [
            "",
            TOKEN,
            &other,
            &right[1..],
            &right.to_uppercase(),
            &format!("{right}="),
        ] {
            assert_eq!(ask(&[("x-csrf-token", wrong)]), refused, "{case} {wrong}");
        }
        assert_eq!(
            ask(&[("x-csrf-token", &right), ("x-csrf-token", &right)]),
            refused,
            "{case}"
        );
        // The right token is not enough where the browser says that it is another site's request.
        for site in ["cross-site", "same-site", "none", "", "Same-Origin"] {
            let foreign = [("x-csrf-token", &*right), ("sec-fetch-site", site)];
            assert_eq!(ask(&foreign), Err(ErrorReason::OriginForbidden), "{case} {site}");
        }
        assert_eq!(ask(&[("x-csrf-token", &right)]), allowed, "{case}");
        let ours = [("x-csrf-token", &*right), ("sec-fetch-site", "same-origin")];
        assert_eq!(ask(&ours), allowed, "{case}");
    }
}

#[test]
fn reading_is_for_our_pages_and_for_whoever_types_the_address() {
    let check = |site: &[&str], expected: bool| {
        let headers: Vec<_> = site.iter().map(|site| ("sec-fetch-site", *site)).collect();
        for method in [Method::GET, Method::HEAD] {
            let found = shown(&method, "/api/audit/events", &with_cookie(&headers));
            let refused = Err(ErrorReason::OriginForbidden);
            let own = Ok(Some(format!("Bearer {TOKEN}")));
            assert_eq!(found, if expected { own } else { refused }, "{site:?}");
        }
    };
    check(&[], true);
    check(&["same-origin"], true);
    check(&["none"], true);
    check(&["same-site"], false);
    check(&["cross-site"], false);
    check(&["same-origin", "cross-site"], false);
}

#[test]
fn methods_that_are_no_routes_are_not_let_past_either() {
    for method in ["OPTIONS", "PUT", "PATCH", "DELETE", "BREW", "get"] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        assert_eq!(
            shown(&method, "/api/audit/events", &with_cookie(&[])),
            Err(ErrorReason::OriginForbidden),
            "{method}"
        );
    }
}

#[test]
fn who_brings_a_credential_of_its_own_is_asked_for_nothing_and_its_cookie_is_not_read() {
    for (method, path) in routes() {
        for credential in ["Bearer tgk_t_other", "Basic x", ""] {
            let headers = with_cookie(&[("authorization", credential), ("sec-fetch-site", "same-site")]);
            let found = shown(&method, path, &headers);
            assert_eq!(found, Ok(Some(credential.to_owned())), "{method} {path}");
        }
    }
}

#[test]
fn a_cookie_is_worth_nothing_outside_of_the_api() {
    for path in [
        "/mcp",
        "/mcp/p/forges",
        "/mcp/project/shop",
        "/openai/v1/tools",
        "/openai/v1/tool_calls",
        "/uplink",
        "/metrics",
        "/readyz",
        "/openapi.json",
        "/.well-known/oauth-protected-resource",
        "/",
        "/audit",
        "/sign-in",
        "/apix",
        "/API/audit/events",
        "//api/audit/events",
        "/x/api/audit/events",
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            assert_eq!(
                shown(&method, path, &with_cookie(&[])),
                Ok(None),
                "{method} {path}"
            );
        }
    }
}

#[test]
fn only_the_token_of_a_session_is_a_credential_in_a_cookie() {
    let get = |cookie: &str| shown(&Method::GET, "/api/self", &[("cookie", cookie)]);
    for value in [
        "tgk_t_secret",
        "tgl_t_secret",
        "eyJh.eyJz.c2ln",
        "tgs",
        "TGS_t_secret",
    ] {
        assert_eq!(get(&format!("__Host-toolgate={value}")), Ok(None), "{value}");
    }
}

#[test]
fn a_doubled_cookie_is_refused_and_an_empty_one_is_none() {
    let get = |cookie: &str| shown(&Method::GET, "/api/self", &[("cookie", cookie)]);
    assert_eq!(
        get("__Host-toolgate=a; __Host-toolgate=b"),
        Err(ErrorReason::RequestMalformed)
    );
    assert_eq!(get("__Host-toolgate="), Ok(None));
    assert_eq!(get("x=y"), Ok(None));
    // What no session has is for the core to refuse and count.
    assert_eq!(
        get("__Host-toolgate=tgs_\"a b\""),
        Ok(Some("Bearer tgs_\"a b\"".into()))
    );
}

#[test]
fn what_was_taken_from_a_cookie_is_never_shown() {
    let mut request = request(&Method::GET, "/api/self", &with_cookie(&[]));
    admit(&mut request, "/api/self").unwrap();
    assert!(request.extensions().get::<ByCookie>().is_some());
    assert!(!format!("{:?}", request.headers()).contains("tgs_"));
}
