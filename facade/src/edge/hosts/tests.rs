use super::*;

fn check(host: &str, origin: Option<&str>, expected: bool) {
    let hosts = Hosts::new(&["Gate.Example".into(), "pinned.example:8443".into()]);
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, HeaderValue::from_bytes(host.as_bytes()).unwrap());
    if let Some(origin) = origin {
        headers.insert(
            header::ORIGIN,
            HeaderValue::from_bytes(origin.as_bytes()).unwrap(),
        );
    }
    let uri = Uri::from_static("/healthz");
    let answer = hosts.check(&uri, &headers, Some([192, 0, 2, 10].into()));
    assert_eq!(answer.is_ok(), expected, "host {host:?}, origin {origin:?}");
}

#[test]
fn only_names_of_ours_are_served() {
    for host in [
        "localhost",
        "LOCALHOST:7600",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.9.9.9:7600",
        "[::1]:7600",
        "[::1]",
        "192.0.2.10:7600",
        "gate.example",
        "GATE.example:9999",
        "pinned.example:8443",
    ] {
        check(host, None, true);
    }
    for host in [
        "",
        "evil.example",
        "evil.example:7600",
        "localhost.evil.example",
        "evil.localhost",
        "gate.example.evil",
        "xgate.example",
        "gate.example.",
        "pinned.example",
        "pinned.example:1",
        "localhost:",
        "user@localhost",
        "localhost@evil.example",
        "localhost:7600@evil.example",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::]",
        "192.0.2.11",
        "loc\u{e4}lhost",
        "localhost, evil.example",
        "localhost/evil",
    ] {
        check(host, None, false);
    }
}

#[test]
fn an_origin_must_be_the_authority_itself_or_a_listed_name() {
    check("localhost:7600", Some("http://localhost:7600"), true);
    check("localhost:7600", Some("http://LOCALHOST:7600"), true);
    check("gate.example", Some("https://gate.example"), true);
    check("gate.example:443", Some("https://gate.example"), true);
    check("localhost:7600", Some("https://gate.example"), true);
    check("[::1]:7600", Some("http://[::1]:7600"), true);
    for origin in [
        "",
        "null",
        "http://evil.example",
        "http://localhost",
        "http://localhost:3000",
        "http://127.0.0.1:7600",
        "http://localhost:7600.evil.example",
        "http://localhost:7600/",
        "ftp://localhost:7600",
        "file://",
        "localhost:7600",
        "http://user@localhost:7600",
        "chrome-extension://abcdef",
    ] {
        check("localhost:7600", Some(origin), false);
    }
}

#[test]
fn doubled_missing_and_contradicting_names_are_refused() {
    let hosts = Hosts::new(&[]);
    let mut headers = HeaderMap::new();
    assert!(hosts.check(&Uri::from_static("/"), &headers, None).is_err());
    headers.append(header::HOST, HeaderValue::from_static("localhost"));
    assert!(hosts.check(&Uri::from_static("/"), &headers, None).is_ok());
    assert!(
        hosts
            .check(&Uri::from_static("http://evil.example/"), &headers, None)
            .is_err()
    );
    assert!(
        hosts
            .check(&Uri::from_static("http://127.0.0.1/"), &headers, None)
            .is_err()
    );
    headers.append(header::HOST, HeaderValue::from_static("localhost"));
    assert!(hosts.check(&Uri::from_static("/"), &headers, None).is_err());

    let mut headers = HeaderMap::new();
    assert!(
        hosts
            .check(&Uri::from_static("http://localhost:7600/"), &headers, None)
            .is_ok()
    );
    headers.append(header::HOST, HeaderValue::from_static("localhost:7600"));
    headers.append(header::ORIGIN, HeaderValue::from_static("http://localhost:7600"));
    headers.append(header::ORIGIN, HeaderValue::from_static("http://localhost:7600"));
    assert!(
        hosts
            .check(&Uri::from_static("http://localhost:7600/"), &headers, None)
            .is_err()
    );
}
