use serde_json::json;

use super::*;

fn read(given: Value) -> Result<Value, String> {
    let given = given.as_object().unwrap().clone();
    let stored = settings(given, Defaults::default());
    stored.map(Value::Object).map_err(|error| error.to_string())
}

#[test]
fn what_is_stored_says_everything_and_writes_are_asked_for_by_name() {
    let check = |given: Value, expected: Value| assert_eq!(read(given).unwrap(), expected);
    check(
        json!({"baseUrl": "https://memory.example/api/"}),
        json!({
            "baseUrl": "https://memory.example/api", "access": "read_only", "allowLoopback": false, "allowHttp": false,
        }),
    );
    check(
        json!({
            "base_url": "http://10.0.0.5:8080", "access": "read_write", "token_url": "http://10.0.0.6/token",
            "scope": "a b", "allow_http": true, "allow_private": ["10.0.0.0/8"],
        }),
        json!({
            "baseUrl": "http://10.0.0.5:8080", "access": "read_write", "tokenUrl": "http://10.0.0.6/token",
            "scope": "a b", "allowPrivate": ["10.0.0.0/8"], "allowLoopback": false, "allowHttp": true,
        }),
    );
}

#[test]
fn what_is_wrong_is_told_its_place() {
    let check = |given: Value, text: &str| {
        let error = read(given.clone()).expect_err("refused");
        assert!(error.starts_with(text), "{given}: {error}");
    };
    let with = |key: &str, value: Value| {
        let mut given = json!({"baseUrl": "https://memory.example"});
        given[key] = value;
        given
    };
    check(json!({}), "config.baseUrl: is needed");
    check(json!({"baseUrl": "ftp://x"}), "config.baseUrl");
    check(json!({"baseUrl": "https://x/?q=1"}), "config.baseUrl");
    check(json!({"baseUrl": "http://x"}), "config.baseUrl: is plain HTTP");
    check(
        with("access", json!("write")),
        "config.access: must be read_only or read_write",
    );
    check(with("access", json!(true)), "config.access");
    check(with("issuer", json!("http://x")), "config.issuer: is plain HTTP");
    check(
        with("scope", json!("a")),
        "config.scope: is asked for with tokens",
    );
    check(with("token", json!("a")), "config.token: is no setting");
    let mut both = with("issuer", json!("https://x"));
    both["tokenUrl"] = json!("https://x/token");
    check(both, "config.tokenUrl: and issuer both");
}
