//! Where a name that an operator gave leads, asked once for each connection; what is dialled is what was looked at.
//!
//! For clients of the gateway itself. Targets, which tenants give, have a guard of their own that allows much less.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// Resolves names, and refuses those that lead to an address which is never dialled.
#[derive(Debug)]
pub(crate) struct Route;

impl Resolve for Route {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // One such address is enough: who answers so for one of them chooses the others as well.
            if found.iter().any(|address| is_forbidden(address.ip())) {
                let why = "its name leads to a link-local or metadata address, which is never dialled";
                return Err(io::Error::other(why).into());
            }
            let found: Addrs = Box::new(found.into_iter());
            Ok(found)
        })
    }
}

/// Whether this operator's URL may be dialled: over TLS or to this machine, without a user, and to no address that is
/// never dialled. An address in a URL is dialled without being resolved.
pub(crate) fn may_be_dialled(url: &Url) -> bool {
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let literal = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address: Option<IpAddr> = literal.parse().ok();
    let is_local = literal == "localhost" || address.is_some_and(|address| address.is_loopback());
    let scheme = match url.scheme() {
        "https" => url.has_host(),
        "http" => is_local,
        _ => false,
    };
    plain && scheme && !address.is_some_and(is_forbidden)
}

/// Whether this is link-local, or where a cloud hands out credentials.
fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_forbidden_v4(address),
        IpAddr::V6(address) => is_forbidden_v6(address),
    }
}

fn is_forbidden_v4(address: Ipv4Addr) -> bool {
    address.is_link_local() || address == Ipv4Addr::new(100, 100, 100, 200)
}

fn is_forbidden_v6(address: Ipv6Addr) -> bool {
    const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    address.is_unicast_link_local() || address == METADATA || carried(address).is_some_and(is_forbidden_v4)
}

/// The IPv4 address inside: mapped, compatible, or that of a translator (64:ff9b::/96) or of 6to4 (2002::/16).
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => Some(of(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(of(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_and_metadata_addresses_are_never_dialled() {
        let check =
            |text: &str, expected: bool| assert_eq!(is_forbidden(text.parse().unwrap()), expected, "{text}");
        for text in [
            "169.254.0.1",
            "169.254.169.254",
            "169.254.255.255",
            "100.100.100.200",
            "fe80::1",
            "febf::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::ffff:100.100.100.200",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "2002:a9fe:a9fe::1",
        ] {
            check(text, true);
        }
        for text in [
            "169.253.255.255",
            "169.255.0.0",
            "100.100.100.201",
            "10.0.0.1",
            "127.0.0.1",
            "::1",
            "fec0::1",
            "fd00:ec2::253",
            "::ffff:10.0.0.1",
            "2001:db8::a9fe:a9fe",
        ] {
            check(text, false);
        }
    }

    #[tokio::test]
    async fn a_name_is_looked_up_and_its_addresses_are_looked_at() {
        let resolved = async |name: &str| match Route.resolve(name.parse().unwrap()).await {
            Ok(found) => Ok(found.map(|address| address.ip()).collect::<Vec<_>>()),
            Err(error) => Err(error.to_string()),
        };
        let local = resolved("localhost").await.unwrap();
        assert!(
            !local.is_empty() && local.iter().all(IpAddr::is_loopback),
            "{local:?}"
        );
        // An address is its own name, so that this asks no server.
        let refused = resolved("169.254.169.254").await.unwrap_err();
        assert!(refused.contains("is never dialled"), "{refused}");
    }
}
