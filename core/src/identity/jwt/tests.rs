use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_contract::registry::PROFILES;

use super::{
    signer::{Signer, unsigned},
    *,
};

/// 2026-01-01T00:00:00Z.
const NOW_S: i64 = 1_767_225_600;
const NOW_US: i64 = NOW_S * 1_000_000;
const ISSUER: &str = "https://issuer.example/";
const AUDIENCE: &str = "https://gate.example/mcp";

fn rules() -> Rules {
    Rules {
        issuer: ISSUER.into(),
        audience: AUDIENCE.into(),
        role_claim: "toolgate_role".into(),
        profile_claim: String::new(),
        default_role: None,
    }
}

fn claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "service-1", "exp": NOW_S + 300, "toolgate_role": "agent"})
}

/// The claims with one of them replaced, or taken away by `null`.
fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
        value => claims[name] = value,
    }
    claims
}

fn keys_of(signers: &[&Signer]) -> Keys {
    let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
    Keys::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

fn judged(rules: &Rules, keys: &Keys, text: &str) -> Result<Bearer, Refused> {
    rules.judge(&Token::parse(text)?, keys, NOW_US)
}

#[test]
fn each_of_three_algorithms_is_verified_as_another_library_signs_it() {
    // Made with PyJWT 2.15.1 and OpenSSL.
    let vectors: Value = serde_json::from_str(include_str!("tests/vectors.json")).unwrap();
    let keys = Keys::parse(vectors["keys"].to_string().as_bytes()).unwrap();
    assert_eq!(keys.count(), 3);
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let token = vectors["tokens"][algorithm].as_str().unwrap();
        let bearer = judged(&rules(), &keys, token).unwrap();
        assert_eq!(
            (&*bearer.name, bearer.role),
            ("jwt:service-1", Role::Agent),
            "{algorithm}"
        );
        for at in 0..token.len() {
            let mut bent = token.as_bytes().to_vec();
            bent[at] = if bent[at] == b'A' { b'B' } else { b'A' };
            let bent = String::from_utf8(bent).unwrap();
            assert!(judged(&rules(), &keys, &bent).is_err(), "{algorithm} at {at}");
        }
    }
}

#[test]
fn claims_are_held_against_each_rule() {
    let signer = Signer::eddsa("k");
    let keys = keys_of(&[&signer]);
    let check = |name: &str, value: Value, expected: Result<(), Refused>| {
        let token = signer.token(&with(name, value.clone()));
        assert_eq!(
            judged(&rules(), &keys, &token).map(drop),
            expected,
            "{name} = {value}"
        );
    };
    check("sub", json!("service-1"), Ok(()));
    for wrong in [
        json!(null),
        json!("https://issuer.example"),
        json!("HTTPS://issuer.example/"),
        json!([ISSUER]),
        json!(1),
    ] {
        check("iss", wrong, Err(Refused::Issuer));
    }
    check("aud", json!([AUDIENCE]), Ok(()));
    check("aud", json!(["other", AUDIENCE, 7]), Ok(()));
    for wrong in [
        json!(null),
        json!("https://gate.example/mcp/"),
        json!([]),
        json!(["other"]),
        json!({"a": AUDIENCE}),
        json!([[AUDIENCE]]),
    ] {
        check("aud", wrong, Err(Refused::Audience));
    }
    check("exp", json!(NOW_S - 59), Ok(()));
    check("exp", json!(NOW_S as f64 + 0.5), Ok(()));
    for wrong in [
        json!(null),
        json!(NOW_S - 60),
        json!(NOW_S - 3_600),
        json!(0),
        json!(-1),
        json!((NOW_S + 300).to_string()),
        json!(true),
    ] {
        check("exp", wrong, Err(Refused::Expired));
    }
    check("nbf", json!(NOW_S + 60), Ok(()));
    for wrong in [json!(NOW_S + 61), json!(1e300), json!("0"), json!([0])] {
        check("nbf", wrong, Err(Refused::NotYetValid));
    }
    check("sub", json!("system:serviceaccount:ci:über"), Ok(()));
    check("sub", json!("a".repeat(255)), Ok(()));
    for wrong in [
        json!(null),
        json!(""),
        json!(" a"),
        json!("a\nb"),
        json!("a\u{0}"),
        json!("a\u{202e}b"),
        json!("a\u{200b}"),
        json!("a".repeat(256)),
        json!(7),
    ] {
        check("sub", wrong, Err(Refused::Subject));
    }
    check("toolgate_role", json!(["offline_access", "engineer"]), Ok(()));
    check("toolgate_role", json!(["agent", "agent"]), Ok(()));
    for wrong in [
        json!(null),
        json!("root"),
        json!("Agent"),
        json!(""),
        json!([]),
        json!(["root"]),
        json!(["agent", "admin"]),
        json!({"agent": 1}),
        json!(1),
    ] {
        check("toolgate_role", wrong, Err(Refused::Role));
    }
}

#[test]
fn roles_and_profiles_are_found_where_the_settings_say() {
    let signer = Signer::es256("k");
    let keys = keys_of(&[&signer]);
    let judge =
        |rules: &Rules, name: &str, value: Value| judged(rules, &keys, &signer.token(&with(name, value)));

    let nested = Rules {
        role_claim: "/realm_access/roles".into(),
        ..rules()
    };
    let roles = json!({"roles": ["uma_authorization", "auditor"]});
    assert_eq!(judge(&nested, "realm_access", roles).unwrap().role, Role::Auditor);
    assert_eq!(judge(&nested, "roles", json!("auditor")), Err(Refused::Role));
    let named = Rules {
        role_claim: "https://x.example/role".into(),
        ..rules()
    };
    assert_eq!(
        judge(&named, "https://x.example/role", json!("admin"))
            .unwrap()
            .role,
        Role::Admin
    );

    // A default is for tokens that say nothing, not for those that say something else.
    let lenient = Rules {
        default_role: Some(Role::Agent),
        ..rules()
    };
    assert_eq!(
        judge(&lenient, "toolgate_role", json!(null)).unwrap().role,
        Role::Agent
    );
    assert_eq!(
        judge(&lenient, "toolgate_role", json!("root")),
        Err(Refused::Role)
    );

    let pinning = Rules {
        profile_claim: "profile".into(),
        ..rules()
    };
    let known = PROFILES.first().expect("a profile");
    assert_eq!(
        judge(&pinning, "profile", json!(known.name))
            .unwrap()
            .profile
            .as_deref(),
        Some(known.name)
    );
    assert_eq!(judge(&pinning, "profile", json!(null)).unwrap().profile, None);
    // Whether there is a profile of the name is the tenant's to say, and asked where the tenant is known.
    for wrong in [json!([known.name]), json!(1), json!({})] {
        assert_eq!(
            judge(&pinning, "profile", wrong.clone()),
            Err(Refused::Profile),
            "{wrong}"
        );
    }
    assert_eq!(
        judge(&rules(), "profile", json!("no-such-profile"))
            .unwrap()
            .profile,
        None
    );
}

#[test]
fn a_token_cannot_choose_how_or_by_what_it_is_verified() {
    let (rsa, p256) = (Signer::rs256("rsa"), Signer::es256("p256"));
    let keys = keys_of(&[&rsa, &p256]);
    let check = |text: &str, expected: Refused| {
        assert_eq!(judged(&rules(), &keys, text).unwrap_err(), expected, "{text}");
    };
    for alg in [
        "none", "None", "HS256", "HS512", "RS384", "RS512", "PS256", "ES384", "ES256K", "Ed25519", "rs256",
        "",
    ] {
        check(
            &rsa.token_with(&json!({"alg": alg, "kid": "rsa"}), &claims()),
            Refused::Algorithm,
        );
    }
    check(&unsigned("rsa", &claims()), Refused::Algorithm);
    check(&rsa.keyed_with_the_public_key(&claims()), Refused::Algorithm);
    // An algorithm that exists, and is not the key's.
    check(
        &p256.token_with(&json!({"alg": "ES256", "kid": "rsa"}), &claims()),
        Refused::Algorithm,
    );
    check(
        &rsa.token_with(&json!({"alg": "ES256", "kid": "p256"}), &claims()),
        Refused::Signature,
    );
    check(
        &p256.token_with(
            &json!({"alg": "ES256", "kid": "p256", "crit": ["exp"], "exp": 1}),
            &claims(),
        ),
        Refused::Malformed,
    );
    check(
        &p256.token_with(&json!({"alg": "ES256", "kid": "p256", "crit": null}), &claims()),
        Refused::Malformed,
    );
    for typ in ["dpop+jwt", "logout+jwt", "secevent+jwt", ""] {
        check(
            &p256.token_with(&json!({"alg": "ES256", "kid": "p256", "typ": typ}), &claims()),
            Refused::Malformed,
        );
    }
    // Keys that a token brings along or points to are not looked at.
    let own = Signer::es256("p256");
    let brought = json!({"alg": "ES256", "kid": "p256", "jwk": own.jwk(), "jku": "https://evil.example/jwks", "x5u": "file:///etc/passwd"});
    check(&own.token_with(&brought, &claims()), Refused::Signature);
    for kid in [
        "",
        "../rsa",
        "/etc/passwd",
        "file:///dev/null",
        "rsa'--",
        "RSA",
        "rsa ",
        "rsa\u{0}",
        &"k".repeat(257),
    ] {
        check(
            &rsa.token_with(&json!({"alg": "RS256", "kid": kid}), &claims()),
            Refused::KeyUnknown,
        );
    }
    check(
        &rsa.token_with(&json!({"alg": "RS256"}), &claims()),
        Refused::KeyUnknown,
    );
    check(
        &rsa.token_with(&json!({"alg": "RS256", "kid": null}), &claims()),
        Refused::KeyUnknown,
    );
    check(
        &rsa.token_with(&json!({"alg": "RS256", "kid": 7}), &claims()),
        Refused::Malformed,
    );
    check(
        &rsa.token_with(&json!({"kid": "rsa"}), &claims()),
        Refused::Malformed,
    );
}

#[test]
fn what_has_two_readings_is_no_token() {
    let signer = Signer::eddsa("k");
    let keys = keys_of(&[&signer]);
    let check = |text: &str, expected: Refused| {
        assert_eq!(judged(&rules(), &keys, text).unwrap_err(), expected, "{text}");
    };
    let header = r#"{"alg":"EdDSA","kid":"k"}"#;
    let twice = claims().to_string().replacen('{', r#"{"sub":"admin","#, 1);
    check(&signer.sign(header, &twice), Refused::Malformed);
    let nested = claims().to_string().replacen('{', r#"{"a":{"b":1,"b":2},"#, 1);
    check(&signer.sign(header, &nested), Refused::Malformed);
    check(
        &signer.sign(r#"{"alg":"EdDSA","kid":"x","kid":"k"}"#, &claims().to_string()),
        Refused::Malformed,
    );
    for payload in ["", "null", "[]", "\"a\"", "{", "{}x", &"[".repeat(2_000)] {
        check(&signer.sign(header, payload), Refused::Malformed);
    }
    let good = signer.token(&claims());
    assert!(judged(&rules(), &keys, &good).is_ok());
    for bad in [
        good.replace('.', ".."),
        format!("{good}="),
        format!("{good}."),
        format!(".{good}"),
        format!(" {good}"),
        format!("{good}\n"),
        good.replacen('.', " .", 1),
    ] {
        check(&bad, Refused::Malformed);
    }
    check(&"a".repeat(LONGEST_TOKEN + 1), Refused::TooLong);
    let long = signer.token(&with("filler", json!("x".repeat(LONGEST_TOKEN))));
    check(&long, Refused::TooLong);
}

#[test]
fn a_set_is_read_for_what_can_verify_and_never_becomes_empty() {
    let (ed, rsa, p256) = (Signer::eddsa("ed"), Signer::rs256("rsa"), Signer::es256("p256"));
    let check = |keys: Value, expected: Result<usize, KeysFault>| {
        let read = Keys::parse(json!({ "keys": keys }).to_string().as_bytes());
        assert_eq!(read.map(|keys| keys.count()), expected, "{keys}");
    };
    check(json!([ed.jwk(), rsa.jwk(), p256.jwk()]), Ok(3));
    let changed = |signer: &Signer, name: &str, value: Value| {
        let mut jwk = signer.jwk();
        jwk[name] = value;
        jwk
    };
    for useless in [
        changed(&ed, "use", json!("enc")),
        changed(&ed, "key_ops", json!(["sign"])),
        changed(&ed, "alg", json!("ES256")),
        changed(&ed, "d", json!("AAAA")),
        changed(&ed, "x", json!("AAAA")),
        changed(&ed, "crv", json!("X25519")),
        changed(&ed, "kid", json!("")),
        changed(&ed, "kid", json!(7)),
        changed(&ed, "kid", Value::Null),
        changed(&ed, "kty", json!("oct")),
        changed(&p256, "y", json!("AAAA")),
        changed(&p256, "crv", json!("P-384")),
        // 1024 bits.
        changed(&rsa, "n", json!("A".repeat(171))),
        changed(&rsa, "alg", json!("PS256")),
        json!("a key"),
        json!(null),
    ] {
        check(json!([useless, rsa.jwk()]), Ok(1));
        check(json!([useless]), Err(KeysFault::Empty));
    }
    check(json!([ed.jwk(), changed(&p256, "kid", json!("ed"))]), Ok(1));
    check(json!(vec![ed.jwk(); 101]), Err(KeysFault::TooLarge));
    for unreadable in ["", "[]", "{}", r#"{"keys":{}}"#, "<html>"] {
        assert_eq!(
            Keys::parse(unreadable.as_bytes()).unwrap_err(),
            KeysFault::Unreadable,
            "{unreadable}"
        );
    }
    assert_eq!(
        Keys::parse(&vec![b' '; LONGEST_KEYS + 1]).unwrap_err(),
        KeysFault::TooLarge
    );
}

#[test]
fn a_modulus_with_a_zero_in_front_is_the_same_key() {
    let signer = Signer::rs256("rsa");
    let mut jwk = signer.jwk();
    let n = data_encoding::BASE64URL_NOPAD
        .decode(jwk["n"].as_str().unwrap().as_bytes())
        .unwrap();
    jwk["n"] = json!(data_encoding::BASE64URL_NOPAD.encode(&[&[0], &n[..]].concat()));
    let keys = Keys::parse(json!({"keys": [jwk]}).to_string().as_bytes()).unwrap();
    assert!(judged(&rules(), &keys, &signer.token(&claims())).is_ok());
}

proptest! {
    #[test]
    fn no_text_is_taken_or_brings_the_reader_down(text in ".{0,300}", parts in proptest::collection::vec("[A-Za-z0-9_=+/-]{0,60}", 0..5)) {
        let keys = keys_of(&[&Signer::eddsa("k")]);
        prop_assert!(judged(&rules(), &keys, &text).is_err());
        prop_assert!(judged(&rules(), &keys, &parts.join(".")).is_err());
    }

    #[test]
    fn whatever_a_signed_token_says_it_is_judged(header in any_json(), payload in any_json()) {
        let signer = Signer::eddsa("k");
        let keys = keys_of(&[&signer]);
        let _ = judged(&rules(), &keys, &signer.sign(&header, &claims().to_string()));
        let _ = judged(&rules(), &keys, &signer.sign(r#"{"alg":"EdDSA","kid":"k"}"#, &payload));
    }

    #[test]
    fn no_bytes_bring_the_reader_of_sets_down(bytes in proptest::collection::vec(any::<u8>(), 0..400), text in any_json()) {
        let _ = Keys::parse(&bytes);
        let _ = Keys::parse(text.as_bytes());
    }
}

/// JSON objects with the names that matter and values of any kind.
fn any_json() -> impl Strategy<Value = String> {
    let names = prop_oneof![
        Just("alg"),
        Just("kid"),
        Just("typ"),
        Just("iss"),
        Just("aud"),
        Just("sub"),
        Just("exp"),
        Just("nbf"),
        Just("keys"),
        Just("kty"),
        Just("toolgate_role")
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1e400".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:e}")),
        ".{0,12}".prop_map(|text| json!(text).to_string()),
        Just(format!("{ISSUER:?}")),
        Just(format!("{AUDIENCE:?}")),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        proptest::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(",")))
    });
    proptest::collection::vec((names, value), 0..8).prop_map(|members| {
        let members: Vec<String> = members
            .into_iter()
            .map(|(name, value)| format!("{name:?}:{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    })
}
