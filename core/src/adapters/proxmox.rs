//! Proxmox VE, read only: three tools, and whether a token may do what the role PVEAuditor may and nothing else.
//!
//! Everything goes through the one client that can only GET, with an API token in its header; there is no password, no
//! ticket and no cookie here. Rows are read field by field and never fail; texts of a cluster are data and never told as
//! ours. A node is asked only after the cluster named it.

mod ask;
mod figures;
mod metrics;
mod nodes;
mod place;
mod privileges;
mod row;
mod status;
mod token;
mod validate;
mod vms;

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::time::timeout;

use self::token::TokenId;
pub(super) use self::{place::settings, token::credential};
use super::{Adapter, Validation, said};
use crate::{
    journal::Contact,
    secrets::SecretValue,
    upstream::{
        ToolResult, Upstream, UpstreamCall, UpstreamError,
        reader::{Destination, Reader},
    },
};

/// One cluster, by the node that is asked, with one token.
struct Cluster {
    reader: Reader,
    token: TokenId,
    is_tls: bool,
}

/// The adapter of one target.
pub(super) fn open(
    settings: &Value,
    _facts: &Value,
    credential: &SecretValue,
) -> Result<Arc<dyn Adapter>, UpstreamError> {
    let cluster = Cluster::new(place::stored(settings)?, credential)?;
    Ok(Arc::new(cluster))
}

/// What an answer of a cluster says, for whoever wants to try the reading alone: of guests, of one guest, of nodes, of
/// their state and samples, and of privileges. Gives how much was read.
pub fn parse(bytes: &[u8]) -> usize {
    let Ok(told) = serde_json::from_slice::<Value>(bytes) else {
        return 0;
    };
    let data = told.get("data").unwrap_or(&told);
    let guests = vms::read(data).unwrap_or_default();
    let each = data.as_array().into_iter().flatten();
    let nodes = each.filter_map(nodes::Node::read).count();
    let current: usize = guests.iter().map(|guest| status::now(guest, data).len()).sum();
    let token =
        TokenId::parse(&String::from_utf8_lossy(bytes)).or_else(|| TokenId::parse("audit@pve!toolgate"));
    let judged = token.and_then(|token| {
        let part = |name: &str| data.get(name).cloned();
        let seen = privileges::Seen {
            roles: part("roles").unwrap_or_default(),
            permissions: part("permissions").unwrap_or_default(),
            acl: part("acl"),
            users: part("users"),
        };
        privileges::judge(&token, &seen)
    });
    guests.len() + nodes + current + metrics::counted(data) + usize::from(judged.is_some())
}

impl Cluster {
    fn new(destination: Destination, credential: &SecretValue) -> Result<Self, UpstreamError> {
        let token = TokenId::of(credential)?;
        let is_tls = !destination.base.is_plain_http();
        let reader = Reader::new(destination, token::headers(credential)?)?;
        Ok(Self {
            reader,
            token,
            is_tls,
        })
    }
}

impl Upstream for Cluster {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(async move {
            let arguments = &call.arguments.0;
            let work = async {
                match call.tool {
                    "proxmox.list_vms" => vms::list(self, contact, arguments).await,
                    "proxmox.get_vm_status" => status::get(self, contact, arguments).await,
                    "proxmox.get_node_metrics" => metrics::get(self, contact, arguments).await,
                    _ => said::no("this target has no such tool"),
                }
            };
            timeout(call.deadline, work)
                .await
                .unwrap_or(Err(UpstreamError::Timeout))
        })
    }
}

impl Adapter for Cluster {
    fn validate<'a>(&'a self, contact: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(validate::validate(self, contact))
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxmox({:?})", self.reader)
    }
}

#[cfg(test)]
mod tests;
