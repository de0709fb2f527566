mod fake_provider;

use std::os::unix::fs::PermissionsExt;

use reqwest::Url;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use self::fake_provider::FakeProvider;
use super::*;
use crate::{
    changes::tests::ground::{Ground, NOW_US},
    identity::{Role, jwt::signer::Signer},
};

/// A provider and us as its client, with the keeper running.
struct Given {
    ground: Ground,
    fake: FakeProvider,
    signer: Signer,
    oidc: Oidc,
    stop: CancellationToken,
    keeper: JoinHandle<()>,
}

impl Given {
    async fn new() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(change: impl FnOnce(&mut OidcConfig)) -> Self {
        let (ground, fake) = (Ground::new().await, FakeProvider::start().await);
        let signer = Signer::es256("held");
        fake.publish(&[&signer]);
        let oidc = of(&ground, &fake, change).unwrap();
        let stop = CancellationToken::new();
        let keeper = tokio::spawn(oidc.clone().keep(stop.clone()));
        Self {
            ground,
            fake,
            signer,
            oidc,
            stop,
            keeper,
        }
    }

    /// Begins, and gives what the browser keeps and the parameters of the provider's address.
    async fn begin(&self) -> (Secret, Url) {
        let begun = self.oidc.begin("/adapters", None).await.unwrap();
        (begun.sealed, Url::parse(&begun.authorization_url).unwrap())
    }

    fn claims(&self, asked: &Url) -> Value {
        let now = NOW_US / 1_000_000;
        json!({
            "iss": self.fake.issuer, "aud": "gate", "sub": "ada", "groups": ["ops"],
            "nonce": parameter(asked, "nonce"), "iat": now, "exp": now + 300,
        })
    }

    /// A sign-in whose ID token says this.
    async fn sign_in(&self, change: impl FnOnce(&mut Value)) -> Result<Session, Turned> {
        let (sealed, asked) = self.begin().await;
        let mut claims = self.claims(&asked);
        change(&mut claims);
        self.fake.give(&self.signer.token(&claims));
        let back = Back {
            sealed,
            ..back(&asked)
        };
        self.oidc.finish(back, "web").await.map(|(session, next)| {
            assert_eq!(next, "/adapters");
            session
        })
    }

    async fn end(self) {
        self.stop.cancel();
        self.keeper.await.unwrap();
    }
}

fn of(ground: &Ground, fake: &FakeProvider, change: impl FnOnce(&mut OidcConfig)) -> Result<Oidc, OidcError> {
    let mut config = OidcConfig {
        issuer: fake.issuer.clone(),
        client_id: "gate".into(),
        role_claim: "groups".into(),
        roles: vec!["ops=engineer".into()],
        ..OidcConfig::default()
    };
    change(&mut config);
    Oidc::new(
        &config,
        ("https://gate.example", false),
        ground.tenant().clone(),
        Arc::clone(&ground.keys),
        Sessions::new(ground.changes.clone()),
        ground.clock.clone(),
    )
}

fn back(asked: &Url) -> Back {
    Back {
        sealed: Secret::new(String::new()),
        state: Secret::new(parameter(asked, "state")),
        code: Secret::new("code".into()),
        error: String::new(),
        iss: None,
    }
}

fn parameter(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(found, _)| found == name);
    found.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn word(told: Result<Session, Turned>) -> &'static str {
    match told {
        Ok(_) => "signed_in",
        Err(Turned {
            error: Error::NotSignedIn(why),
            ..
        }) => why.as_str(),
        Err(turned) => panic!("{turned:?}"),
    }
}

#[tokio::test]
async fn whom_the_provider_names_gets_a_session_of_that_name() {
    let given = Given::new().await;
    let session = given.sign_in(|_| ()).await.unwrap();
    let live = given.ground.live(session.token.reveal()).await.unwrap();
    assert_eq!((&*live.name, live.role), ("oidc:ada", Role::Engineer));
    assert_eq!(given.ground.since_start().await, ["session.signed_in"]);

    let exchange = given.fake.asked("/token").remove(0);
    for part in [
        "POST /token ",
        "grant_type=authorization_code",
        "code=code",
        "code_verifier=",
        "client_id=gate",
        "redirect_uri=https%3A%2F%2Fgate.example%2Fsign-in%2Foidc%2Fcallback",
    ] {
        assert!(exchange.contains(part), "{part}: {exchange}");
    }
    assert!(given.fake.asked("/me").is_empty(), "the ID token said it");
    given.end().await;
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_as_the_provider_wants_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secret");
    std::fs::write(&path, "p&ss\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let given = Given::with(|it| it.client_secret_file = Some(path.clone())).await;
    assert_eq!(word(given.sign_in(|_| ()).await), "signed_in");
    let exchange = given.fake.asked("/token").remove(0);
    // `gate:p%26ss`, each part encoded as a form is (RFC 6749 §2.3.1).
    assert!(
        exchange.contains("authorization: Basic Z2F0ZTpwJTI2c3M="),
        "{exchange}"
    );
    assert!(!exchange.contains("client_secret"), "{exchange}");

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(word(given.sign_in(|_| ()).await), "provider_away");
    assert_eq!(given.fake.asked("/token").len(), 1, "it is not shown any more");
    given.end().await;
}

#[tokio::test]
async fn an_id_token_that_breaks_a_rule_lets_nobody_in() {
    let given = Given::new().await;
    let now = NOW_US / 1_000_000;
    for (name, value, expected) in [
        ("iss", json!("https://evil.example"), "refused"),
        ("iss", json!(format!("{}/", given.fake.issuer)), "refused"),
        ("aud", json!("another"), "refused"),
        ("aud", json!(["gate", "another"]), "refused"),
        ("azp", json!("another"), "refused"),
        ("nonce", json!("another"), "refused"),
        ("nonce", Value::Null, "refused"),
        ("exp", json!(now - 60), "refused"),
        ("exp", Value::Null, "refused"),
        ("exp", json!(now - 59), "signed_in"),
        ("nbf", json!(now + 61), "refused"),
        ("iat", json!(now + 61), "refused"),
        ("at_hash", json!("AAAA"), "refused"),
        ("at_hash", json!(half_hash("access")), "signed_in"),
        ("sub", json!("a\nb"), "refused"),
        ("sub", json!(""), "refused"),
        ("sub", Value::Null, "refused"),
        ("groups", json!(["dev"]), "no_role"),
        ("groups", json!([]), "no_role"),
    ] {
        let told = given.sign_in(|claims| claims[name] = value.clone()).await;
        assert_eq!(word(told), expected, "{name}: {value}");
    }
    given.end().await;
}

fn half_hash(text: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    data_encoding::BASE64URL_NOPAD.encode(&hash.as_ref()[..16])
}

#[tokio::test]
async fn what_is_signed_by_nobody_or_somebody_else_lets_nobody_in() {
    let given = Given::new().await;
    let other = Signer::es256("held");
    let (sealed, asked) = given.begin().await;
    let claims = given.claims(&asked);
    let sealed = || Secret::new(sealed.reveal().to_owned());
    for token in [
        other.token(&claims),
        crate::identity::jwt::signer::unsigned("held", &claims),
        given.signer.keyed_with_the_public_key(&claims),
        String::new(),
        "a.b.c".to_owned(),
    ] {
        given.fake.give(&token);
        let back = Back {
            sealed: sealed(),
            ..back(&asked)
        };
        let told = given.oidc.finish(back, "web").await.map(|it| it.0);
        assert_eq!(word(told), "refused", "{token}");
    }
    given.end().await;
}

#[tokio::test]
async fn a_rotated_key_is_read_and_a_provider_that_went_away_keeps_its_former_ones() {
    let mut given = Given::new().await;
    assert_eq!(word(given.sign_in(|_| ()).await), "signed_in");
    given.signer = Signer::eddsa("new");
    given.fake.publish(&[&given.signer]);
    assert_eq!(
        word(given.sign_in(|_| ()).await),
        "signed_in",
        "a rotated key is read"
    );
    given.fake.say("/jwks", 500, "");
    given.ground.clock.advance(Duration::from_secs(61));
    let unknown = std::mem::replace(&mut given.signer, Signer::eddsa("unknown"));
    assert_eq!(word(given.sign_in(|_| ()).await), "refused");
    given.signer = unknown;
    assert_eq!(
        word(given.sign_in(|_| ()).await),
        "signed_in",
        "the former keys stay"
    );
    given.end().await;
}

#[tokio::test]
async fn the_userinfo_is_asked_only_where_the_token_says_nothing_and_speaks_of_the_same_one() {
    let given = Given::new().await;
    let silent = |claims: &mut Value| drop(claims.as_object_mut().unwrap().remove("groups"));
    for (status, body, expected) in [
        (
            200,
            json!({"sub": "ada", "groups": ["ops"]}).to_string(),
            "signed_in",
        ),
        (
            200,
            json!({"sub": "ada", "groups": ["dev"]}).to_string(),
            "no_role",
        ),
        (200, json!({"sub": "ada"}).to_string(), "no_role"),
        (
            200,
            json!({"sub": "eve", "groups": ["ops"]}).to_string(),
            "refused",
        ),
        (200, json!({"groups": ["ops"]}).to_string(), "refused"),
        (
            200,
            r#"{"sub":"eve","sub":"ada","groups":["ops"]}"#.into(),
            "refused",
        ),
        (200, "<html>".into(), "refused"),
        (403, String::new(), "refused"),
        (503, String::new(), "provider_away"),
        (200, " ".repeat(300_000), "provider_away"),
    ] {
        given.fake.say("/me", status, &body);
        let shown: String = body.chars().take(60).collect();
        assert_eq!(word(given.sign_in(silent).await), expected, "{status} {shown}");
    }
    let asked = given.fake.asked("/me");
    assert!(
        asked.iter().all(|it| it.contains("authorization: Bearer access")),
        "{asked:?}"
    );
    let before = asked.len();
    assert_eq!(
        word(given.sign_in(|it| it["groups"] = json!([])).await),
        "no_role"
    );
    assert_eq!(given.fake.asked("/me").len(), before, "the token said it");
    given.end().await;

    let lenient = Given::with(|it| it.default_role = "auditor".into()).await;
    lenient.fake.answer("/me", 200, &json!({"sub": "ada"}));
    let session = lenient.sign_in(silent).await.unwrap();
    let live = lenient.ground.live(session.token.reveal()).await.unwrap();
    assert_eq!(live.role, Role::Auditor);
    assert_eq!(
        word(lenient.sign_in(|it| it["groups"] = json!([])).await),
        "no_role"
    );
    lenient.end().await;
}

#[tokio::test]
async fn what_the_provider_answers_to_a_code_is_told_by_a_word() {
    let given = Given::new().await;
    for (status, body, expected) in [
        (
            400,
            r#"{"error":"invalid_grant","error_description":"<script>"}"#,
            "refused",
        ),
        (401, r#"{"error":"invalid_client"}"#, "refused"),
        (200, r#"{"access_token":"a","token_type":"Bearer"}"#, "refused"),
        (200, "<html>", "refused"),
        (200, "", "refused"),
        (302, "", "refused"),
        (429, "", "provider_away"),
        (500, "oops", "provider_away"),
    ] {
        let (sealed, asked) = given.begin().await;
        given.fake.say("/token", status, body);
        let back = Back {
            sealed,
            ..back(&asked)
        };
        let told = given.oidc.finish(back, "web").await.map(|it| it.0);
        assert_eq!(word(told), expected, "{status} {body}");
    }
    let before = given.fake.asked("/token").len();
    for (error, expected) in [
        ("access_denied", "denied"),
        ("login_required", "refused"),
        ("<script>", "refused"),
        ("temporarily_unavailable", "provider_away"),
    ] {
        let (sealed, asked) = given.begin().await;
        let back = Back {
            sealed,
            error: error.into(),
            ..back(&asked)
        };
        let told = given.oidc.finish(back, "web").await.map(|it| it.0);
        assert_eq!(word(told), expected, "{error}");
    }
    assert_eq!(
        given.fake.asked("/token").len(),
        before,
        "no code is shown after an error"
    );
    given.end().await;
}

#[tokio::test]
async fn a_document_that_cannot_be_trusted_is_no_provider() {
    let (ground, fake) = (Ground::new().await, FakeProvider::start().await);
    fake.publish(&[&Signer::es256("k")]);
    let wire = Wire::new(&fake.issuer).unwrap();
    let check = async |change: &dyn Fn(&mut Value), expected: Option<&str>| {
        fake.describe(change);
        let told = Provider::read(&wire, &fake.issuer)
            .await
            .map_err(|error| error.to_string());
        match (told, expected) {
            (Ok(_), None) => {}
            (Err(told), Some(expected)) => assert!(told.contains(expected), "{expected}: {told}"),
            (told, expected) => panic!("{expected:?}: {told:?}"),
        }
    };
    check(&|_| (), None).await;
    check(
        &|it| it["issuer"] = json!("http://127.0.0.1"),
        Some("another issuer"),
    )
    .await;
    check(
        &|it| it["issuer"] = json!(format!("{}/", fake.issuer)),
        Some("another issuer"),
    )
    .await;
    for place in [
        "authorization_endpoint",
        "token_endpoint",
        "jwks_uri",
        "userinfo_endpoint",
    ] {
        for address in [
            "http://evil.example/x",
            "https://169.254.169.254/x",
            "https://user:pass@id.example/x",
            "file:///etc/passwd",
            "",
        ] {
            check(&|it| it[place] = json!(address), Some(place)).await;
        }
    }
    let plain = json!(["plain"]);
    check(
        &|it| it["code_challenge_methods_supported"] = plain.clone(),
        Some("PKCE"),
    )
    .await;
    check(
        &|it| it["response_types_supported"] = json!(["id_token"]),
        Some("code"),
    )
    .await;
    check(&|it| it["token_endpoint"] = json!(7), Some("cannot be read")).await;
    check(
        &|it| {
            let it = it.as_object_mut().unwrap();
            it.remove("code_challenge_methods_supported");
            it.remove("response_types_supported");
            it.remove("userinfo_endpoint");
        },
        None,
    )
    .await;
    for (status, body) in [(500, ""), (302, ""), (200, "{}"), (200, "<html>")] {
        fake.say("/.well-known/openid-configuration", status, body);
        assert!(
            Provider::read(&wire, &fake.issuer).await.is_err(),
            "{status} {body}"
        );
    }
    drop(ground);
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_told() {
    let (ground, fake) = (Ground::new().await, FakeProvider::start().await);
    let check = |change: fn(&mut OidcConfig), expected: &str| {
        let told = of(&ground, &fake, change).map(drop).unwrap_err().to_string();
        assert!(told.starts_with(expected), "{told}");
    };
    check(|it| it.issuer = "http://id.example".into(), "oidc.issuer: ");
    check(|it| it.issuer = "https://169.254.169.254".into(), "oidc.issuer: ");
    check(|it| it.client_id.clear(), "oidc.client_id: ");
    check(|it| it.role_claim.clear(), "oidc.role_claim: ");
    check(|it| it.roles = vec!["ops=root".into()], "oidc.roles: `ops=root`");
    check(|it| it.default_role = "root".into(), "oidc.default_role: ");
    check(|it| it.tenant = "mine".into(), "oidc.tenant: ");
    check(
        |it| it.client_secret_file = Some("/nowhere".into()),
        "oidc.client_secret_file: /nowhere",
    );
    let named = of(&ground, &fake, |it| {
        it.issuer = "https://id.example/realms/x".into()
    })
    .unwrap();
    assert_eq!(named.name(), "id.example");
}
