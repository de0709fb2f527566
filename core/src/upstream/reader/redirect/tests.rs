use proptest::prelude::*;

use super::*;

fn base() -> Base {
    Base::parse("https://git.example:8443/forge/api/v1").unwrap()
}

fn resolved(location: &str) -> Result<String, Fault> {
    let at = Url::parse("https://git.example:8443/forge/api/v1/repos/a/b?x=1").unwrap();
    let value = HeaderValue::from_bytes(location.as_bytes()).unwrap();
    resolve(&base(), &at, &value).map(|url| url.as_str().to_owned())
}

#[test]
fn what_stays_below_the_base_is_followed() {
    let check = |location: &str, expected: &str| {
        assert_eq!(
            resolved(location).as_deref(),
            Ok(format!("https://git.example:8443/forge/api/v1{expected}").as_str()),
            "{location}"
        );
    };
    check("/forge/api/v1/repositories/7", "/repositories/7");
    check(
        "https://git.example:8443/forge/api/v1/repositories/7?page=2#x",
        "/repositories/7?page=2",
    );
    check("HTTPS://GIT.example:8443/forge/api/v1/x", "/x");
    check("c", "/repos/a/c");
    check("../../x", "/x");
    check("?y=2", "/repos/a/b?y=2");
    check("//git.example:8443/forge/api/v1", "");
}

#[test]
fn what_leads_anywhere_else_is_refused() {
    for location in [
        "http://git.example:8443/forge/api/v1/x",
        "https://git.example/forge/api/v1/x",
        "https://git.example:8444/forge/api/v1/x",
        "https://evil.example:8443/forge/api/v1/x",
        "https://git.example.evil.example:8443/forge/api/v1/x",
        "https://user@git.example:8443/forge/api/v1/x",
        "https://user:pass@git.example:8443/forge/api/v1/x",
        "https://169.254.169.254/",
        "//evil.example/forge/api/v1/x",
        "\\\\evil.example\\forge",
        "/",
        "/forge",
        "/forge/api/v10/x",
        "/forge/api/v1/../x",
        "/forge/api/v1/%2e%2e/x",
        "/forge/api/v1/..%2f..%2fadmin",
        "/forge/api/v1/%2e%2e%2fadmin",
        "/forge/api/v1/..%5cadmin",
        "../../../../../x",
        "ftp://git.example:8443/forge/api/v1/x",
        "file:///etc/passwd",
        "data:text/plain,x",
        "javascript:alert(1)",
        "https://",
        "https://[::1",
    ] {
        assert!(resolved(location).is_err(), "{location}");
    }
    assert!(resolved(&format!("/forge/api/v1/{}", "x".repeat(9_000))).is_err());
}

#[test]
fn a_refusal_names_the_place_and_no_path_or_query() {
    let told = resolved("https://evil.example/canary?canary=1")
        .unwrap_err()
        .detail;
    assert!(told.contains("https://evil.example:443"), "{told}");
    assert!(!told.contains("canary"), "{told}");
}

#[test]
fn only_some_statuses_point() {
    let mut headers = HeaderMap::new();
    let points =
        |status: u16, headers: &HeaderMap| location(StatusCode::from_u16(status).unwrap(), headers).is_some();
    assert!(!points(301, &headers));
    headers.insert(LOCATION, HeaderValue::from_static("/x"));
    for status in [301, 302, 303, 307, 308] {
        assert!(points(status, &headers), "{status}");
    }
    for status in [200, 201, 300, 304, 305, 404, 595] {
        assert!(!points(status, &headers), "{status}");
    }
}

proptest! {
    #[test]
    fn wherever_a_target_points_the_base_is_not_left(location in prop_oneof![
        "[ -~]{0,40}",
        "(https?:)?//(git\\.example|evil)(:8443)?(/(forge|api|v1|\\.\\.|%2e|%2f|x)){0,6}",
        "(/(forge|api|v1|\\.\\.|%2e|%2f|%5c|\\\\|x)){0,8}",
    ]) {
        if let Ok(url) = resolved(&location) {
            let below = url.strip_prefix("https://git.example:8443/forge/api/v1").unwrap();
            prop_assert!(below.is_empty() || below.starts_with(['/', '?']), "{}", url);
            let path = percent_decode_str(below.split('?').next().unwrap()).decode_utf8_lossy().into_owned();
            prop_assert!(!path.split(['/', '\\']).any(|s| s == ".."), "{}", url);
        }
    }
}
