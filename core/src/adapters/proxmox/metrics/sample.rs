//! The samples of a node, out of its answer. Pure.
//!
//! Steps of several widths may stand in one answer, and samples may hold nothing but their time.

use serde_json::{Map, Value};

use crate::adapters::proxmox::{
    figures::{bytes, duration, percent},
    row::{self, Field},
};

/// Samples in one answer; the widest there is has 1,460.
const MOST: usize = 2_000;

const FIELDS: &[Field] = &[
    Field::whole("time"),
    Field::number("loadavg"),
    Field::number("maxcpu"),
    Field::number("cpu"),
    Field::number("iowait"),
    Field::number("memtotal"),
    Field::number("memused"),
    Field::number("memavailable"),
    Field::number("swaptotal"),
    Field::number("swapused"),
    Field::number("roottotal"),
    Field::number("rootused"),
    Field::number("netin"),
    Field::number("netout"),
    Field::number("arcsize"),
    Field::number("pressurecpusome"),
    Field::number("pressureiosome"),
    Field::number("pressureiofull"),
    Field::number("pressurememorysome"),
    Field::number("pressurememoryfull"),
];

/// The samples, oldest first; those without a time are none. Of too many the newest stay.
pub(super) fn read(rows: &Value) -> Vec<Map<String, Value>> {
    let rows = rows.as_array().into_iter().flatten();
    let mut samples: Vec<Map<String, Value>> = rows
        .map(|row| row::pick(row, FIELDS))
        .filter(|sample| time(sample).is_some())
        .collect();
    samples.sort_by_key(time);
    samples.split_off(samples.len().saturating_sub(MOST))
}

/// What they say together.
pub(super) fn lines(samples: &[Map<String, Value>], timeframe: &str) -> Vec<String> {
    let (Some(first), Some(last)) = (samples.first().and_then(time), samples.last().and_then(time)) else {
        return vec![];
    };
    let mut lines = vec![format!(
        "{} samples of the {timeframe}, over {}",
        samples.len(),
        duration(last.saturating_sub(first))
    )];
    lines.extend(range(samples, "CPU", "cpu", percent));
    #[allow(
        clippy::cast_possible_truncation,
        reason = "bytes of a machine, and told roughly"
    )]
    lines.extend(range(samples, "Memory", "memused", |used| bytes(used as i64)));
    lines
}

fn range(
    samples: &[Map<String, Value>],
    label: &str,
    name: &str,
    tell: impl Fn(f64) -> String,
) -> Option<String> {
    let values = samples.iter().filter_map(|sample| sample.get(name)?.as_f64());
    let (mut least, mut most, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0_u32);
    for value in values {
        least = least.min(value);
        most = most.max(value);
        sum += value;
        count += 1;
    }
    (count > 0).then(|| {
        let mean = sum / f64::from(count);
        format!(
            "{label} {} to {}, {} on average",
            tell(least),
            tell(most),
            tell(mean)
        )
    })
}

fn time(sample: &Map<String, Value>) -> Option<i64> {
    sample.get("time").and_then(Value::as_i64)
}
