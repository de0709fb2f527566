//! The present state of a node, out of its answer. Pure.

use serde_json::{Map, Value};

use crate::adapters::{
    proxmox::{
        figures::{duration, of_cpus, percent, use_of},
        row::{self, Field},
    },
    said::shown,
};

const FIELDS: &[Field] = &[
    Field::whole("uptime"),
    Field::number("cpu"),
    Field::number("wait"),
];
const MEMORY: &[Field] = &[
    Field::whole("total"),
    Field::whole("used"),
    Field::whole("free"),
    Field::whole("available"),
];
const DISK: &[Field] = &[
    Field::whole("total"),
    Field::whole("used"),
    Field::whole("free"),
    Field::whole("avail"),
];
const CPU: &[Field] = &[
    Field::text("model"),
    Field::whole("cores"),
    Field::whole("cpus"),
    Field::whole("sockets"),
    Field::number("mhz"),
];
const VERSIONS: &[Field] = &[Field::text("kversion"), Field::text("pveversion")];
const PARTS: [(&str, &[Field]); 4] = [
    ("memory", MEMORY),
    ("swap", MEMORY),
    ("rootfs", DISK),
    ("cpuinfo", CPU),
];

/// What a node tells of itself.
pub(super) fn read(row: &Value) -> Map<String, Value> {
    let mut told = row::pick(row, FIELDS);
    let load = load(row);
    if !load.is_empty() {
        told.insert("loadavg".into(), load.into());
    }
    for (name, fields) in PARTS {
        let part = row
            .get(name)
            .map(|part| row::pick(part, fields))
            .unwrap_or_default();
        if !part.is_empty() {
            told.insert(name.into(), part.into());
        }
    }
    told.extend(row::pick(row, VERSIONS));
    // The older field is on its way out.
    if !told.contains_key("kversion")
        && let Some(kernel) = row.get("current-kernel")
        && let Some(release) = row::text(kernel, "release")
    {
        told.insert("kversion".into(), release.into());
    }
    told
}

/// All of them, or none: one that is left out would move the others.
fn load(row: &Value) -> Vec<Value> {
    let told = row.get("loadavg").and_then(Value::as_array);
    let all: Option<Vec<f64>> = told.and_then(|told| told.iter().map(row::as_number).collect());
    all.unwrap_or_default().into_iter().map(Value::from).collect()
}

/// It in a few lines.
pub(super) fn lines(told: &Map<String, Value>) -> Vec<String> {
    let row = &Value::Object(told.clone());
    let mut lines = vec![];
    if let Some(seconds) = row::whole(row, "uptime") {
        lines.push(format!("Up {}", duration(seconds)));
    }
    if let Some(share) = row::number(row, "cpu") {
        let cpus = row.get("cpuinfo").and_then(|info| row::number(info, "cpus"));
        let of = cpus.map_or_else(String::new, of_cpus);
        let wait = row::number(row, "wait");
        let wait = wait.map_or_else(String::new, |wait| {
            format!(", waiting for disk {}", percent(wait))
        });
        lines.push(format!("CPU {}{of}{wait}", percent(share)));
    }
    if let Some(load) = row.get("loadavg").and_then(Value::as_array) {
        let load: Vec<String> = load.iter().map(ToString::to_string).collect();
        lines.push(format!("Load {}", load.join(" ")));
    }
    for (label, name) in [("Memory", "memory"), ("Swap", "swap"), ("Root disk", "rootfs")] {
        let part = row.get(name);
        lines.extend(part.and_then(|part| use_of(part, label, "used", "total")));
    }
    if let Some(version) = row::text(row, "pveversion") {
        lines.push(shown(&version));
    }
    lines
}
