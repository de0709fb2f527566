use serde_json::json;

use super::*;

fn read(given: Value) -> Result<Map<String, Value>, Error> {
    let Value::Object(given) = given else {
        panic!("an object")
    };
    settings(given, Defaults::default())
}

#[test]
fn a_host_is_a_name_or_an_address_with_or_without_brackets() {
    let check = |host: &str, port: Value, expected: &str| {
        let stored = Value::Object(read(json!({"host": host, "port": port})).unwrap());
        assert_eq!(super::stored(&stored).unwrap().base.as_str(), expected, "{host}");
        // What is stored reads as itself.
        let again = read(stored.clone()).unwrap();
        assert_eq!(Value::Object(again), stored);
    };
    check("pve.example", Value::Null, "https://pve.example:8006/api2/json");
    check("PVE.Example.", Value::Null, "https://pve.example:8006/api2/json");
    check("10.0.0.5", json!(443), "https://10.0.0.5/api2/json");
    check("fd00::5", Value::Null, "https://[fd00::5]:8006/api2/json");
    check("[fd00::5]", json!(8443), "https://[fd00::5]:8443/api2/json");
    check(
        "::ffff:10.0.0.5",
        Value::Null,
        "https://[::ffff:a00:5]:8006/api2/json",
    );
}

#[test]
fn a_host_that_is_more_than_a_host_is_refused_at_its_place() {
    for host in [
        "https://pve.example",
        "pve.example:8006",
        "pve.example/api2/json",
        "root@pve.example",
        "[fd00::5]:8006",
        "fd00::5%eth0",
        "pve example",
        "a?b",
        "",
    ] {
        let error = read(json!({"host": host})).unwrap_err();
        assert!(
            matches!(&error, Error::Invalid { place, .. } if place == "config.host"),
            "{host}: {error}"
        );
    }
    let error = read(json!({})).unwrap_err().to_string();
    assert!(error.starts_with("config.host: is needed"), "{error}");
}

#[test]
fn settings_are_closed_and_say_everything() {
    let stored =
        read(json!({"host": "pve.example", "allow_private": ["10.0.0.0/24"], "allowLoopback": true}))
            .unwrap();
    assert_eq!(
        Value::Object(stored),
        json!({"host": "pve.example", "port": 8006, "allowPrivate": ["10.0.0.0/24"], "allowLoopback": true, "allowHttp": false})
    );
    let error = read(json!({"host": "pve.example", "fingerprint": "x"}))
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean fingerprints?"), "{error}");
    let error = read(json!({"host": "pve.example", "port": 0}))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("config.port:"), "{error}");
}
