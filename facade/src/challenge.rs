//! What a 401 or 403 tells a client about getting in: RFC 6750 challenges, with the address of the metadata of RFC 9728.
//!
//! Every address here is built from the configured one. What a request says of its host is never part of it: whoever
//! can make us repeat a foreign host sends our clients to a foreign issuer.

use http::HeaderValue;

use crate::FacadeConfig;

/// Where the metadata of the gateway as a protected resource is found (RFC 9728 §3).
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const LONGEST_PROFILE: usize = 64;

/// Writes challenges. Made once.
#[derive(Debug, Clone)]
pub(crate) struct Challenges {
    place: Option<Place>,
}

/// The public URL in two parts, for the well-known path stands between them.
#[derive(Debug, Clone)]
struct Place {
    origin: String,
    base: String,
}

impl Challenges {
    /// With addresses where there is an issuer to send clients to.
    pub(crate) fn new(config: &FacadeConfig) -> Self {
        let url = config
            .public_url
            .as_deref()
            .filter(|_| !config.authorization_servers.is_empty());
        Self {
            place: url.and_then(Place::of),
        }
    }

    /// The challenge of a 401 at this path. `presented` says whether the request brought a credential.
    pub(crate) fn unauthenticated(&self, path: &str, presented: bool) -> HeaderValue {
        self.write(path, presented.then_some("invalid_token"))
    }

    /// The challenge of a 403: the credential is one, and may not do this.
    pub(crate) fn insufficient_scope(&self, path: &str) -> HeaderValue {
        self.write(path, Some("insufficient_scope"))
    }

    /// The resource that this path belongs to, as clients address it; none where no issuer is configured.
    pub(crate) fn resource(&self, path: &str) -> Option<String> {
        let Place { origin, base } = self.place.as_ref()?;
        Some(format!("{origin}{base}{}", resource_path(path)))
    }

    /// A path below the well-known one, without what the public URL has in front.
    pub(crate) fn below_base<'a>(&self, path: &'a str) -> &'a str {
        let base = self.place.as_ref().map_or("", |place| &place.base);
        let rest = path.strip_prefix(base).filter(|rest| rest.starts_with('/'));
        rest.unwrap_or(path)
    }

    fn write(&self, path: &str, error: Option<&str>) -> HeaderValue {
        let mut text = String::from("Bearer realm=\"toolgate\"");
        if let Some(error) = error {
            text.push_str(&format!(", error=\"{error}\""));
        }
        if let Some(Place { origin, base }) = &self.place {
            let path = resource_path(path);
            text.push_str(&format!(
                ", resource_metadata=\"{origin}{WELL_KNOWN}{base}{path}\""
            ));
        }
        // The configured URL was read as one, so this is plain text.
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}

impl Place {
    fn of(url: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
        let url = Some(url.trim_end_matches('/')).filter(|url| url.chars().all(is_plain))?;
        let host = url.find("://")? + 3;
        let end = url[host..].find('/').map_or(url.len(), |at| host + at);
        let (origin, base) = url.split_at(end);
        Some(Self {
            origin: origin.to_owned(),
            base: base.to_owned(),
        })
    }
}

/// The part of a path that names a resource of its own; everything but MCP is the gateway as a whole. A profile or
/// project that could not be one stays out of headers.
fn resource_path(path: &str) -> String {
    let parts = ["/mcp/p/", "/mcp/project/"].into_iter();
    let mut parts = parts.filter_map(|of| Some((of, path.strip_prefix(of)?.trim_end_matches('/'))));
    match parts.find(|(_, name)| is_profile(name)) {
        Some((of, name)) => format!("{of}{name}"),
        None if path == "/mcp" || path.starts_with("/mcp/") => "/mcp".into(),
        None => String::new(),
    }
}

/// Whether this could be the name of a profile or a project.
pub(crate) fn is_profile(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=LONGEST_PROFILE).contains(&text.len()) && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenges(public_url: &str, issuers: &[&str]) -> Challenges {
        Challenges::new(&FacadeConfig {
            public_url: Some(public_url.into()),
            authorization_servers: issuers.iter().map(|&issuer| issuer.to_owned()).collect(),
            ..FacadeConfig::default()
        })
    }

    #[test]
    fn a_challenge_points_to_the_metadata_of_the_resource_that_was_asked() {
        let check = |public_url: &str, path: &str, expected: &str| {
            let told = challenges(public_url, &["https://issuer.example"]).unauthenticated(path, false);
            let expected = format!("Bearer realm=\"toolgate\", resource_metadata=\"{expected}\"");
            assert_eq!(told, expected, "{public_url} {path}");
        };
        let plain = "https://gate.example";
        check(
            plain,
            "/mcp",
            "https://gate.example/.well-known/oauth-protected-resource/mcp",
        );
        check(
            plain,
            "/mcp/p/ci-1",
            "https://gate.example/.well-known/oauth-protected-resource/mcp/p/ci-1",
        );
        check(
            plain,
            "/mcp/project/alpha-1",
            "https://gate.example/.well-known/oauth-protected-resource/mcp/project/alpha-1",
        );
        check(
            plain,
            "/api/mcp/invoke",
            "https://gate.example/.well-known/oauth-protected-resource",
        );
        check(
            plain,
            "/openai/v1/tools",
            "https://gate.example/.well-known/oauth-protected-resource",
        );
        check(
            plain,
            "/mcpx",
            "https://gate.example/.well-known/oauth-protected-resource",
        );
        // Before the whole path, whatever a proxy takes off (RFC 9728 §3.1).
        check(
            "https://gate.example:8443/base/",
            "/mcp",
            "https://gate.example:8443/.well-known/oauth-protected-resource/base/mcp",
        );
        for odd in ["/mcp/p/a\"b", "/mcp/p/a%22", "/mcp/p/", "/mcp/p/a/b", "/mcp/x"] {
            check(
                plain,
                odd,
                "https://gate.example/.well-known/oauth-protected-resource/mcp",
            );
        }
    }

    #[test]
    fn what_was_wrong_is_said_only_of_a_credential_that_was_there() {
        let without = challenges("https://gate.example", &[]);
        assert_eq!(
            without.unauthenticated("/mcp", false),
            "Bearer realm=\"toolgate\""
        );
        assert_eq!(
            without.unauthenticated("/mcp", true),
            "Bearer realm=\"toolgate\", error=\"invalid_token\""
        );
        assert_eq!(
            without.insufficient_scope("/mcp"),
            "Bearer realm=\"toolgate\", error=\"insufficient_scope\""
        );
        assert_eq!(without.resource("/mcp"), None);
        let with = challenges("https://gate.example", &["https://issuer.example"]);
        assert_eq!(
            with.insufficient_scope("/mcp"),
            "Bearer realm=\"toolgate\", error=\"insufficient_scope\", resource_metadata=\"https://gate.example/.well-known/oauth-protected-resource/mcp\""
        );
    }

    #[test]
    fn an_address_that_is_none_is_left_out() {
        for bad in [
            "",
            "gate.example",
            "https://gate.example/\"x",
            "https://gate.example/a b",
            "https://g\u{e4}te.example",
        ] {
            let told = challenges(bad, &["https://issuer.example"]).unauthenticated("/mcp", false);
            assert_eq!(told, "Bearer realm=\"toolgate\"", "{bad}");
        }
    }
}
