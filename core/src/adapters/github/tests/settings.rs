//! Settings and credentials on their way in, and what is refused before anybody is asked.

use super::*;

fn stored(given: Value) -> Result<Value, Error> {
    let given = given.as_object().unwrap().clone();
    super::super::settings(given, Defaults::default()).map(Value::Object)
}

#[test]
fn the_cloud_needs_no_settings_and_a_server_keeps_its_path() {
    let base = |given: Value| stored(given).unwrap()["baseUrl"].clone();
    assert_eq!(base(json!({})), "https://api.github.com");
    assert_eq!(
        base(json!({"base_url": "https://api.github.com/"})),
        "https://api.github.com"
    );
    assert_eq!(
        base(json!({"baseUrl": "https://acme.org/api/v3/"})),
        "https://acme.org/api/v3"
    );
    assert_eq!(
        base(json!({"baseUrl": "https://api.acme.ghe.com"})),
        "https://api.acme.ghe.com"
    );
}

#[test]
fn wrong_settings_are_told_their_place() {
    let check = |given: Value, place: &str| match stored(given.clone()) {
        Err(Error::Invalid { place: told, .. }) => assert_eq!(told, place, "{given}"),
        other => panic!("{given}: {other:?}"),
    };
    check(json!({"baseUrl": "https://github.com/"}), "config.baseUrl");
    check(json!({"baseUrl": "ftp://acme.org"}), "config.baseUrl");
    check(json!({"baseUrl": "http://acme.org/api/v3"}), "config.baseUrl");
    check(json!({"baseUrl": "https://user:pw@acme.org"}), "config.baseUrl");
    check(json!({"baseURL": "https://acme.org"}), "config.baseURL");
    check(json!({"token": "x"}), "config.token");
}

#[tokio::test]
async fn a_kept_token_of_another_kind_opens_nothing() {
    let open = |token: &str| {
        let credential = SecretValue::new(token.as_bytes()).unwrap();
        super::super::open(&json!({}), &Value::Null, &credential)
    };
    assert_eq!(
        open("ghp_classic").unwrap_err(),
        UpstreamError::CredentialRejected
    );
    let adapter = open(TOKEN).unwrap();
    assert!(!format!("{adapter:?}").contains("nobodyEver"), "{adapter:?}");
}
