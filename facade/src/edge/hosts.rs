//! Which `Host` and `Origin` are ours, against DNS rebinding and foreign pages.
//!
//! A browser that was tricked into dialling us still names the page's host. `Host` must therefore be a name we serve,
//! and `Origin`, where one is sent, must be the very authority the request was made to, or a name we serve. Ports of
//! loopback names are free, because tunnels and containers map them.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue, Uri, header, uri::Authority};
use toolgate_contract::v1::ErrorReason;

use crate::problem::Problem;

/// The names served.
#[derive(Debug)]
pub(crate) struct Hosts {
    allowed: Vec<Name>,
}

/// A host name in lower case, or an address, with a port where one was given.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    host: String,
    port: Option<u16>,
}

impl Hosts {
    /// Takes `name` and `name:port` entries; entries that are no host name match nothing.
    pub(crate) fn new(allowed: &[String]) -> Self {
        Self {
            allowed: allowed.iter().filter_map(|text| Name::parse(text)).collect(),
        }
    }

    /// Refuses a request that was made to, or from, a name that is not ours.
    pub(crate) fn check(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        dialled: Option<IpAddr>,
    ) -> Result<(), Problem> {
        let host = target(uri, headers).ok_or_else(|| refused("host"))?;
        if !self.serves(&host, dialled) {
            return Err(refused("host"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if self.is_ours(origin, &host) => Ok(()),
            _ => Err(refused("origin")),
        }
    }

    fn serves(&self, name: &Name, dialled: Option<IpAddr>) -> bool {
        name.is_loopback()
            || dialled.is_some_and(|address| name.address() == Some(address.to_canonical()))
            || self.lists(name)
    }

    fn lists(&self, name: &Name) -> bool {
        self.allowed
            .iter()
            .any(|ours| ours.host == name.host && (ours.port.is_none() || ours.port == name.port))
    }

    fn is_ours(&self, origin: &HeaderValue, host: &Name) -> bool {
        let Some((mut origin, default_port)) = origin.to_str().ok().and_then(parse_origin) else {
            return false;
        };
        origin.port = origin.port.or(Some(default_port));
        let same = origin.host == host.host && origin.port == host.port.or(Some(default_port));
        same || self.lists(&origin)
    }
}

/// The authority that the request names, once: two different ones are none.
fn target(uri: &Uri, headers: &HeaderMap) -> Option<Name> {
    let mut fields = headers.get_all(header::HOST).iter();
    let field = match (fields.next(), fields.next()) {
        (None, _) => None,
        (Some(value), None) => Some(Name::parse(value.to_str().ok()?)?),
        (Some(_), Some(_)) => return None,
    };
    let pseudo = match uri.authority() {
        Some(authority) => Some(Name::parse(authority.as_str())?),
        None => None,
    };
    match (pseudo, field) {
        (Some(pseudo), Some(field)) => (pseudo == field).then_some(field),
        (pseudo, field) => pseudo.or(field),
    }
}

fn parse_origin(text: &str) -> Option<(Name, u16)> {
    let (rest, port) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
        (Some(rest), _) => (rest, 80),
        (_, Some(rest)) => (rest, 443),
        _ => return None,
    };
    Some((Name::parse(rest)?, port))
}

impl Name {
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        let (host, port) = (authority.host(), authority.port_u16());
        let whole = match port {
            Some(_) => authority.as_str().len() > host.len(),
            // `name:` and user information parse as an authority, but are no name of ours.
            None => authority.as_str().len() == host.len(),
        };
        if host.is_empty() || !whole || authority.as_str().contains('@') {
            return None;
        }
        Some(Self {
            host: host.to_ascii_lowercase(),
            port,
        })
    }

    fn address(&self) -> Option<IpAddr> {
        let bare = self
            .host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(&self.host);
        bare.parse().ok().map(|address: IpAddr| address.to_canonical())
    }

    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.address().is_some_and(|address| address.is_loopback())
    }
}

fn refused(what: &str) -> Problem {
    Problem::new(
        ErrorReason::OriginForbidden,
        format!(
            "this gateway does not serve the {what} of this request; an operator can add it to `allowed_hosts`"
        ),
    )
}

#[cfg(test)]
mod tests;
