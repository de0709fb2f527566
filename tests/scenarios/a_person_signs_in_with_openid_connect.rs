//! A person signs in with OpenID Connect at a certified provider, and is somebody by what it claims; whatever is changed on
//! the way ends on the sign-in page with a word and without a session.

use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};
use toolgate_core::config::OidcConfig;
use toolgate_test_support::{Ground, OidcClient, OidcProvider, Person, Role, World, on_each_store};

const TEST: &str = "a_person_signs_in_with_openid_connect";
const KEPT: &str = "__Host-toolgate-sign-in";
const SESSION: &str = "__Host-toolgate";

on_each_store!(a_person_signs_in_with_openid_connect);

async fn a_person_signs_in_with_openid_connect(ground: Ground) {
    signs_in(ground, OidcClient::Public).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_a_secret_asks_for_what_the_token_does_not_say() {
    signs_in(Ground::Sqlite, OidcClient::Confidential).await;
}

async fn signs_in(ground: Ground, client: OidcClient) {
    let Some(provider) = OidcProvider::here(TEST, client).await else {
        return;
    };
    let world = ground.world().oidc(provider.settings()).start().await;
    let gate = Gate(world.admin().url().to_owned());
    let options = world
        .admin()
        .with_token("")
        .get("/api/sign-in/options")
        .await
        .json();
    assert_eq!(options["oidc"]["name"], "Example ID");
    assert_eq!(options["oidc"]["url"], "/sign-in/oidc");
    assert_eq!(options["link"], true);

    let mut ada = Person::default();
    let begun = gate.begin(&mut ada, "/audit?result=refused").await;
    let asked = Url::parse(&begun).unwrap();
    assert!(begun.starts_with(provider.issuer()), "{begun}");
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "gate"),
        ("scope", "openid groups"),
        ("code_challenge_method", "S256"),
        ("redirect_uri", &gate.at("/sign-in/oidc/callback")),
    ] {
        assert_eq!(parameter(&asked, name), expected, "{name}");
    }
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(parameter(&asked, name).len(), 43, "{name}");
    }
    let kept = ada.cookie(&gate.0, KEPT).unwrap();

    let callback = ada.sign_in_at(&begun, "ada").await;
    let ended = ada.open(&callback).await;
    assert_eq!(
        (ended.status, &*ended.location),
        (303, "/audit?result=refused"),
        "{ended:?}"
    );
    for cookie in &ended.set_cookies {
        for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
            assert!(cookie.split("; ").any(|it| it == part), "{part}: {cookie}");
        }
    }
    assert_eq!(ada.cookie(&gate.0, KEPT), None, "it is for one use");
    let session = ada.cookie(&gate.0, SESSION).unwrap();
    let myself = ada.open(&gate.at("/api/self")).await;
    let myself: Value = serde_json::from_str(&myself.text).unwrap();
    assert_eq!(
        (&myself["principal"], &myself["role"]),
        (&"oidc:ada".into(), &"admin".into())
    );
    // A link would go on after the provider's word has ended.
    let prolonged = world
        .admin()
        .with_token(&session)
        .post("/api/sign-in/code", json!({}))
        .await;
    assert_eq!(prolonged.status, 403, "{}", prolonged.text);
    let same = world.admin().with_token(&session).get("/api/self").await.json();
    assert_eq!(same, myself);

    let rows = world.audit_of("session.signed_in").await;
    let row = rows.last().unwrap();
    assert_eq!(
        (&row["principal"], &row["role"]),
        (&"oidc:ada".into(), &"admin".into()),
        "{row}"
    );
    let detail = row["detail"].to_string();
    assert!(detail.contains("oidc") && !detail.contains(&session), "{detail}");

    // A token of the gateway's own cannot take the name.
    let made = world.admin().make_token("oidc:ada", Role::Engineer).await;
    assert_eq!(made.unwrap_err().status, 400);

    // A second time, with what this browser should have forgotten: the provider takes a code once.
    ada.keep(&gate.0, KEPT, &kept);
    assert_eq!(gate.end(&mut ada, &callback).await, "refused");
    assert_eq!(gate.end(&mut ada, &callback).await, "state_lost");
    assert_eq!(world.audit_of("session.signed_in").await.len(), rows.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_changed_on_the_way_lets_nobody_in() {
    let test = "whatever_is_changed_on_the_way_lets_nobody_in";
    let Some(mut provider) = OidcProvider::here(test, OidcClient::Public).await else {
        return;
    };
    // Ten tries a minute may fail, and these are more.
    for part in 0..2 {
        let world = World::new().oidc(provider.settings()).start().await;
        let gate = Gate(world.admin().url().to_owned());
        let mut ada = Person::default();
        let check = async |ada: &mut Person, what: &str, told: &str, expected: &str| {
            assert_eq!(told, expected, "{what}");
            assert_eq!(ada.cookie(&gate.0, SESSION), None, "{what}");
            assert_eq!(ada.cookie(&gate.0, KEPT), None, "{what}: it is for one use");
        };
        if part == 0 {
            // What the provider is asked for: another nonce, another verifier's challenge.
            for name in ["nonce", "code_challenge"] {
                let begun = gate.begin(&mut ada, "").await;
                let changed = with(&begun, name, Some("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649"));
                let callback = ada.sign_in_at(&changed, "ada").await;
                let told = gate.end(&mut ada, &callback).await;
                check(&mut ada, name, &told, "refused").await;
            }
            // What it answers.
            for (name, value, expected) in [
                (
                    "state",
                    Some("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649"),
                    "state_lost",
                ),
                ("state", None, "state_lost"),
                ("iss", Some("https://evil.example"), "refused"),
                ("iss", None, "refused"),
                ("code", Some("another"), "refused"),
                ("code", None, "refused"),
            ] {
                let begun = gate.begin(&mut ada, "").await;
                let callback = ada.sign_in_at(&begun, "ada").await;
                let told = gate.end(&mut ada, &with(&callback, name, value)).await;
                check(&mut ada, &format!("{name} {value:?}"), &told, expected).await;
            }
            continue;
        }
        // Twice the same parameter: two readers would each see another one.
        let begun = gate.begin(&mut ada, "").await;
        let callback = ada.sign_in_at(&begun, "ada").await;
        let told = gate.end(&mut ada, &format!("{callback}&state=x")).await;
        check(&mut ada, "state twice", &told, "state_lost").await;

        // Somebody else's answer: an attacker who has signed in lets another browser end it.
        let begun = gate.begin(&mut ada, "").await;
        let callback = ada.sign_in_at(&begun, "ada").await;
        let mut victim = Person::default();
        let told = gate.end(&mut victim, &callback).await;
        check(&mut victim, "no cookie", &told, "state_lost").await;
        gate.begin(&mut victim, "").await;
        let told = gate.end(&mut victim, &callback).await;
        check(&mut victim, "another browser's", &told, "state_lost").await;
        let mut kept = ada.cookie(&gate.0, KEPT).unwrap();
        let last = if kept.ends_with('A') { 'B' } else { 'A' };
        kept.pop();
        ada.keep(&gate.0, KEPT, &format!("{kept}{last}"));
        let told = gate.end(&mut ada, &callback).await;
        check(&mut ada, "a changed cookie", &told, "state_lost").await;

        let mut shy = Person::default();
        let begun = gate.begin(&mut shy, "").await;
        let callback = shy.say_no_at(&begun).await;
        let told = gate.end(&mut shy, &callback).await;
        check(&mut shy, "who says no", &told, "denied").await;

        for nobody in ["eve", "bob"] {
            let mut person = Person::default();
            let begun = gate.begin(&mut person, "").await;
            let callback = person.sign_in_at(&begun, nobody).await;
            let told = gate.end(&mut person, &callback).await;
            check(&mut person, nobody, &told, "no_role").await;
        }

        // A provider that went away: who is at it already does not get in, and nothing else changes.
        let begun = gate.begin(&mut ada, "").await;
        let callback = ada.sign_in_at(&begun, "ada").await;
        provider.go_down().await;
        let told = gate.end(&mut ada, &callback).await;
        check(&mut ada, "a provider that went away", &told, "provider_away").await;
        assert_eq!(world.admin().get("/api/self").await.status, 200);
        assert_eq!(world.admin().get("/readyz").await.status, 200);
        assert!(world.audit_of("session.signed_in").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_ends_at_a_path_of_the_gateway_whatever_was_asked_for() {
    let test = "a_sign_in_ends_at_a_path_of_the_gateway_whatever_was_asked_for";
    let Some(provider) = OidcProvider::here(test, OidcClient::Public).await else {
        return;
    };
    let world = World::new().oidc(provider.settings()).start().await;
    let gate = Gate(world.admin().url().to_owned());
    let mut ada = Person::default();
    for (next, expected) in [
        ("/tools/proxmox.list_vms?a=b", "/tools/proxmox.list_vms?a=b"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/\r\nset-cookie: a=b", "/"),
        ("/%2e%2e//evil.example", "/"),
    ] {
        let begun = gate.begin(&mut ada, next).await;
        let callback = ada.sign_in_at(&begun, "ada").await;
        let ended = ada.open(&callback).await;
        assert_eq!((ended.status, &*ended.location), (303, expected), "{next:?}");
        assert_eq!(ended.set_cookies.len(), 2, "{ended:?}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_told_and_harms_nothing() {
    let nowhere = OidcConfig {
        issuer: "http://127.0.0.1:9".into(),
        client_id: "gate".into(),
        ..OidcConfig::default()
    };
    let world = World::new().host("web-1").oidc(nowhere).start().await;
    let gate = Gate(world.admin().url().to_owned());
    let told = Person::default().open(&gate.at("/sign-in/oidc")).await;
    assert_eq!(
        (told.status, &*told.location),
        (303, "/sign-in?error=provider_away")
    );
    let options = world.admin().get("/api/sign-in/options").await.json();
    assert_eq!(options["oidc"]["name"], "127.0.0.1");
    let command = serde_json::json!({"command": "uptime"});
    let told = world.admin().call("ssh.run_whitelisted_command", command).await;
    assert!(told.is_ok(), "{told:?}");
}

#[tokio::test]
async fn a_gateway_without_a_provider_offers_none() {
    let world = World::new().start().await;
    let gate = Gate(world.admin().url().to_owned());
    let options = world.admin().get("/api/sign-in/options").await.json();
    assert_eq!(options, serde_json::json!({"link": true}));
    for path in ["/sign-in/oidc", "/sign-in/oidc/callback?code=a&state=b"] {
        assert_eq!(Person::default().open(&gate.at(path)).await.status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_takes_over_ten_minutes_begins_again() {
    let test = "who_takes_over_ten_minutes_begins_again";
    let Some(provider) = OidcProvider::here(test, OidcClient::Public).await else {
        return;
    };
    let world = World::new()
        .clock_by_hand()
        .oidc(provider.settings())
        .start()
        .await;
    let gate = Gate(world.admin().url().to_owned());
    let mut ada = Person::default();
    let begun = gate.begin(&mut ada, "").await;
    let callback = ada.sign_in_at(&begun, "ada").await;
    world.clock().advance(Duration::from_secs(600));
    assert_eq!(gate.end(&mut ada, &callback).await, "state_lost");
}

/// The gateway, as a browser has it.
struct Gate(String);

impl Gate {
    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Where it sends somebody who wants to end at `next`.
    async fn begin(&self, person: &mut Person, next: &str) -> String {
        let mut url = Url::parse(&self.at("/sign-in/oidc")).unwrap();
        url.query_pairs_mut().append_pair("next", next);
        let begun = person.open(url.as_str()).await;
        assert_eq!(begun.status, 302, "{begun:?}");
        begun.location
    }

    /// The word on the sign-in page.
    async fn end(&self, person: &mut Person, callback: &str) -> String {
        let ended = person.open(callback).await;
        let word = ended.location.strip_prefix("/sign-in?error=");
        let word = word.unwrap_or_else(|| panic!("{ended:?}"));
        assert_eq!(ended.status, 303);
        assert!(
            ended
                .set_cookies
                .iter()
                .all(|it| !it.starts_with("__Host-toolgate=")),
            "{ended:?}"
        );
        word.to_owned()
    }
}

fn parameter(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(found, _)| found == name);
    found.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// The URL with another value of a parameter, or without it.
fn with(url: &str, name: &str, value: Option<&str>) -> String {
    let mut changed = Url::parse(url).unwrap();
    let pairs: Vec<(String, String)> = changed.query_pairs().into_owned().collect();
    assert!(pairs.iter().any(|(found, _)| found == name), "{name} in {url}");
    let mut query = changed.query_pairs_mut();
    query.clear();
    for (found, former) in &pairs {
        match (found == name, value) {
            (true, None) => {}
            (true, Some(value)) => drop(query.append_pair(found, value)),
            (false, _) => drop(query.append_pair(found, former)),
        }
    }
    drop(query);
    changed.into()
}
