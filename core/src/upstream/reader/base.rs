//! Where a target is: scheme, host, port and base path, in one spelling only.
//!
//! Whatever else an address can hold (a user, a query, spaces, an encoded path) is refused. Hosts that are addresses in
//! disguise (`127.1`, `0x7f000001`, circled digits) come out as the address they mean.

use std::fmt;

use url::{Host, Url};

const LONGEST: usize = 2_048;
/// Names under which clouds hand out credentials.
const METADATA: [&str; 5] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Scheme, host, port and base path: `https://git.example/forge/api/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base(Url);

impl Base {
    /// The base that this text spells. Slashes at its end do not count.
    ///
    /// # Errors
    /// What is wrong with it, for whoever wrote it.
    pub fn parse(text: &str) -> Result<Self, String> {
        plain(text)?;
        let wrong = |_| "is no address of the kind https://host:port/path".to_owned();
        let mut url = Url::parse(text).map_err(wrong)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err("must hold no query and no fragment".into());
        }
        without_trailing_dot(&mut url)?;
        let path = url.path().trim_end_matches('/').to_owned();
        check_path(&path)?;
        url.set_path(&path);
        if url.port() == Some(0) {
            return Err("must not have port 0".into());
        }
        Ok(Self(url))
    }

    /// The address, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// The host: a name, an IPv4 address, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, which HTTP or HTTPS say where the address does not.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(443)
    }

    /// Whether this is HTTP without TLS.
    #[must_use]
    pub fn is_plain_http(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// Host and port, as texts tell them.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.host(), self.port())
    }

    /// What stands in the `Host` header: the port only where it is not the usual one.
    pub(crate) fn authority(&self) -> String {
        match self.0.port() {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        }
    }

    pub(crate) fn parsed_host(&self) -> Option<Host<&str>> {
        self.0.host()
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// The base path without a slash at its end; empty where there is none.
    pub(super) fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// Whether this address is of the same scheme, host and port and below the base path.
    pub(crate) fn holds(&self, url: &Url) -> bool {
        let below = url.path().strip_prefix(self.path());
        self.0.origin() == url.origin() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The path of an address that this base holds, as it stands below the base.
    pub(super) fn path_below(&self, url: &Url) -> String {
        let below = url.path().strip_prefix(self.path()).unwrap_or_default();
        below.to_owned()
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// What a parser of addresses would mend in silence is refused: what was meant is not known then.
fn plain(text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!("must not be longer than {LONGEST} bytes"));
    }
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Err("must hold no spaces, control characters or backslashes".into());
    }
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let rest = match (lower.strip_prefix("https://"), lower.strip_prefix("http://")) {
        (Some(_), _) => &text[8..],
        (None, Some(_)) => &text[7..],
        (None, None) => return Err("must begin with https:// or http://".into()),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("must hold no user and no password".into());
    }
    let path = rest.get(authority.len()..).unwrap_or_default();
    if path.split('/').any(is_dots) {
        return Err("must hold no . and .. as parts of its path".into());
    }
    match authority.is_empty() {
        true => Err("must name a host".into()),
        false => Ok(()),
    }
}

fn is_dots(segment: &str) -> bool {
    matches!(
        segment.to_ascii_lowercase().replace("%2e", ".").as_str(),
        "." | ".."
    )
}

fn without_trailing_dot(url: &mut Url) -> Result<(), String> {
    let Some(Host::Domain(name)) = url.host() else {
        return Ok(());
    };
    let bare = name.strip_suffix('.').unwrap_or(name).to_owned();
    if METADATA.contains(&bare.as_str()) {
        return Err("names a metadata service of a cloud, which is never read".into());
    }
    let fits = bare.len() <= 253 && bare.split('.').all(|label| (1..=63).contains(&label.len()));
    if !fits {
        return Err("holds a host name that is none".into());
    }
    url.set_host(Some(&bare))
        .map_err(|_| "holds a host name that is none".to_owned())
}

fn check_path(path: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@".contains(c);
    let mut segments = path.split('/').skip(1);
    match segments.all(|segment| !segment.is_empty() && segment.chars().all(fits)) {
        true => Ok(()),
        false => Err("must hold a plain path: no empty segments and nothing that needs encoding".into()),
    }
}

#[cfg(test)]
mod tests;
