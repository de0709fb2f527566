use proptest::prelude::*;
use serde_json::json;

use super::*;

const UUID: &str = "5f0a4c1e-9d11-4000-8000-0123456789ab";

fn given(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => panic!("an object"),
    }
}

#[test]
fn an_id_is_split_from_the_right() {
    let check = |id: &str, expected: Option<(&str, &str)>| {
        let parsed = TokenId::parse(id);
        let parts = parsed.as_ref().map(|id| (id.owner.as_str(), id.name.as_str()));
        assert_eq!(parts, expected, "{id}");
        assert!(parsed.is_none_or(|parsed| parsed.whole() == id));
    };
    check("root@pam!mon", Some(("root@pam", "mon")));
    check(
        "j.doe@corp.example@ldap!mon",
        Some(("j.doe@corp.example@ldap", "mon")),
    );
    check("a!b@pve!t1.x_y-z", Some(("a!b@pve", "t1.x_y-z")));
    check("a=b@pve!tok", Some(("a=b@pve", "tok")));
    check("zoë@pve!tok", Some(("zoë@pve", "tok")));
    for none in [
        "",
        "!",
        "@",
        "@!",
        "root",
        "root@pam",
        "root!tok",
        "@pve!tok",
        "root@pam!t",
        "root@p!tok",
        "root@pam!1tok",
        "root@1am!tok",
        "ro ot@pam!tok",
        "ro:ot@pam!tok",
        "ro/ot@pam!tok",
        "root@pam!tok=secret",
        "root@pam!",
    ] {
        check(none, None);
    }
}

#[test]
fn a_credential_is_kept_as_one_and_comes_apart_again() {
    for keys in [("tokenId", "tokenSecret"), ("token_id", "token_secret")] {
        let kept = credential(&given(json!({keys.0: " a=b@pve!tok ", keys.1: UUID}))).unwrap();
        assert_eq!(kept.reveal(), format!("a=b@pve!tok={UUID}").as_bytes());
        assert_eq!(TokenId::of(&kept).unwrap().whole(), "a=b@pve!tok");
    }
}

#[test]
fn what_is_wrong_with_a_credential_is_told_at_its_place_and_without_it() {
    let check = |value: Value, expected: &str| {
        let error = credential(&given(value)).unwrap_err().to_string();
        assert!(error.starts_with(expected) && !error.contains(UUID), "{error}");
    };
    let id = "audit@pve!toolgate";
    check(json!({}), "credential.tokenId: is needed");
    check(json!({"tokenId": id}), "credential.tokenSecret: is needed");
    check(
        json!({"tokenId": id, "tokenSecret": 7}),
        "credential.tokenSecret: is needed",
    );
    check(
        json!({"tokenId": "root@pam", "tokenSecret": UUID}),
        "credential.tokenId: is written USER@REALM!TOKENID",
    );
    check(
        json!({"tokenId": format!("{id}={UUID}"), "tokenSecret": UUID}),
        "credential.tokenId: is written",
    );
    for secret in [
        format!("{id}={UUID}"),
        format!("{UUID};x"),
        format!("{UUID}\r\nx: y"),
        "x".repeat(300),
    ] {
        check(
            json!({"tokenId": id, "tokenSecret": secret}),
            "credential.tokenSecret: is no secret",
        );
    }
    check(
        json!({"tokenId": id, "token_id": id, "tokenSecret": UUID}),
        "credential.tokenId: is given in two spellings",
    );
    check(
        json!({"tokenId": id, "tokenSecret": UUID, "password": "x"}),
        "credential.password: is no part",
    );
}

#[test]
fn the_header_holds_what_the_server_takes_apart() {
    let check = |id: &str, expected: &str| {
        let kept = credential(&given(json!({"tokenId": id, "tokenSecret": UUID}))).unwrap();
        let headers = headers(&kept).unwrap();
        let value = &headers[header::AUTHORIZATION];
        assert!(value.is_sensitive());
        assert_eq!(value.to_str().unwrap(), format!("PVEAPIToken={expected}={UUID}"));
    };
    check("audit@pve!toolgate", "audit@pve!toolgate");
    check("j.doe@corp.example@ldap!mon", "j.doe@corp.example@ldap!mon");
    check("100%;x@pve!mon", "100%25%3Bx@pve!mon");
    check("zoë@pve!mon", "zo%C3%AB@pve!mon");
}

proptest! {
    #[test]
    fn whatever_is_accepted_makes_one_header(user in "\\PC{1,20}", secret in "\\PC{1,20}") {
        let value = json!({"tokenId": format!("{user}@pve!tok"), "tokenSecret": secret});
        if let Ok(kept) = credential(&given(value)) {
            let headers = headers(&kept).unwrap();
            let text = headers[header::AUTHORIZATION].to_str().unwrap();
            prop_assert_eq!(text.rsplit('=').next().unwrap(), secret.trim());
            prop_assert!(!text.contains(';'));
        }
    }
}
