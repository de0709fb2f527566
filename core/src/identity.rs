//! Who calls: credentials, principals, roles, and what a role may do.
//!
//! Identity and tenant come only from a verified credential; never from a header, argument or session alone.

mod context;
mod credential;
pub mod jwt;
mod role;

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

pub use self::{
    context::{Context, Unfit},
    credential::{Kind, Minted, Presented, Secret},
    role::{Action, Role},
};
use crate::profiles::Profile;

/// What begins the name of everybody who signed in with OpenID Connect; no API token may have such a name.
pub const OIDC_NAME_PREFIX: &str = "oidc:";

/// An authenticated caller in one tenant.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name, the same in limits, streams and the record.
    pub name: Arc<str>,
    /// Its role.
    pub role: Role,
    /// The profile pinned on the credential; no request can widen it.
    pub pinned: Option<Arc<Profile>>,
}
