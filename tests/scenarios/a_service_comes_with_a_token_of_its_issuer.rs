//! A service that has an issuer calls with that issuer's token, in every dialect, and is the same caller with the next one.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_test_support::{Answer, Caller, Dialect, Gateway, Ground, Issuer, Signer, World, on_each_store};

const TOOL: &str = "ssh.run_whitelisted_command";

on_each_store!(a_service_comes_with_a_token_of_its_issuer);

async fn a_service_comes_with_a_token_of_its_issuer(ground: Ground) {
    let signers = [Signer::rs256("1"), Signer::es256("2"), Signer::eddsa("3")];
    let issuer = Issuer::start(&signers.each_ref()).await;
    let world = ground
        .world()
        .clock_by_hand()
        .unlimited()
        .host("web-1")
        .jwt(issuer.settings())
        .start()
        .await;
    let now = world.clock().wall_us();

    for (signer, subject) in signers.iter().zip(["rs", "es", "ed"]) {
        let service = world
            .admin()
            .with_token(signer.token(&issuer.claims(subject, "agent", now)));
        let myself = service.get("/api/self").await.json();
        assert_eq!(myself["principal"], format!("jwt:{subject}"));
        assert_eq!(myself["role"], "agent");
        for dialect in Dialect::ALL {
            let told = service
                .by(dialect)
                .await
                .call(TOOL, &json!({"command": "uptime"}))
                .await;
            assert_eq!(told.reason(), "", "{subject} {dialect:?}: {told:?}");
        }
        // Its role is the token's, and no more.
        assert_eq!(service.get("/api/tokens").await.status, 403);
    }
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.len(), signers.len() * Dialect::ALL.len());
    for subject in ["rs", "es", "ed"] {
        let of_it = rows
            .iter()
            .filter(|row| row["principal"] == format!("jwt:{subject}"));
        assert_eq!(of_it.count(), Dialect::ALL.len(), "{rows:?}");
    }
    assert_eq!(issuer.asked(), 1, "no call is paid with a request to the issuer");
}

#[tokio::test]
async fn the_next_token_of_a_subject_is_the_same_caller_and_no_other_subject_is() {
    let (signer, next) = (Signer::eddsa("1"), Signer::eddsa("2"));
    let issuer = Issuer::start(&[&signer]).await;
    let world = World::new()
        .clock_by_hand()
        .host("web-1")
        .jwt(issuer.settings())
        .start()
        .await;
    let token = |signer: &Signer, subject: &str| {
        let claims = issuer.claims(subject, "engineer", world.clock().wall_us());
        world.admin().with_token(signer.token(&claims))
    };
    let service = token(&signer, "ci");
    let call = service.invoke(TOOL, json!({"command": "uptime"})).await.unwrap();

    // A minute later, of a key that the issuer has taken up since.
    world.clock().advance(Duration::from_secs(61));
    issuer.publish(&[&next]);
    let renewed = token(&next, "ci");
    let events = renewed.watch(&call).await.unwrap().all().await;
    assert_eq!(events.last().unwrap().event, "done");
    for other in [
        token(&next, "ci2"),
        token(&next, "CI"),
        token(&next, "jwt:ci"),
        world.admin().clone(),
    ] {
        assert_eq!(other.watch(&call).await.unwrap_err().reason, "CALL_NOT_FOUND");
    }
    // A session of MCP is its principal's, not its token's.
    let session = open_session(&renewed).await;
    let again = issuer.claims("ci", "engineer", world.clock().wall_us() + 1_000_000);
    let again = world.admin().with_token(next.token(&again));
    assert_ne!(again.token(), renewed.token());
    for (caller, status) in [
        (&renewed, 200),
        (&again, 200),
        (&token(&next, "ci2"), 404),
        (world.admin(), 404),
    ] {
        let listed = in_session(caller, &session).await;
        assert_eq!(listed.status, status, "{}", listed.text);
    }
    // A token of the gateway's own cannot take the name.
    let made = world
        .admin()
        .make_token("jwt:ci", toolgate_test_support::Role::Engineer)
        .await;
    assert_eq!(made.unwrap_err().status, 400);
    // The key that was taken back is none any more, whoever held a token of it.
    assert_eq!(service.get("/api/self").await.status, 401);
    assert_eq!(token(&signer, "ci").get("/api/self").await.status, 401);
}

#[tokio::test]
async fn while_the_issuer_is_down_its_tokens_are_good_and_others_are_refused_soon() {
    let (held, unknown) = (Signer::es256("held"), Signer::es256("unknown"));
    let issuer = Issuer::start(&[&held]).await;
    issuer.go_down();
    let world = World::new().clock_by_hand().jwt(issuer.settings()).start().await;
    let token = |signer: &Signer| {
        let claims = issuer.claims("ci", "agent", world.clock().wall_us());
        world.admin().with_token(signer.token(&claims))
    };
    assert_eq!(
        world.admin().get("/readyz").await.status,
        200,
        "a start does not wait for an issuer"
    );
    assert_eq!(
        token(&held).get("/api/self").await.status,
        401,
        "no key is held yet"
    );

    issuer.publish(&[&held]);
    world.clock().advance(Duration::from_secs(61));
    assert_eq!(token(&held).get("/api/self").await.status, 200);

    issuer.go_down();
    for _ in 0..3 {
        world.clock().advance(Duration::from_secs(61));
        let refused = token(&unknown).get("/api/self").await;
        assert_eq!(refused.status, 401);
        assert!(refused.took < Duration::from_secs(5), "{:?}", refused.took);
        assert_eq!(token(&held).get("/api/self").await.status, 200);
    }
    assert_eq!(world.admin().get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_pinned_profile_hides_what_it_does_not_name() {
    let signer = Signer::eddsa("1");
    let issuer = Issuer::start(&[&signer]).await;
    let mut settings = issuer.settings();
    settings.profile_claim = "profile".into();
    let world = World::new().host("web-1").jwt(settings).start().await;
    let token = |profile: &str| {
        let mut claims = issuer.claims("ci", "agent", world.clock().wall_us());
        claims["profile"] = json!(profile);
        world.admin().with_token(signer.token(&claims))
    };
    let pinned = token("forges");
    assert_eq!(pinned.get("/api/self").await.json()["profile"], "forges");
    pinned.run("uptime").await.unwrap_err();
    assert!(world.host("web-1").received().is_empty());
    assert_eq!(
        token("no-such-profile").get("/api/self").await.status,
        401,
        "never open by mistake"
    );
}

#[tokio::test]
async fn settings_make_an_issuer_trusted_and_clients_find_it() {
    let signer = Signer::rs256("1");
    let issuer = Issuer::start(&[&signer]).await;
    let settings = issuer.settings();
    let arguments = [
        "--jwt-issuer",
        &settings.issuer,
        "--jwt-audience",
        &settings.audience,
        "--jwt-jwks-url",
        &settings.jwks_url,
    ];
    let gateway = Gateway::start(&arguments).await.unwrap();
    let admin = gateway.admin();
    let url = admin.url();

    let refused = admin.with_token("").get("/api/self").await;
    let metadata = format!("{url}/.well-known/oauth-protected-resource");
    let challenge = refused.header("www-authenticate").unwrap_or_default();
    assert!(
        challenge.contains(&format!("resource_metadata=\"{metadata}\"")),
        "{challenge}"
    );
    let told = admin
        .get("/.well-known/oauth-protected-resource/mcp")
        .await
        .json();
    assert_eq!(told["resource"], format!("{url}/mcp"));
    assert_eq!(told["authorization_servers"], json!([issuer.name()]));

    let now = Clock::system().wall_us();
    let service = admin.with_token(signer.token(&issuer.claims("ci", "engineer", now)));
    let myself = service.get("/api/self").await.json();
    assert_eq!(myself["principal"], "jwt:ci");
    // Without another word it belongs to the tenant that the first start made.
    assert_eq!(
        myself["tenantId"],
        admin.get("/api/self").await.json()["tenantId"]
    );
    let metrics = admin.get("/metrics").await.text;
    assert!(
        metrics.contains("toolgate_jwt_key_refreshes_total{outcome=\"ok\"} 1"),
        "{metrics}"
    );
    let other = signer.token(&issuer.claims("ci", "engineer", now - 7_200_000_000));
    assert_eq!(admin.with_token(other).get("/api/self").await.status, 401);
    let metrics = admin.get("/metrics").await.text;
    assert!(
        metrics.contains("toolgate_jwt_refused_total{reason=\"expired\"} 1"),
        "{metrics}"
    );
}

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

async fn open_session(caller: &Caller) -> String {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = caller.post("/mcp", message("initialize", params)).await;
    opened.header("mcp-session-id").expect("a session").to_owned()
}

async fn in_session(caller: &Caller, session: &str) -> Answer {
    let request = caller
        .request("POST".parse().unwrap(), "/mcp")
        .header("mcp-session-id", session);
    let request = request.header("mcp-protocol-version", "2025-06-18");
    caller.send(request.json(&message("tools/list", json!({})))).await
}
