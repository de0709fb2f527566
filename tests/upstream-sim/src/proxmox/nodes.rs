//! Nodes and guests that do something: figures that move with time, the same for everyone at the same moment.

use std::time::Duration;

use serde_json::{Value, json};

use crate::wall;

const GIB: f64 = 1_073_741_824.0;

/// What a node says of itself now, in the odd spellings of the real one.
pub(super) fn status(now: Duration) -> Value {
    let load = 0.6 + 0.4 * wave(now, 47.0);
    let used = 20.0 * GIB + 6.0 * GIB * wave(now, 90.0);
    json!({
        "uptime": 1_209_600 + now.as_secs(),
        "idle": 0,
        "cpu": 0.12 + 0.1 * wave(now, 31.0),
        "wait": 0.003,
        "loadavg": [format!("{load:.2}"), format!("{:.2}", load * 0.9), format!("{:.2}", load * 0.8)],
        "memory": {"total": whole(64.0 * GIB), "used": whole(used), "free": whole(40.0 * GIB), "available": whole(42.0 * GIB)},
        "swap": {"total": whole(8.0 * GIB), "used": 0, "free": whole(8.0 * GIB)},
        "rootfs": {"total": whole(94.0 * GIB), "used": whole(21.0 * GIB), "avail": whole(68.0 * GIB), "free": whole(73.0 * GIB)},
        "ksm": {"shared": 0},
        "cpuinfo": {"model": "AMD EPYC 7313P 16-Core Processor", "cores": 16, "cpus": 32, "sockets": "1",
                    "mhz": "2994.370", "user_hz": 100, "hvm": "1", "flags": "fpu vme de pse tsc msr pae mce cx8"},
        "kversion": "Linux 6.14.11-4-pve #1 SMP PREEMPT_DYNAMIC PMX 6.14.11-4",
        "current-kernel": {"sysname": "Linux", "release": "6.14.11-4-pve", "machine": "x86_64", "version": "#1 SMP"},
        "boot-info": {"mode": "efi", "secureboot": 0},
        "pveversion": "pve-manager/9.0.10/deb1ca707ec72a89",
    })
}

/// Samples of a node; here and there one is missing, and one holds nothing but its time.
pub(super) fn samples(frame: &str) -> Value {
    let (step, count) = match frame {
        "hour" => (60, 60),
        "day" => (60, 1440),
        "week" => (1800, 336),
        "month" => (1800, 1440),
        _ => (21_600, 1460),
    };
    let end = wall::seconds() / step * step;
    let sample = |back: u64| {
        let time = end - back * step;
        let at = Duration::from_secs(time);
        if back % 50 == 49 {
            return json!({"time": time});
        }
        let mut row = json!({
            "time": time,
            "loadavg": 0.6 + 0.4 * wave(at, 4700.0),
            "maxcpu": 32,
            "cpu": 0.12 + 0.1 * wave(at, 3100.0),
            "iowait": 0.003,
            "memtotal": 64.0 * GIB,
            "memused": 20.0 * GIB + 6.0 * GIB * wave(at, 9000.0),
            "swaptotal": 8.0 * GIB,
            "swapused": 0,
            "roottotal": 94.0 * GIB,
            "rootused": 21.0 * GIB,
            "netin": 120_000.0 + 60_000.0 * wave(at, 700.0),
            "netout": 90_000.0 + 40_000.0 * wave(at, 800.0),
            "memavailable": 42.0 * GIB,
            "pressurecpusome": 0.1,
            "pressureiosome": 0.02,
            "pressurememorysome": 0,
        });
        if back % 17 == 3
            && let Some(row) = row.as_object_mut()
        {
            row.remove("netin");
            row.remove("netout");
        }
        row
    };
    json!((0..count).rev().map(sample).collect::<Vec<_>>())
}

/// Lets the figures of a guest that runs move.
pub(super) fn stir(row: &mut Value, now: Duration) {
    if row["status"] != "running" {
        return;
    }
    let own = row["vmid"].as_u64().unwrap_or_default();
    let spread = f64::from(u32::try_from(own % 97).unwrap_or_default());
    let Some(fields) = row.as_object_mut() else { return };
    let most = fields.get("maxmem").and_then(Value::as_f64).unwrap_or(GIB);
    let share = 0.4 + 0.2 * wave(now, 60.0 + spread);
    fields.insert("cpu".into(), json!(0.05 + 0.04 * wave(now, 20.0 + spread)));
    fields.insert("mem".into(), json!(whole(most * share)));
    let sent = now.as_secs() * (5_000 + own * 17);
    for (key, value) in [
        ("netin", sent * 2),
        ("netout", sent),
        ("diskread", sent / 2),
        ("diskwrite", sent / 3),
    ] {
        fields.insert(key.into(), json!(value));
    }
    fields.insert("uptime".into(), json!(86_400 + own * 60 + now.as_secs()));
}

// Between -1 and 1, once around in so many seconds.
fn wave(now: Duration, period: f64) -> f64 {
    (now.as_secs_f64() / period * std::f64::consts::TAU).sin()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and far below 2^63"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}
