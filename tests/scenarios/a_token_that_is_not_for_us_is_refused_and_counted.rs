//! Whatever is wrong with a JWT, its bearer hears what everybody without a credential hears, nothing is contacted, and the
//! attempt is counted on the chain of the system.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_contract::v1::{ErrorReason, Failure};
use toolgate_test_support::{Ground, Issuer, Signer, on_each_store, unsigned, until};

const COUNTED: &str = "select coalesce(sum(count), 0) from refusal_counter \
     where tenant_id = 'system' and reason = 'CREDENTIAL_INVALID'";
const TOOL: &str = "ssh.run_whitelisted_command";

on_each_store!(a_token_that_is_not_for_us_is_refused_and_counted);

async fn a_token_that_is_not_for_us_is_refused_and_counted(ground: Ground) {
    let (rsa, ec, stranger) = (Signer::rs256("rsa"), Signer::es256("ec"), Signer::es256("ec"));
    let issuer = Issuer::start(&[&rsa, &ec]).await;
    let world = ground
        .world()
        .clock_by_hand()
        .host("web-1")
        .jwt(issuer.settings())
        .start()
        .await;
    let good = issuer.claims("ci", "agent", world.clock().wall_us());
    let service = world.admin().with_token(ec.token(&good));
    assert_eq!(
        service.get("/api/self").await.status,
        200,
        "what the others were made from"
    );

    let bad = bad_tokens(&good, &rsa, &ec, &stranger);
    let metadata = format!(
        "resource_metadata=\"{}/.well-known/oauth-protected-resource\"",
        world.url()
    );
    let challenge = format!("Bearer realm=\"toolgate\", error=\"invalid_token\", {metadata}");
    let unknown = world.admin().with_token("tgk_nobody").get("/api/self").await;
    for (what, token) in &bad {
        let bearer = world.admin().with_token(token);
        let answer = bearer.get("/api/self").await;
        assert_eq!(answer.status, 401, "{what}: {}", answer.text);
        assert_eq!(answer.text, unknown.text, "{what}");
        assert_eq!(
            answer.header("www-authenticate"),
            Some(challenge.as_str()),
            "{what}"
        );
        let call = bearer.run("uptime").await.unwrap_err();
        assert_eq!(
            (call.status, call.reason.as_str()),
            (401, "CREDENTIAL_INVALID"),
            "{what}"
        );
        let status = bearer
            .grpc()
            .await
            .call(TOOL, json!({"command": "uptime"}))
            .await
            .unwrap_err();
        assert_eq!(
            Failure::from_status(&status).reason(),
            ErrorReason::CredentialInvalid,
            "{what}"
        );
    }
    assert!(world.host("web-1").received().is_empty(), "nothing was contacted");
    assert_eq!(issuer.asked(), 2, "unknown keys brought one reading, and no more");

    let expected = i64::try_from(bad.len() * 3 + 1).unwrap();
    let counted = until(Duration::from_secs(10), || async {
        (world.store().count(COUNTED).await == Ok(expected)).then_some(())
    });
    let counted = counted.await;
    assert!(
        counted.is_some(),
        "{:?} of {expected}",
        world.store().count(COUNTED).await
    );
    assert!(
        world.audit_of("request.refused").await.is_empty(),
        "and nothing of it is the tenant's"
    );
}

fn bad_tokens(good: &Value, rsa: &Signer, ec: &Signer, stranger: &Signer) -> Vec<(&'static str, String)> {
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        ec.token(&claims)
    };
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        ec.token(&claims)
    };
    let headed = |header: Value| ec.token_with(&header, good);
    let now = good["iat"].as_i64().unwrap();
    let token = ec.token(good);
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("three parts");
    };
    let other = with("sub", json!("root"));
    let other_payload = other.split('.').nth(1).unwrap();
    vec![
        (
            "for somebody else",
            with("aud", json!("https://other.example/mcp")),
        ),
        (
            "for us with a slash",
            with("aud", json!(format!("{}/", good["aud"][0].as_str().unwrap()))),
        ),
        ("for nobody", without("aud")),
        ("of another issuer", with("iss", json!("https://issuer.example"))),
        ("of no issuer", without("iss")),
        ("expired", with("exp", json!(now - 61))),
        ("without an end", without("exp")),
        ("not yet valid", with("nbf", json!(now + 120))),
        ("unsigned", unsigned("ec", good)),
        ("unsigned, of no key", unsigned("", good)),
        ("keyed with the public key", rsa.keyed_with_the_public_key(good)),
        (
            "of another algorithm",
            headed(json!({"alg": "HS256", "kid": "ec"})),
        ),
        (
            "of the other key's algorithm",
            headed(json!({"alg": "RS256", "kid": "ec"})),
        ),
        (
            "of an unknown key",
            headed(json!({"alg": "ES256", "kid": "never"})),
        ),
        ("of no key", headed(json!({"alg": "ES256"}))),
        (
            "of a path",
            headed(json!({"alg": "ES256", "kid": "../../../../etc/passwd"})),
        ),
        ("of a device", headed(json!({"alg": "ES256", "kid": "/dev/zero"}))),
        (
            "of an address",
            headed(json!({"alg": "ES256", "kid": "http://127.0.0.1:1/keys"})),
        ),
        (
            "of a query",
            headed(json!({"alg": "ES256", "kid": "' or 1=1 --"})),
        ),
        (
            "with a key of its own",
            stranger.token_with(&json!({"alg": "ES256", "kid": "ec", "jwk": stranger.jwk()}), good),
        ),
        ("by a stranger", stranger.token(good)),
        ("tampered", format!("{header}.{other_payload}.{signature}")),
        ("cut", token[..token.len() - 1].to_owned()),
        ("without its signature", format!("{header}.{payload}.")),
        ("of two parts", format!("{header}.{payload}")),
        ("of five parts", format!("{token}.a.b")),
        ("huge", with("filler", json!("x".repeat(7 * 1024)))),
        ("without a subject", without("sub")),
        (
            "of a subject that cannot be shown",
            with("sub", json!("a\u{202e}b")),
        ),
        ("without a role", without("toolgate_role")),
        ("of an unknown role", with("toolgate_role", json!("root"))),
        ("of two roles", with("toolgate_role", json!(["agent", "admin"]))),
        ("dots alone", "..".to_owned()),
        ("no JSON", "e30.e30.e30".to_owned()),
    ]
}
