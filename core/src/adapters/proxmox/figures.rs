//! How figures read: shares as percent, bytes in units, seconds as days and hours. Pure.

use serde_json::{Map, Value};

use super::row;
use crate::adapters::said::shown;

/// A guest in a few lines.
pub(super) fn text(label: &str, told: &Map<String, Value>) -> String {
    let told = &Value::Object(told.clone());
    let word = |name: &str| row::text(told, name).map(|word| shown(&word));
    let mut first = format!("{label}: {}", word("type").unwrap_or_else(|| "guest".into()));
    if let Some(node) = word("node") {
        first.push_str(&format!(" on {node}"));
    }
    if row::flag(told, "template") == Some(true) {
        first.push_str(", template");
    }
    if let Some(status) = word("status") {
        first.push_str(&format!(", {status}"));
        if let Some(finer) = word("qmpstatus").filter(|finer| *finer != status) {
            first.push_str(&format!(" ({finer})"));
        }
    }
    if let Some(seconds) = row::whole(told, "uptime").filter(|seconds| *seconds > 0) {
        first.push_str(&format!(", up {}", duration(seconds)));
    }
    if let Some(lock) = word("lock") {
        first.push_str(&format!(", locked: {lock}"));
    }
    let mut lines = vec![first];
    if let Some(share) = row::number(told, "cpu") {
        let of = row::number(told, "cpus").map_or_else(String::new, of_cpus);
        lines.push(format!("CPU {}{of}", percent(share)));
    }
    for (label, used, most) in [
        ("Memory", "mem", "maxmem"),
        ("Swap", "swap", "maxswap"),
        ("Disk", "disk", "maxdisk"),
    ] {
        lines.extend(use_of(told, label, used, most));
    }
    lines.join("\n")
}

/// `Memory 1.0 GiB of 4.0 GiB`, where both are told and there is something.
pub(super) fn use_of(row: &Value, label: &str, used: &str, most: &str) -> Option<String> {
    let (used, most) = (row::whole(row, used)?, row::whole(row, most)?);
    (most > 0).then(|| format!("{label} {} of {}", bytes(used), bytes(most)))
}

/// ` of 4 CPUs`
pub(super) fn of_cpus(cpus: f64) -> String {
    match cpus == 1.0 {
        true => " of 1 CPU".to_owned(),
        false => format!(" of {cpus} CPUs"),
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(super) fn bytes(bytes: i64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "one digit behind the point is told")]
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value.abs() < 1024.0 {
            return match unit {
                "B" => format!("{value} B"),
                _ => format!("{value:.1} {unit}"),
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

pub(super) fn duration(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds % 86_400 / 3_600, seconds % 3_600 / 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_easily() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(4_294_967_296), "4.0 GiB");
        assert_eq!(bytes(i64::MAX), "8388608.0 TiB");
        assert_eq!(duration(59), "0 min");
        assert_eq!(duration(7_260), "2 h 1 min");
        assert_eq!(duration(1_209_600), "14 d 0 h");
        assert_eq!(percent(0.0345), "3.5 %");
        assert_eq!(
            (of_cpus(1.0), of_cpus(1.5)),
            (" of 1 CPU".into(), " of 1.5 CPUs".into())
        );
    }
}
