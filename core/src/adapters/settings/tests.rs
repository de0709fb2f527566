use serde_json::{Map, Value, json};

use super::*;
use crate::{error::Error, upstream::reader::Base};

fn read(given: &Value, local: bool) -> Result<Value, Error> {
    let given: Map<String, Value> = given.as_object().unwrap().clone();
    let mut reading = Reading::new(given, &["baseUrl", "port"]);
    reading.text("baseUrl", 40)?;
    reading.port("port")?;
    reading.trust()?;
    reading.allow(Defaults { local })?;
    reading.end().map(Value::Object)
}

#[track_caller]
fn stored(given: Value, expected: Value) {
    let told = given.to_string();
    match read(&given, false) {
        Ok(found) => assert_eq!(found, expected, "{told}"),
        Err(error) => panic!("{told}: {error}"),
    }
}

#[track_caller]
fn refused(given: Value, text: &str) {
    let error = read(&given, false).unwrap_err().to_string();
    assert!(error.contains(text), "{given}: {error}");
}

const PRINT: &str =
    "AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99";

#[test]
fn both_spellings_are_read_and_one_is_stored() {
    let expected = json!({
        "baseUrl": "https://git.example", "port": 8006, "fingerprints": [PRINT], "allowPrivate": ["10.0.0.5/32", "fd00::/8"],
        "allowLoopback": true, "allowHttp": false,
    });
    let bare = PRINT.replace(':', "").to_lowercase();
    stored(
        json!({"baseUrl": " https://git.example ", "port": 8006, "fingerprints": [bare], "allowPrivate": ["10.0.0.5", "fd00::/8", "10.0.0.5/32"], "allowLoopback": true}),
        expected.clone(),
    );
    stored(
        json!({"base_url": "https://git.example", "port": 8006, "fingerprints": [PRINT, PRINT], "allow_private": ["10.0.0.5/32", "fd00::/8"], "allow_loopback": true, "allow_http": false}),
        expected.clone(),
    );
    stored(expected.clone(), expected);
    stored(
        json!({"baseUrl": null, "fingerprints": [], "allowPrivate": []}),
        json!({"allowLoopback": false, "allowHttp": false}),
    );
}

#[test]
fn defaults_are_stored_so_that_later_ones_change_nothing() {
    let stored = |given: Value, local: bool| read(&given, local).unwrap();
    assert_eq!(
        stored(json!({}), true),
        json!({"allowLoopback": true, "allowHttp": true})
    );
    assert_eq!(
        stored(json!({"allowHttp": false}), true),
        json!({"allowLoopback": true, "allowHttp": false})
    );
    let base = || Base::parse("http://git.example").unwrap();
    let found = destination(base(), &stored(json!({"allowPrivate": ["10.0.0.5"]}), true)).unwrap();
    assert!(found.allow.http && found.allow.loopback && found.allow.private.len() == 1);
    let nothing = destination(base(), &json!({})).unwrap();
    assert!(!nothing.allow.http && !nothing.allow.loopback);
    let more = json!({"baseUrl": "https://git.example", "fingerprints": [PRINT], "else": 1});
    let trust = destination(base(), &more).unwrap().trust;
    assert_eq!(trust.fingerprints[0][..2], [0xaa, 0xbb]);
    assert!(destination(base(), &json!({"fingerprints": ["x"]})).is_err());
}

#[test]
fn what_is_wrong_is_told_at_its_place() {
    refused(
        json!({"baseurl": "x"}),
        "config.baseurl: is no setting of such a target, did you mean baseUrl?",
    );
    refused(
        json!({"allow_privat": []}),
        "config.allow_privat: is no setting of such a target, did you mean allowPrivate?",
    );
    refused(
        json!({"zzz\u{7}": 1}),
        "config.zzz\\u{7}: is no setting of such a target; there are baseUrl, port, caCertificate",
    );
    refused(
        json!({"baseUrl": "x", "base_url": "x"}),
        "config.base_url: stands there as baseUrl as well",
    );
    refused(json!({"baseUrl": 1}), "config.baseUrl: must be a string");
    refused(
        json!({"baseUrl": ""}),
        "config.baseUrl: must have 1 to 40 characters",
    );
    refused(
        json!({"base_url": "x".repeat(41)}),
        "config.base_url: must have 1 to 40 characters",
    );
    refused(json!({"baseUrl": "a\nb"}), "config.baseUrl: must be one line");
    for port in [json!(0), json!(65_536), json!(-1), json!(1.5), json!("8006")] {
        refused(json!({"port": port}), "config.port: must be a whole number");
    }
    refused(
        json!({"allowHttp": "yes"}),
        "config.allowHttp: must be true or false",
    );
    refused(
        json!({"allowPrivate": "10.0.0.5"}),
        "config.allowPrivate: must be a list",
    );
    refused(
        json!({"allowPrivate": [1]}),
        "config.allowPrivate: must be a list",
    );
    refused(
        json!({"allowPrivate": ["x"]}),
        "config.allowPrivate: must be a network",
    );
    refused(json!({"allowPrivate": ["10.0.0.5/8"]}), "write 10.0.0.0/8");
    for wide in ["0.0.0.0/0", "127.0.0.0/8", "169.254.0.0/16", "1.1.1.1", "::/0"] {
        refused(json!({"allowPrivate": [wide]}), "not within a private network");
    }
    refused(json!({"allowPrivate": vec!["10.0.0.5"; 65]}), "at most 64");
    refused(
        json!({"fingerprints": ["AA"]}),
        "config.fingerprints: must be the SHA-256",
    );
    refused(
        json!({"fingerprints": [null]}),
        "config.fingerprints: must be a list",
    );
    refused(
        json!({"caCertificate": "x"}),
        "config.caCertificate: holds no certificate",
    );
    refused(
        json!({"ca_certificate": "-----BEGIN PRIVATE KEY-----"}),
        "config.ca_certificate: holds a private key",
    );
}

#[test]
fn an_authority_stands_alone() {
    let made = rcgen::generate_simple_self_signed(["git.example".to_owned()]).unwrap();
    let pem = made.cert.pem();
    stored(
        json!({"ca_certificate": pem}),
        json!({"caCertificate": pem.trim(), "allowLoopback": false, "allowHttp": false}),
    );
    refused(
        json!({"caCertificate": pem, "fingerprints": [PRINT]}),
        "config.fingerprints: accept their certificates alone",
    );
}
