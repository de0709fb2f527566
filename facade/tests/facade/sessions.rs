//! A browser's session: how it is given, told and taken back, and what its cookie opens.

use http::Request;
use http_body_util::Full;
use serde_json::json;
use toolgate_contract::v1::{ErrorReason, Failure};

use crate::{
    client::{self, Answer},
    world::World,
};

/// The scripted core signs everybody in with this.
const TOKEN: &str = "tgs_a_b";
/// SHA-256 of `toolgate/csrf/v1`, a zero byte and the token.
const CSRF: &str = "D4v28UHHjlMAbm1GXfZfXWGtraZrIvt8tRfGf2QIPks";

impl World {
    /// A request without the credential that other tests send.
    async fn browse(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder()
            .method(verb)
            .uri(path)
            .header("host", self.address.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.to_owned().into())).unwrap();
        client::send(self.address, request).await
    }

    /// The rpcs that were asked since the last look, with the credential they were shown and the dialect.
    fn asked(&self) -> Vec<(&'static str, String, String)> {
        let asked = std::mem::take(&mut *self.core.asked.lock().unwrap());
        let text = |metadata: &http::HeaderMap, name: &str| {
            metadata
                .get(name)
                .map_or("", |it| it.to_str().unwrap())
                .to_owned()
        };
        let told = asked.iter().map(|it| {
            let credential = text(&it.metadata, "authorization");
            (it.rpc, credential, text(&it.metadata, "toolgate-facade"))
        });
        told.collect()
    }
}

fn cookie() -> String {
    format!("theme=dark; __Host-toolgate={TOKEN}")
}

#[tokio::test]
async fn a_code_becomes_a_cookie_that_no_script_can_read() {
    let world = World::start().await;
    let answer = world
        .browse("POST", "/api/session", &[], r#"{"code":"tgl_t_code"}"#)
        .await;
    assert_eq!(answer.status, 201, "{:?}", answer.body);
    assert_eq!(
        answer.json(),
        json!({
            "csrfToken": CSRF, "tenantId": "t", "tenantName": "a tenant", "principal": "admin", "role": "admin", "usesTools": true,
            "expiresAt": "2026-01-02T03:04:05Z", "method": "link",
        })
    );
    assert_eq!(
        answer.header("set-cookie"),
        "__Host-toolgate=tgs_a_b; Path=/; Secure; HttpOnly; SameSite=Lax"
    );
    assert!(
        !answer.text().contains(TOKEN),
        "the token is for the cookie alone"
    );
    assert_eq!(answer.header("cache-control"), "no-store");
    let shown = format!("Bearer {TOKEN}");
    assert_eq!(
        world.asked(),
        [
            ("SignIn", String::new(), "web".into()),
            ("GetSession", shown, "web".into())
        ]
    );
}

#[tokio::test]
async fn a_session_that_was_planted_before_is_not_taken_up() {
    let world = World::start().await;
    let planted = [("cookie", "__Host-toolgate=tgs_t_planted")];
    let answer = world
        .browse("POST", "/api/session", &planted, r#"{"code":"tgl_t_code"}"#)
        .await;
    assert_eq!(answer.status, 201);
    assert!(
        answer
            .header("set-cookie")
            .starts_with("__Host-toolgate=tgs_a_b; ")
    );
    assert!(
        world
            .asked()
            .iter()
            .all(|(_, credential, _)| !credential.contains("planted"))
    );
    // Nor by a code in the address, by another name, or in a form.
    for (path, body) in [
        ("/api/session?code=tgl_t_code", ""),
        ("/api/session", "code=tgl_t_code"),
        ("/api/session", r#"{"token":"tgs_t_planted"}"#),
    ] {
        let answer = world.browse("POST", path, &[], body).await;
        answer.problem(400, "REQUEST_MALFORMED");
        assert_eq!(answer.header("set-cookie"), "");
    }
}

#[tokio::test]
async fn nobody_is_signed_in_by_another_site() {
    let world = World::start().await;
    for foreign in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let answer = world
            .browse("POST", "/api/session", &[foreign], r#"{"code":"tgl_t_code"}"#)
            .await;
        answer.problem(403, "ORIGIN_FORBIDDEN");
        assert_eq!(answer.header("set-cookie"), "");
    }
    assert!(world.asked().iter().all(|(rpc, ..)| *rpc == "ReportRefusal"));
}

#[tokio::test]
async fn the_cookie_is_the_credential_of_the_api_and_its_calls_are_the_pages() {
    let world = World::start().await;
    let (cookie, shown) = (cookie(), format!("Bearer {TOKEN}"));
    let session = world
        .browse("GET", "/api/session", &[("cookie", &cookie)], "")
        .await;
    assert_eq!(
        (session.status.as_u16(), &session.json()["csrfToken"]),
        (200, &json!(CSRF))
    );
    let tools = world
        .browse("GET", "/api/mcp/tools", &[("cookie", &cookie)], "")
        .await;
    assert_eq!(tools.status, 200);
    let ours = [
        ("cookie", &*cookie),
        ("x-csrf-token", CSRF),
        ("sec-fetch-site", "same-origin"),
    ];
    let made = world
        .browse("POST", "/api/tokens", &ours, r#"{"name":"n","role":"agent"}"#)
        .await;
    assert_eq!(made.status, 201, "{:?}", made.body);
    let asked = world.asked();
    assert_eq!(asked.len(), 3);
    for (rpc, credential, dialect) in asked {
        assert_eq!((&*credential, &*dialect), (&*shown, "web"), "{rpc}");
    }
}

#[tokio::test]
async fn no_trick_of_another_site_changes_anything() {
    let world = World::start().await;
    let cookie = cookie();
    let form = ("content-type", "application/x-www-form-urlencoded");
    let body = r#"{"name":"n","role":"admin"}"#;
    for headers in [
        // A form, and a fetch without a preflight; older browsers say nothing of the site.
        vec![form],
        vec![("content-type", "text/plain")],
        vec![
            form,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
        ],
        vec![("sec-fetch-site", "cross-site"), ("x-csrf-token", CSRF)],
        // Another port of this host is another site's page, too.
        vec![("sec-fetch-site", "same-site"), ("x-csrf-token", CSRF)],
        vec![("origin", "http://127.0.0.1:1"), ("x-csrf-token", CSRF)],
        vec![("origin", "null"), ("x-csrf-token", CSRF)],
        vec![("x-csrf-token", TOKEN)],
        vec![("x-http-method-override", "POST")],
    ] {
        let headers: Vec<_> = headers.into_iter().chain([("cookie", &*cookie)]).collect();
        for (verb, path) in [
            ("POST", "/api/tokens"),
            ("DELETE", "/api/sessions/x"),
            ("DELETE", "/api/session"),
            ("PUT", "/api/mcp/policy"),
            ("PATCH", "/api/mcp/adapter/x"),
            ("POST", "/api/mcp/invoke"),
        ] {
            let answer = world.browse(verb, path, &headers, body).await;
            answer.problem(403, "ORIGIN_FORBIDDEN");
        }
    }
    // What changes something is no GET, whatever is said beside it.
    for path in ["/api/mcp/invoke?name=x", "/api/sign-in?code=x", "/api/sessions/x"] {
        let headers = [("cookie", &*cookie), ("x-http-method-override", "POST")];
        let answer = world.browse("GET", path, &headers, "").await;
        assert_eq!(answer.status, 405, "{path}");
    }
    assert!(world.asked().iter().all(|(rpc, ..)| *rpc == "ReportRefusal"));
}

#[tokio::test]
async fn no_socket_and_no_other_dialect_is_opened_by_the_cookie() {
    let world = World::start().await;
    let cookie = cookie();
    let socket = [
        ("cookie", &*cookie),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("origin", "https://evil.example"),
    ];
    world
        .browse("GET", "/uplink", &socket, "")
        .await
        .problem(403, "ORIGIN_FORBIDDEN");
    let _ = world.asked();
    for (verb, path, body) in [
        (
            "POST",
            "/mcp",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ),
        ("GET", "/openai/v1/tools", ""),
        ("POST", "/openai/v1/tool_calls", r#"{"tool_calls":[]}"#),
        ("GET", "/metrics", ""),
        ("GET", "/audit", ""),
    ] {
        let headers = [
            ("cookie", &*cookie),
            ("accept", "application/json, text/event-stream"),
            ("x-csrf-token", CSRF),
        ];
        world.browse(verb, path, &headers, body).await;
    }
    assert!(
        world
            .asked()
            .iter()
            .all(|(_, credential, _)| credential.is_empty())
    );
}

#[tokio::test]
async fn a_token_in_the_header_counts_and_the_cookie_beside_it_does_not() {
    let world = World::start().await;
    let cookie = cookie();
    let headers = [("cookie", &*cookie), ("authorization", "Bearer tgk_t_other")];
    let made = world
        .browse("POST", "/api/tokens", &headers, r#"{"name":"n","role":"agent"}"#)
        .await;
    assert_eq!(made.status, 201);
    let session = world.browse("GET", "/api/session", &headers, "").await;
    assert!(session.json().get("csrfToken").is_none());
    let shown = || "Bearer tgk_t_other".to_owned();
    assert_eq!(
        world.asked(),
        [
            ("CreateToken", shown(), "rest".into()),
            ("GetSession", shown(), "web".into())
        ]
    );
}

#[tokio::test]
async fn whoever_signs_out_has_no_session_and_no_cookie() {
    let world = World::start().await;
    let cookie = cookie();
    let ours = [("cookie", &*cookie), ("x-csrf-token", CSRF)];
    let answer = world.browse("DELETE", "/api/session", &ours, "").await;
    assert_eq!((answer.status.as_u16(), answer.text()), (204, ""));
    let taken_back = "__Host-toolgate=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0";
    assert_eq!(answer.header("set-cookie"), taken_back);
    assert_eq!(
        world.asked(),
        [("SignOut", format!("Bearer {TOKEN}"), "web".into())]
    );

    // One that has ended elsewhere is taken back as it is found out.
    let ended = Failure::new(ErrorReason::CredentialInvalid, "sign in again");
    *world.core.failure.lock().unwrap() = Some(ended);
    for (verb, headers) in [("GET", &ours[..1]), ("DELETE", &ours[..])] {
        let answer = world.browse(verb, "/api/session", headers, "").await;
        answer.problem(401, "CREDENTIAL_INVALID");
        assert_eq!(answer.header("set-cookie"), taken_back);
    }
    let without = world.browse("GET", "/api/session", &[], "").await;
    without.problem(401, "CREDENTIAL_INVALID");
    assert_eq!(without.header("set-cookie"), "");
}

#[tokio::test]
async fn two_cookies_of_the_name_are_none() {
    let world = World::start().await;
    let doubled = [("cookie", "__Host-toolgate=a"), ("cookie", "__Host-toolgate=b")];
    let answer = world.browse("GET", "/api/self", &doubled, "").await;
    answer.problem(400, "REQUEST_MALFORMED");
}
