//! Where the gateway is, out of its URL.

use std::net::IpAddr;

use http::Uri;

/// One gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
}

/// Why a URL names no gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// It cannot be read.
    #[error("it is no http, https, ws or wss URL without user, query and fragment")]
    Unreadable,
    /// It would send frames in the clear.
    #[error("without TLS only a loopback address is dialled; use https")]
    Plain,
}

impl Endpoint {
    pub(crate) fn parse(url: &str) -> Result<Self, BadUrl> {
        let uri: Uri = url.parse().map_err(|_| BadUrl::Unreadable)?;
        let tls = match uri.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            _ => return Err(BadUrl::Unreadable),
        };
        let authority = uri.authority().ok_or(BadUrl::Unreadable)?;
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') || host.is_empty() {
            return Err(BadUrl::Unreadable);
        }
        let port = match authority.port_u16() {
            Some(port) => port,
            // Something stands behind the host that is no port.
            None if authority.as_str() != authority.host() => return Err(BadUrl::Unreadable),
            None if tls => 443,
            None => 80,
        };
        let endpoint = Self {
            tls,
            host,
            port,
            path: uplink_path(uri.path()),
        };
        if tls || endpoint.is_loopback() {
            Ok(endpoint)
        } else {
            Err(BadUrl::Plain)
        }
    }

    /// As the `Host` header and the request line want it.
    pub(crate) fn websocket_url(&self) -> String {
        let scheme = if self.tls { "wss" } else { "ws" };
        let host = if self.host.contains(':') {
            format!("[{}]", self.host)
        } else {
            self.host.clone()
        };
        format!("{scheme}://{host}:{}{}", self.port, self.path)
    }

    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

fn uplink_path(base: &str) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with("/uplink") {
        base.to_owned()
    } else {
        format!("{base}/uplink")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, wanted: Result<&str, BadUrl>) {
        assert_eq!(
            Endpoint::parse(url).map(|endpoint| endpoint.websocket_url()),
            wanted.map(str::to_owned),
            "{url}"
        );
    }

    #[test]
    fn urls_become_the_uplink_of_the_gateway() {
        check("https://gate.example", Ok("wss://gate.example:443/uplink"));
        check(
            "wss://gate.example:8443/tools/",
            Ok("wss://gate.example:8443/tools/uplink"),
        );
        check("https://gate.example/uplink", Ok("wss://gate.example:443/uplink"));
        check("http://127.0.0.1:7600", Ok("ws://127.0.0.1:7600/uplink"));
        check("http://[::1]:7600", Ok("ws://[::1]:7600/uplink"));
        check("ws://localhost", Ok("ws://localhost:80/uplink"));
    }

    #[test]
    fn plain_text_leaves_no_host() {
        for url in [
            "http://gate.example",
            "ws://10.0.0.1:7600",
            "http://127.0.0.1.example",
            "http://localhost.example",
        ] {
            check(url, Err(BadUrl::Plain));
        }
    }

    #[test]
    fn other_texts_are_no_gateway() {
        for url in [
            "",
            "gate.example",
            "ftp://gate.example",
            "https://u:p@gate.example",
            "https://gate.example/?a=b",
            "https://",
            "https://gate.example:99999",
        ] {
            check(url, Err(BadUrl::Unreadable));
        }
    }
}
