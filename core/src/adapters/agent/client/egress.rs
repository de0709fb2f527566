//! Which addresses are dialled: those that the guard of targets admits, asked with every one a name means.

use std::{fmt, net::SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

use crate::upstream::reader::{Allow, Base, Fault, admit};

/// Names with more addresses than this are answered by whom we do not want to know.
const MOST_ADDRESSES: usize = 64;

/// Looks names up and lets nothing through that may not be dialled.
pub(super) struct Guarded(Allow);

/// Why a name leads nowhere, on its way through the client.
#[derive(Debug)]
pub(super) struct NotAdmitted(pub(super) Fault);

impl Guarded {
    pub(super) fn new(allow: Allow) -> Self {
        Self(allow)
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let allow = self.0.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, 0))
                .await
                .map_err(|_| unknown(name))?;
            let found: Vec<SocketAddr> = found.take(MOST_ADDRESSES + 1).collect();
            if found.is_empty() || found.len() > MOST_ADDRESSES {
                return Err(unknown(name).into());
            }
            let mut admitted = Vec::with_capacity(found.len());
            for address in found {
                // All of them may be dialled, or none is: who answers so for one of them chooses the others as well.
                let address = admit(address.ip(), &allow).map_err(|fault| {
                    NotAdmitted(Fault::new(fault.error, format!("{name}: {}", fault.detail)))
                })?;
                admitted.push(SocketAddr::new(address, 0));
            }
            let admitted: Addrs = Box::new(admitted.into_iter());
            Ok(admitted)
        })
    }
}

/// What needs no look-up: plain HTTP where that is allowed, and an address in the URL, which is dialled as it stands.
pub(super) fn check(base: &Base, allow: &Allow) -> Result<(), Fault> {
    if base.is_plain_http() && !allow.http {
        return Err(Fault::forbidden(format!(
            "{base} is plain HTTP, which shows the credential to everyone between; use https, or allow it with allowHttp true"
        )));
    }
    match base.parsed_host() {
        Some(Host::Ipv4(address)) => admit(address.into(), allow).map(drop),
        // A mapped address would be dialled as the IPv6 address that was written, so it has to be written as what it is.
        Some(Host::Ipv6(address)) if address.to_ipv4_mapped().is_some() => Err(Fault::forbidden(format!(
            "{address} hides an IPv4 address; write that one"
        ))),
        Some(Host::Ipv6(address)) => admit(address.into(), allow).map(drop),
        Some(Host::Domain(_)) => Ok(()),
        None => Err(Fault::unreachable("the target has no host")),
    }
}

fn unknown(name: &str) -> NotAdmitted {
    NotAdmitted(Fault::unreachable(format!(
        "the name {name} cannot be looked up; is it spelt right, and does this machine's DNS know it?"
    )))
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

impl std::error::Error for NotAdmitted {}
