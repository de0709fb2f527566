//! The address that people are sent back to.

use reqwest::Url;

use super::CALLBACK;

/// Below the public URL; below what the browser dialled where nobody but this machine can.
pub(super) fn redirect(public_url: &str, only_local: bool, dialled: Option<&str>) -> Option<Url> {
    let local = dialled.filter(|_| only_local).and_then(of_this_machine);
    match local {
        Some(origin) => origin.join(CALLBACK).ok(),
        None => Url::parse(&format!("{}{CALLBACK}", public_url.trim_end_matches('/'))).ok(),
    }
}

// A cookie set for `localhost` does not come back to `127.0.0.1`, so the name matters although the machine is the same.
fn of_this_machine(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']);
    let address: Option<std::net::IpAddr> = host.parse().ok();
    let is_local = host == "localhost" || address.is_some_and(|address| address.is_loopback());
    let is_origin = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    (is_local && is_origin).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_come_back_to_where_they_are_only_where_that_is_this_machine() {
        let check = |(public, only_local): (&str, bool), dialled: Option<&str>, expected: &str| {
            let made = redirect(public, only_local, dialled).map(String::from);
            let expected = format!("{expected}/sign-in/oidc/callback");
            assert_eq!(made, Some(expected), "{public} {only_local} {dialled:?}");
        };
        let bound = ("http://127.0.0.1:7600", true);
        check(bound, None, "http://127.0.0.1:7600");
        check(bound, Some("http://localhost:7600"), "http://localhost:7600");
        check(bound, Some("http://localhost:8080"), "http://localhost:8080");
        check(bound, Some("https://[::1]:7600"), "https://[::1]:7600");
        for foreign in [
            "https://evil.example",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "http://user@localhost:7600",
            "http://localhost:7600/path",
            "http://localhost:7600?x",
            "ftp://localhost",
            "localhost:7600",
            "",
        ] {
            check(bound, Some(foreign), "http://127.0.0.1:7600");
        }
        let public = ("https://gate.example/base/", false);
        check(public, Some("http://localhost:7600"), "https://gate.example/base");
    }
}
