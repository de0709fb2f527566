//! Who asks, and what for.

use std::{net::IpAddr, sync::Arc, time::Duration};

use toolgate_contract::registry::ProfileDef;

use crate::{
    identity::{Principal, Secret},
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
    /// The dialect, for the record.
    pub facade: &'static str,
    /// Where it came from, for counting refused credentials.
    pub source: Option<IpAddr>,
    /// The caller's own deadline.
    pub deadline: Option<Duration>,
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
    pub(crate) profile: Option<&'static ProfileDef>,
    pub(crate) facade: &'static str,
}

impl Caller {
    /// Who calls.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }
}
