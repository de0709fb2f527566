//! Lists the guests of a cluster: one question for all of them, whatever nodes are down.

mod guest;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use self::guest::Guest;
use super::{Cluster, ask::Said, nodes};
use crate::{
    adapters::said,
    journal::Contact,
    upstream::{ToolResult, UpstreamError, reader::ReadPath},
};

/// Guests in one answer.
const MOST: usize = 2_000;

/// What is asked.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    node: Option<String>,
    r#type: Option<String>,
    status: Option<String>,
}

/// What is answered.
#[derive(Debug, Serialize)]
struct Told {
    vms: Vec<Guest>,
    more: bool,
}

/// Runs the tool.
pub(super) async fn list(
    cluster: &Cluster,
    contact: &Contact,
    arguments: &[u8],
) -> Result<ToolResult, UpstreamError> {
    let Ok(asked) = serde_json::from_slice::<Asked>(arguments) else {
        return said::no("the arguments cannot be read");
    };
    let guests = match all(cluster, contact).await? {
        Ok(guests) => guests,
        Err(no) => return said::no(&no),
    };
    // A node with guests is one of the cluster; whether another is, the cluster is asked.
    let has_guests = |node: &String| guests.iter().any(|guest| guest.node() == Some(node));
    if let Some(node) = asked.node.as_ref().filter(|node| !has_guests(node))
        && let Err(no) = nodes::named(cluster, contact, node).await?
    {
        return said::no(&no);
    }
    let told = Told::of(guests, &asked);
    said::result(&told.text(&asked), &told)
}

/// Every guest that the token may see, in the order of their numbers.
pub(super) async fn all(
    cluster: &Cluster,
    contact: &Contact,
) -> Result<Result<Vec<Guest>, String>, UpstreamError> {
    match cluster.ask_of_all(contact, &path()).await? {
        Said::Yes(rows) => read(&rows).map(Ok),
        Said::No(no) => Ok(Err(no.told("the guests of the cluster"))),
    }
}

/// The guests of an answer.
pub(super) fn read(rows: &Value) -> Result<Vec<Guest>, UpstreamError> {
    let rows = rows.as_array().ok_or(UpstreamError::Invalid)?;
    let mut guests: Vec<Guest> = rows.iter().filter_map(Guest::read).collect();
    guests.sort_by_key(Guest::vmid);
    Ok(guests)
}

/// Where all guests are told.
fn path() -> ReadPath {
    ReadPath::of(["cluster", "resources"]).with("type", "vm")
}

impl Told {
    fn of(guests: Vec<Guest>, asked: &Asked) -> Self {
        let fits = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
        };
        let mut vms: Vec<Guest> = guests
            .into_iter()
            .filter(|guest| {
                fits(&asked.node, guest.node())
                    && fits(&asked.r#type, guest.kind())
                    && fits(&asked.status, guest.status())
            })
            .collect();
        let more = vms.len() > MOST;
        vms.truncate(MOST);
        Self { vms, more }
    }

    fn text(&self, asked: &Asked) -> String {
        let narrowed = asked.node.is_some() || asked.r#type.is_some() || asked.status.is_some();
        match (self.vms.is_empty(), narrowed) {
            (true, true) => return "No guests like that are visible to the token of this target.".into(),
            (true, false) => {
                return "No guests are visible to the token of this target. If there are some, it lacks VM.Audit on /vms; an admin tests the target.".into();
            }
            (false, _) => {}
        }
        let mut text = said::lines(self.vms.iter().map(Guest::line));
        if self.more {
            text.push_str(&format!(
                "\nThese are the first {MOST}; narrow the list by node, type or status."
            ));
        }
        text
    }
}
