//! Where a sign-in ends: a path of this gateway and nothing that a browser could read as another place.

/// The longest path with its query, in bytes; it travels in a cookie.
const LONGEST: usize = 1024;

/// A path of ours, with or without a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Next(String);

impl Next {
    /// The path, or the first page for anything else.
    pub(super) fn of(text: &str) -> Self {
        match is_path(text) {
            true => Self(text.to_owned()),
            false => Self("/".to_owned()),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Next> for String {
    fn from(next: Next) -> Self {
        next.0
    }
}

// Browsers read `\` as `/`, drop tabs and line ends anywhere and white space at either end, and read `//` as another
// host. So one slash stands first, no second one after it, and of the rest only what a URL may hold as it is. Signing in
// again is nothing to end at.
fn is_path(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@%?".contains(&byte);
    let path = text.split('?').next().unwrap_or_default();
    let climbs = path.split('/').any(is_dots);
    text.len() <= LONGEST
        && text.starts_with('/')
        && !text.starts_with("//")
        && text.bytes().all(plain)
        && !climbs
        && path != "/sign-in"
        && !path.starts_with("/sign-in/")
}

/// `.` or `..`, which browsers take out of a path: what is left could begin with two slashes.
fn is_dots(part: &str) -> bool {
    let plain = part.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::Url;

    use super::*;

    fn of(text: &str) -> String {
        Next::of(text).into()
    }

    #[test]
    fn a_path_of_ours_is_taken_as_it_is() {
        for path in [
            "/",
            "/adapters",
            "/audit?result=refused&from=2026-11-01T00:00:00Z",
            "/tools/proxmox.list_vms",
            "/tools/compare?a=x%20y&b=%2F%2Fevil.example",
            "/test-call?next=https://evil.example/",
            "/sign-inside",
        ] {
            assert_eq!(of(path), path);
        }
    }

    #[test]
    fn whatever_could_lead_elsewhere_becomes_the_first_page() {
        for text in [
            "",
            "adapters",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "\t//evil.example",
            " /adapters",
            "/adapters ",
            "https://evil.example/",
            "https:evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "/.//evil.example",
            "/..//evil.example",
            "/%2e%2E//evil.example",
            "/a/..//evil.example",
            "/adapters#x",
            "/adapters\r\nset-cookie: a=b",
            "/ädapters",
            "/sign-in",
            "/sign-in?error=denied",
            "/sign-in/oidc?next=/",
            "/\u{0}",
            "/\"><script>",
        ] {
            assert_eq!(of(text), "/", "{text:?}");
        }
        assert_eq!(of(&format!("/{}", "a".repeat(LONGEST))), "/");
        assert_eq!(of(&format!("/{}", "a".repeat(LONGEST - 1))).len(), LONGEST);
    }

    proptest! {
        #[test]
        fn whatever_is_asked_for_the_browser_stays_here(text in hostile()) {
            let base = Url::parse("https://gate.example/sign-in/oidc/callback").unwrap();
            let next = of(&text);
            let ended = base.join(&next).unwrap();
            prop_assert_eq!(ended.origin(), base.origin(), "{} {}", text, next);
            prop_assert!(next.is_ascii() && !next.contains(['\r', '\n', '\\']));
            prop_assert_eq!(of(&next), next);
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("/".to_owned()),
            Just("\\".to_owned()),
            Just(".".to_owned()),
            Just("..".to_owned()),
            Just("%2e".to_owned()),
            Just("%2F".to_owned()),
            Just("%5c".to_owned()),
            Just("\t".to_owned()),
            Just("\n".to_owned()),
            Just("@".to_owned()),
            Just(":".to_owned()),
            Just("?".to_owned()),
            Just("evil.example".to_owned()),
            Just("https://".to_owned()),
            "[ -~]{0,4}",
            ".{0,3}",
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }
}
