//! One guest, out of a row of the cluster. Pure.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::adapters::{
    proxmox::row::{self, Field},
    said::shown,
};

const FIELDS: &[Field] = &[
    Field::text("type"),
    Field::text("node"),
    Field::text("status"),
    Field::text("name"),
    Field::flag("template"),
    Field::whole("uptime"),
    Field::number("cpu"),
    Field::number("maxcpu"),
    Field::whole("mem"),
    Field::whole("maxmem"),
    Field::whole("memhost"),
    Field::whole("disk"),
    Field::whole("maxdisk"),
    Field::whole("netin"),
    Field::whole("netout"),
    Field::whole("diskread"),
    Field::whole("diskwrite"),
    Field::text("lock"),
    Field::text("pool"),
    Field::text("hastate"),
];

/// A virtual machine or a container; what the cluster does not tell is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::adapters::proxmox) struct Guest {
    vmid: i64,
    #[serde(flatten)]
    told: Map<String, Value>,
}

impl Guest {
    /// Out of a row; one without a number, or of a node, a store or a pool, is none.
    pub(in crate::adapters::proxmox) fn read(row: &Value) -> Option<Self> {
        // `qemu/100`
        let id = row::text(row, "id");
        let (kind, number) = id.as_deref().and_then(|id| id.split_once('/')).unzip();
        let vmid = row::whole(row, "vmid").or_else(|| number?.parse().ok())?;
        let mut told = row::pick(row, FIELDS);
        if !told.contains_key("type")
            && let Some(kind) = kind
        {
            told.insert("type".into(), kind.into());
        }
        let is_guest = |kind: &Value| matches!(kind.as_str(), Some("qemu" | "lxc" | "openvz"));
        if told.get("type").is_some_and(|kind| !is_guest(kind)) {
            return None;
        }
        // Older clusters leave it out where it is no. Of a guest on a node that is down nobody knows.
        let is_away = told.get("status").is_some_and(|status| status == "unknown");
        if !is_away {
            told.entry("template").or_insert(false.into());
        }
        let tags = row::tags(row);
        if !tags.is_empty() {
            told.insert("tags".into(), tags.into());
        }
        Some(Self { vmid, told })
    }

    pub(in crate::adapters::proxmox) fn vmid(&self) -> i64 {
        self.vmid
    }

    pub(in crate::adapters::proxmox) fn node(&self) -> Option<&str> {
        self.text("node")
    }

    /// `qemu` or `lxc`.
    pub(in crate::adapters::proxmox) fn kind(&self) -> Option<&str> {
        self.text("type")
    }

    pub(super) fn status(&self) -> Option<&str> {
        self.text("status")
    }

    /// What is told of it under this name.
    pub(in crate::adapters::proxmox) fn get(&self, name: &str) -> Option<&Value> {
        self.told.get(name)
    }

    /// `web-1`, or its number.
    pub(in crate::adapters::proxmox) fn label(&self) -> String {
        let name = self.text("name");
        name.map_or_else(
            || self.vmid.to_string(),
            |name| format!("{} {}", self.vmid, shown(name)),
        )
    }

    /// One line for reading.
    pub(super) fn line(&self) -> String {
        let kind = shown(self.kind().unwrap_or("guest"));
        let mut line = format!("{}: {kind}", self.label());
        if let Some(node) = self.node() {
            line.push_str(&format!(" on {}", shown(node)));
        }
        match self.told.get("template") {
            Some(Value::Bool(true)) => line.push_str(", template"),
            _ => line.push_str(&format!(", {}", shown(self.status().unwrap_or("state not told")))),
        }
        if let Some(lock) = self.text("lock") {
            line.push_str(&format!(", locked: {}", shown(lock)));
        }
        line
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.told.get(name).and_then(Value::as_str)
    }
}
