//! Who asks, and what for.

use std::{net::IpAddr, sync::Arc, time::Duration};

use crate::{
    identity::{Context, Principal, Secret},
    profiles::Profile,
    snapshot::Snapshot,
};

/// How a request reached the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// In process or over the Unix socket: a facade, which may say which dialect it speaks.
    Facade,
    /// The gRPC port.
    Network,
}

/// What every request brings beside its message.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The credential, if any.
    pub credential: Option<Secret>,
    /// The profile asked for by URL, header or flag; it can only narrow.
    pub profile: Option<String>,
    /// What it works for and on, as the request says.
    pub context: Context,
    /// The MCP session the request stands in, as the facade read it.
    pub session: Option<String>,
    /// The dialect, for the record.
    pub facade: &'static str,
    /// Where it came from, for counting refused credentials.
    pub source: Option<IpAddr>,
    /// The caller's own deadline.
    pub deadline: Option<Duration>,
}

impl Ask {
    /// The party it came from, as counters and limits tell parties apart.
    #[must_use]
    pub fn origin(&self) -> String {
        self.source.map_or_else(|| "local".into(), source_prefix)
    }
}

/// What a caller wants carried.
#[derive(Debug)]
pub struct Wish {
    /// Tool name as the caller spells it.
    pub name: String,
    /// One JSON object; empty means `{}`.
    pub arguments: bytes::Bytes,
    /// The target, if named beside the arguments.
    pub target_id: Option<String>,
}

/// An authenticated caller with what it may see.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(super) principal: Principal,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) profile: Option<Arc<Profile>>,
    /// What it works for and on: by its token, else by its request.
    pub(crate) context: Context,
    /// The MCP session that the request stands in, by the hash of its id.
    pub(crate) session: Option<Arc<str>>,
    pub(crate) facade: &'static str,
}

impl Caller {
    /// Who calls.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The profile that its calls stand under.
    #[must_use]
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_deref()
    }
}

// One attacker has many addresses: /24 and /56 are what one party usually holds.
fn source_prefix(source: std::net::IpAddr) -> String {
    match source.to_canonical() {
        std::net::IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        std::net::IpAddr::V6(v6) => {
            let mut octets = v6.octets();
            octets[7..].fill(0);
            format!("{}/56", std::net::Ipv6Addr::from(octets))
        }
    }
}
