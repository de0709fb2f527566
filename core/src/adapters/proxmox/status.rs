//! Reads one guest as it is now.
//!
//! It is looked up in the cluster first: numbers are unique there, and guests move. Its node is asked for the rest; when
//! that node is down, what the cluster knows is the answer.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Cluster,
    ask::{No, Said},
    figures,
    row::{self, Field},
    vms::{self, Guest},
};
use crate::{
    adapters::said::{self, shown},
    journal::Contact,
    upstream::{ToolResult, UpstreamError, reader::ReadPath},
};

/// Times a guest is looked up: once more when it moved in between.
const LOOK_UPS: u8 = 2;

const FIELDS: &[Field] = &[
    Field::text("name"),
    Field::text("status"),
    Field::text("qmpstatus"),
    Field::text("lock"),
    Field::whole("uptime"),
    Field::number("cpu"),
    Field::number("cpus"),
    Field::whole("mem"),
    Field::whole("maxmem"),
    Field::whole("memhost"),
    Field::whole("balloon"),
    Field::whole("swap"),
    Field::whole("maxswap"),
    Field::whole("disk"),
    Field::whole("maxdisk"),
    Field::whole("diskread"),
    Field::whole("diskwrite"),
    Field::whole("netin"),
    Field::whole("netout"),
    Field::flag("template"),
    Field::flag("agent"),
    Field::text("running-machine").named("running_machine"),
    Field::text("running-qemu").named("running_qemu"),
    Field::number("pressurecpusome"),
    Field::number("pressurecpufull"),
    Field::number("pressureiosome"),
    Field::number("pressureiofull"),
    Field::number("pressurememorysome"),
    Field::number("pressurememoryfull"),
];
const HIGH_AVAILABILITY: &[Field] = &[
    Field::flag("managed").named("ha_managed"),
    Field::text("state").named("ha_state"),
];
/// What holds of a guest though its node is down.
const LASTING: [&str; 4] = ["name", "template", "tags", "lock"];

/// What is asked.
#[derive(Debug, Deserialize)]
struct Asked {
    vmid: Value,
    node: Option<String>,
}

/// Runs the tool.
pub(super) async fn get(
    cluster: &Cluster,
    contact: &Contact,
    arguments: &[u8],
) -> Result<ToolResult, UpstreamError> {
    let asked = serde_json::from_slice::<Asked>(arguments).ok();
    let vmid = asked.as_ref().and_then(|asked| row::as_whole(&asked.vmid));
    let (Some(asked), Some(vmid)) = (asked, vmid) else {
        return said::no("the arguments cannot be read");
    };
    let mut asked_on: Option<String> = None;
    for _ in 0..LOOK_UPS {
        let guest = match find(cluster, contact, vmid).await? {
            Ok(guest) => guest,
            Err(no) => return said::no(&no),
        };
        let (Some(node), Some(kind @ ("qemu" | "lxc"))) = (guest.node(), guest.kind()) else {
            return said::no(&format!("the guest {vmid} is of a kind that cannot be read"));
        };
        if asked_on.as_deref() == Some(node) {
            break;
        }
        let path = ReadPath::of(["nodes", node, kind, &vmid.to_string(), "status", "current"]);
        match cluster.ask(contact, &path).await? {
            Said::Yes(row) if row.is_object() => return told(&asked, &guest, &now(&guest, &row)),
            Said::Yes(_) => return Err(UpstreamError::Invalid),
            Said::No(No::NodeAway) => return told(&asked, &guest, &away(&guest)),
            Said::No(No::Missing) => asked_on = Some(node.to_owned()),
            Said::No(no) => return said::no(&no.told(&format!("the guest {vmid}"))),
        }
    }
    said::no(&format!(
        "the guest {vmid} is being moved or was removed just now; look again with proxmox.list_vms"
    ))
}

/// The guest of this number, wherever it is, or what a caller hears when there is none.
async fn find(
    cluster: &Cluster,
    contact: &Contact,
    vmid: i64,
) -> Result<Result<Guest, String>, UpstreamError> {
    let guests = match vms::all(cluster, contact).await? {
        Ok(guests) => guests,
        Err(no) => return Ok(Err(no)),
    };
    let found = guests.into_iter().find(|guest| guest.vmid() == vmid);
    Ok(found.ok_or_else(|| {
        format!(
            "no guest {vmid} is visible to the token of this target; proxmox.list_vms names those there are"
        )
    }))
}

/// A guest as its node tells it.
pub(super) fn now(guest: &Guest, row: &Value) -> Map<String, Value> {
    let mut told = known(guest);
    told.extend(row::pick(row, FIELDS));
    // Told only where it is yes.
    told.entry("template").or_insert(false.into());
    if let Some(ha) = row.get("ha") {
        told.extend(row::pick(ha, HIGH_AVAILABILITY));
    }
    let tags = row::tags(row);
    if !tags.is_empty() {
        told.insert("tags".into(), tags.into());
    }
    told
}

/// A guest whose node gives no answer: what it did last proves nothing.
fn away(guest: &Guest) -> Map<String, Value> {
    let mut told = known(guest);
    told.insert("status".into(), "unknown".into());
    for name in LASTING {
        if let Some(value) = guest.get(name) {
            told.insert(name.into(), value.clone());
        }
    }
    told
}

fn known(guest: &Guest) -> Map<String, Value> {
    let mut told = Map::new();
    told.insert("vmid".into(), guest.vmid().into());
    for name in ["type", "node"] {
        if let Some(value) = guest.get(name) {
            told.insert(name.into(), value.clone());
        }
    }
    told
}

fn told(asked: &Asked, guest: &Guest, told: &Map<String, Value>) -> Result<ToolResult, UpstreamError> {
    let mut text = figures::text(&guest.label(), told);
    if told.get("status").is_some_and(|status| status == "unknown") {
        text.push_str("\nIts node gives no answer, so its state is not known.");
    }
    if let (Some(expected), Some(node)) = (&asked.node, guest.node())
        && expected != node
    {
        text.push_str(&format!(
            "\nIt was expected on {} and is on {}.",
            shown(expected),
            shown(node)
        ));
    }
    said::result(&text, told)
}
