//! Which gateway client commands talk to, and with which token.

use std::{
    io::Read,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use reqwest::{Certificate, Url, redirect};
use zeroize::Zeroizing;

use super::{CONNECT, Gateway};
use crate::{
    address::{self, Address},
    config::{Config, Environment},
    failure::Failure,
};

const TOKEN_FILE: &str = "admin-token";
const LONGEST_TOKEN: u64 = 4096;

impl Gateway {
    /// The gateway of the settings, with the token of the environment or else of the data directory.
    pub(crate) fn reach(config: &Config, environment: &Environment) -> Result<Self, Failure> {
        let running = config
            .url
            .is_empty()
            .then(|| address::read(&config.data_dir))
            .flatten();
        let url = base_url(config, running.as_ref());
        let parsed = Url::parse(&url).map_err(|_| Failure::usage(format!("`{url}` is not a URL")))?;
        // A token of this machine's gateway is not sent to another one.
        let own = config.url.is_empty() || is_loopback(&parsed);
        let token = environment
            .token()
            .or_else(|| own.then(|| token_file(&config.data_dir)).flatten());
        Ok(Self {
            http: http_client(&parsed, config, running.and_then(|running| running.certificate))?,
            url,
            token,
            profile: None,
        })
    }

    /// A gateway inside this process, by its address.
    pub(crate) fn inside(address: SocketAddr, token: String) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .no_proxy()
            .build();
        Ok(Self {
            http: http.map_err(|error| Failure::failed(error.to_string()))?,
            url: format!("http://{address}"),
            token: Some(Zeroizing::new(token)),
            profile: None,
        })
    }
}

fn base_url(config: &Config, running: Option<&Address>) -> String {
    if !config.url.is_empty() {
        return config.url.trim_end_matches('/').into();
    }
    if let Some(running) = running {
        return running.http.clone();
    }
    let scheme = if config.tls.cert.is_some() {
        "https"
    } else {
        "http"
    };
    format!("{scheme}://{}", dialable(config.http))
}

/// The address under which a listener on this machine can be dialled from this machine.
pub(crate) fn dialable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn http_client(url: &Url, config: &Config, running: Option<PathBuf>) -> Result<reqwest::Client, Failure> {
    // A redirect would carry the token to an address that nobody chose.
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .redirect(redirect::Policy::none())
        .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    let own = config
        .url
        .is_empty()
        .then_some(config.tls.cert.as_deref())
        .flatten();
    let mut roots = Vec::new();
    for path in config
        .ca_cert
        .as_deref()
        .into_iter()
        .chain(running.as_deref().or(own))
    {
        roots.extend(certificates(path)?);
    }
    // Without TLS the machine's certificates are not needed; a small container may have none.
    builder = match url.scheme() {
        "https" => builder.tls_certs_merge(roots),
        _ => builder.tls_certs_only([]),
    };
    builder
        .build()
        .map_err(|error| Failure::failed(super::innermost(&error)))
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, Failure> {
    let place = path.display();
    let pem =
        std::fs::read(path).map_err(|error| Failure::usage(format!("{place} cannot be read: {error}")))?;
    Certificate::from_pem_bundle(&pem)
        .map_err(|_| Failure::usage(format!("{place} holds no PEM certificates")))
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The admin token that the first start left behind, where we may read it.
pub(crate) fn token_file(data_dir: &Path) -> Option<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    let file = std::fs::File::open(data_dir.join(TOKEN_FILE)).ok()?;
    file.take(LONGEST_TOKEN).read_to_string(&mut text).ok()?;
    let token = text.trim();
    (!token.is_empty()).then(|| Zeroizing::new(token.into()))
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::{dialable, is_loopback};

    #[test]
    fn a_listener_on_every_address_is_dialled_on_loopback() {
        let check = |given: &str, expected: &str| {
            assert_eq!(dialable(given.parse().unwrap()).to_string(), expected);
        };
        check("0.0.0.0:7600", "127.0.0.1:7600");
        check("[::]:7600", "[::1]:7600");
        check("192.0.2.1:1", "192.0.2.1:1");
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        let check =
            |url: &str, expected: bool| assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        check("http://localhost:1", true);
        check("http://127.9.9.9", true);
        check("http://[::1]:5", true);
        check("https://localhost.example.org", false);
        check("http://10.0.0.1", false);
    }
}
