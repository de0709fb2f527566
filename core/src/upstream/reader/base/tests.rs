use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: Option<&str>) {
    let parsed = Base::parse(text);
    assert_eq!(
        parsed.as_ref().ok().map(Base::as_str),
        expected,
        "{text}: {parsed:?}"
    );
}

#[test]
fn a_base_has_one_spelling() {
    check("https://git.example", Some("https://git.example"));
    check("HTTPS://Git.Example/", Some("https://git.example"));
    check("https://git.example:443", Some("https://git.example"));
    check("http://git.example:80/x", Some("http://git.example/x"));
    check("https://git.example:8443/", Some("https://git.example:8443"));
    check("https://acme.org/api/v3/", Some("https://acme.org/api/v3"));
    check(
        "https://git.example/forge/api/v1///",
        Some("https://git.example/forge/api/v1"),
    );
    check("https://git.example./x", Some("https://git.example/x"));
    check("https://größe.example", Some("https://xn--gre-6ka8i.example"));
    check("https://[fd00::0001]:8006", Some("https://[fd00::1]:8006"));
}

#[test]
fn addresses_in_disguise_come_out_as_the_address_they_mean() {
    for text in [
        "http://127.1",
        "http://2130706433",
        "http://0x7f000001",
        "http://0x7f.1",
        "http://0177.0.0.1",
        "http://127.0.0.1.",
        "http://①②⑦.⓪.⓪.①",
        "http://127。0。0。1",
        "http://%31%32%37.0.0.1",
    ] {
        check(text, Some("http://127.0.0.1"));
    }
    check("http://[::ffff:127.0.0.1]", Some("http://[::ffff:7f00:1]"));
    check("http://0", Some("http://0.0.0.0"));
    check("http://localhost.", Some("http://localhost"));
}

#[test]
fn what_is_no_base_is_refused() {
    for bad in [
        "",
        "git.example",
        "https://git.example/a/../b",
        "https://git.example/./b",
        "https://git.example/%2e%2E/",
        "https://git.example/a/.%2e",
        "//git.example",
        "ftp://git.example",
        "file:///etc/passwd",
        "https:git.example",
        "https:/git.example",
        "https://",
        "https:///x",
        "https://user@git.example",
        "https://user:pass@git.example",
        "https://@git.example",
        "https://git.example@169.254.169.254",
        "https://git.example?x=1",
        "https://git.example/?",
        "https://git.example/#x",
        "https://git.example#",
        "https://git.example /x",
        "https://git.exa\tmple",
        "https://git.example/\r\nx",
        "https:\\\\git.example",
        "https://git.example\\@evil.example",
        "https://git.example:0",
        "https://git.example:65536",
        "https://git.example:x",
        "https://git..example",
        "https://.",
        "https://git.example/a//b",
        "https://git.example/a%2fb",
        "https://git.example/%2e%2e%2fx",
        "https://git.example/größe",
        "https://256.1.1.1",
        "https://[fe80::1%25eth0]",
        "https://[::1",
        "https://metadata.google.internal",
        "https://Metadata.Google.Internal./x",
        "http://instance-data/latest",
    ] {
        check(bad, None);
    }
    check(&format!("https://git.example/{}", "x".repeat(3_000)), None);
    check(&format!("https://{}.example", "x".repeat(64)), None);
}

#[test]
fn host_and_port_are_told_apart() {
    let parts = |text: &str| {
        let base = Base::parse(text).unwrap();
        (
            base.host().to_owned(),
            base.port(),
            base.authority(),
            base.path().to_owned(),
        )
    };
    let part = |host: &str, port, authority: &str, path: &str| {
        (host.to_owned(), port, authority.to_owned(), path.to_owned())
    };
    assert_eq!(
        parts("https://pve.example:8006/api2/json/"),
        part("pve.example", 8006, "pve.example:8006", "/api2/json")
    );
    assert_eq!(
        parts("https://[fd00::1]"),
        part("[fd00::1]", 443, "[fd00::1]", "")
    );
    assert_eq!(
        parts("http://git.example"),
        part("git.example", 80, "git.example", "")
    );
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic_and_what_is_read_reads_the_same_again(text in prop_oneof![
        any::<String>(),
        "(https?|HTTP)://[a-z0-9.@:%\\[\\]①-⑨\u{3002}-]{0,20}(/[a-z.%/?#\\\\]{0,12})?",
    ]) {
        if let Ok(base) = Base::parse(&text) {
            prop_assert!(!base.as_str().contains(['?', '#', '\\', ' ', '%']) && !base.authority().contains('@'));
            prop_assert_eq!(&Base::parse(base.as_str()).unwrap(), &base);
            prop_assert!(base.holds(base.url()));
            prop_assert!(!base.host().ends_with('.') && !base.host().is_empty());
        }
    }
}
