//! The nodes of a cluster, and which of them is meant.
//!
//! A node that the cluster does not know is never asked: a name in other case or with a domain leads the node that was
//! asked to a host that is none.

use serde_json::Value;

use super::{Cluster, ask::Said, row};
use crate::{
    adapters::said::shown,
    journal::Contact,
    upstream::{UpstreamError, reader::ReadPath},
};

/// Names told to whoever asks for one that is none.
const MOST_NAMES: usize = 50;

/// A node as the cluster knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    /// `online`, `offline` or `unknown`.
    pub(super) status: Option<String>,
}

impl Node {
    /// Out of a row; one without a name is none.
    pub(super) fn read(row: &Value) -> Option<Self> {
        Some(Self {
            name: row::text(row, "node")?,
            status: row::text(row, "status"),
        })
    }

    pub(super) fn is_offline(&self) -> bool {
        self.status.as_deref() == Some("offline")
    }
}

/// The node of this name, or what a caller hears when there is none.
pub(super) async fn named(
    cluster: &Cluster,
    contact: &Contact,
    name: &str,
) -> Result<Result<Node, String>, UpstreamError> {
    let rows = match cluster.ask_of_all(contact, &ReadPath::of(["nodes"])).await? {
        Said::Yes(rows) => rows,
        Said::No(no) => return Ok(Err(no.told("the nodes of the cluster"))),
    };
    let Value::Array(rows) = rows else {
        return Err(UpstreamError::Invalid);
    };
    let mut nodes: Vec<Node> = rows.iter().filter_map(Node::read).collect();
    match nodes.iter().position(|node| node.name == name) {
        Some(at) => Ok(Ok(nodes.swap_remove(at))),
        None => Ok(Err(unknown(name, &nodes))),
    }
}

fn unknown(name: &str, nodes: &[Node]) -> String {
    let mut names: Vec<String> = nodes.iter().map(|node| shown(&node.name)).collect();
    names.sort_unstable();
    let beyond = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let known = match (names.is_empty(), beyond) {
        (true, _) => "it names none to the token of this target".to_owned(),
        (false, 0) => format!("its nodes are {}", names.join(", ")),
        (false, _) => format!("its nodes are {}, and {beyond} more", names.join(", ")),
    };
    format!("the cluster has no node {}; {known}", shown(name))
}
