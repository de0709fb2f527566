//! Where a provider is, checked before anything starts: over TLS, or on this machine.

use reqwest::Url;

use crate::secrets::SetupError;

/// Hosts on which clouds hand out credentials without TLS, on links that never leave the machine.
const LINK_LOCAL: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// An address that secrets may come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

impl Endpoint {
    /// An address of a provider: `https`, or `http` on loopback.
    ///
    /// # Errors
    /// When the text is no such address.
    pub fn new(key: &'static str, text: &str) -> Result<Self, SetupError> {
        Self::checked(key, text, is_loopback)
    }

    /// An address that hands out the gateway's own credentials: as above, and the link-local ones of the clouds.
    ///
    /// # Errors
    /// When the text is no such address.
    pub fn of_credentials(key: &'static str, text: &str) -> Result<Self, SetupError> {
        Self::checked(key, text, |host| is_loopback(host) || LINK_LOCAL.contains(&host))
    }

    fn checked(key: &'static str, text: &str, plain: fn(&str) -> bool) -> Result<Self, SetupError> {
        let wrong = |what: &str| SetupError::Setting {
            key,
            what: what.to_owned(),
        };
        let url = Url::parse(text).map_err(|_| wrong("is no URL"))?;
        let host = url.host_str().unwrap_or_default();
        match url.scheme() {
            "https" => {}
            "http" if plain(host) => {}
            _ => {
                return Err(wrong(
                    "must begin with https://; plain http is for addresses of this machine",
                ));
            }
        }
        if !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some()
        {
            return Err(wrong("must hold no user, password, query or fragment"));
        }
        Ok(Self(url))
    }

    /// The address with segments added to its path.
    pub(in crate::secrets) fn below<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    pub(in crate::secrets) fn url(&self) -> &Url {
        &self.0
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_come_over_tls_or_from_this_machine() {
        let check = |text: &str, provider: bool, credentials: bool| {
            assert_eq!(Endpoint::new("k", text).is_ok(), provider, "{text}");
            assert_eq!(Endpoint::of_credentials("k", text).is_ok(), credentials, "{text}");
        };
        check("https://vault.example:8200", true, true);
        check("http://127.0.0.1:8200", true, true);
        check("http://[::1]:8200/base", true, true);
        check("http://localhost", true, true);
        check("http://169.254.170.2/v2/credentials/x", false, true);
        check("http://169.254.170.23/v1/credentials", false, true);
        check("http://[fd00:ec2::23]/v1/credentials", false, true);
        for bad in [
            "",
            "vault.example",
            "http://vault.example",
            "http://169.254.169.254/latest",
            "http://127.0.0.1.example",
            "ftp://127.0.0.1",
            "https://user:pass@vault.example",
            "https://vault.example?x=1",
            "https://vault.example#x",
        ] {
            check(bad, false, false);
        }
    }

    #[test]
    fn segments_are_added_as_segments() {
        let below = |base: &str| {
            Endpoint::new("k", base)
                .unwrap()
                .below(["v1", "a b", "c/d", "?"])
                .to_string()
        };
        assert_eq!(below("https://v.example"), "https://v.example/v1/a%20b/c%2Fd/%3F");
        assert_eq!(
            below("https://v.example/base/"),
            "https://v.example/base/v1/a%20b/c%2Fd/%3F"
        );
    }
}
