//! `audit tail`: the latest events, oldest of them first, and with `-f` those to come.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use crate::{
    args::TailArgs,
    client::Gateway,
    commands::{
        list, text,
        when::{Direction, point},
    },
    failure::{Exit, Failure},
    output::Output,
};

const PATH: &str = "/api/audit/events";
const PAUSE: Duration = Duration::from_secs(1);
const PAGE: u32 = 500;

/// Runs the command.
pub(super) async fn run(gateway: &Gateway, output: Output, args: &TailArgs) -> Result<Exit, Failure> {
    let filters = filters(args)?;
    let mut last = 0;
    for event in newest(gateway, &filters, args.lines).await? {
        last = print(output, &event)?;
    }
    if !args.follow {
        return Ok(Exit::Done);
    }
    // Until the reader leaves, or the person interrupts.
    loop {
        tokio::time::sleep(PAUSE).await;
        for event in since(gateway, &filters, last).await? {
            last = print(output, &event)?;
        }
    }
}

fn filters(args: &TailArgs) -> Result<Vec<(&'static str, String)>, Failure> {
    let given = [
        ("principal", &args.principal),
        ("tool", &args.tool),
        ("targetId", &args.target),
        ("result", &args.result),
        ("event", &args.event),
        ("correlationId", &args.correlation_id),
    ];
    let texts = given
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)));
    let mut filters: Vec<_> = texts.collect();
    for (name, flag, value) in [
        ("since", "--since", &args.since),
        ("until", "--until", &args.until),
    ] {
        if let Some(value) = value {
            filters.push((name, point(flag, value, Direction::Back)?));
        }
    }
    Ok(filters)
}

async fn newest(
    gateway: &Gateway,
    filters: &[(&'static str, String)],
    count: u32,
) -> Result<Vec<Value>, Failure> {
    let mut query = filters.to_vec();
    query.push(("pageSize", count.to_string()));
    let page = gateway.get(PATH, &query).await?;
    Ok(list(&page, "events").iter().rev().cloned().collect())
}

// Pages back to the last event already printed, so that a burst between two looks loses nothing.
async fn since(
    gateway: &Gateway,
    filters: &[(&'static str, String)],
    last: i64,
) -> Result<Vec<Value>, Failure> {
    let mut fresh = Vec::new();
    let mut cursor = String::new();
    loop {
        let mut query = filters.to_vec();
        query.push(("pageSize", PAGE.to_string()));
        if !cursor.is_empty() {
            query.push(("cursor", cursor));
        }
        let page = gateway.get(PATH, &query).await?;
        let events = list(&page, "events");
        let before = fresh.len();
        fresh.extend(events.iter().take_while(|event| seq(event) > last).cloned());
        cursor = text(&page, "nextCursor").into();
        if fresh.len() - before < events.len() || cursor.is_empty() {
            break;
        }
    }
    fresh.reverse();
    Ok(fresh)
}

fn seq(event: &Value) -> i64 {
    event["seq"].as_i64().unwrap_or_default()
}

fn print(output: Output, event: &Value) -> Result<i64, Failure> {
    if output.json {
        output.raw(format!("{event}\n").as_bytes())?;
    } else {
        output.line(&line(event))?;
    }
    Ok(seq(event))
}

fn line(event: &Value) -> String {
    let mut line = format!(
        "{:>7}  {}  {}",
        seq(event),
        text(event, "time"),
        text(event, "event")
    );
    let named = [
        ("by", "principal"),
        ("via", "facade"),
        ("tool", "capability"),
        ("target", "targetId"),
        ("result", "result"),
        ("reason", "reason"),
        ("call", "correlationId"),
    ];
    for (label, name) in named {
        // One event, one line: names are chosen by callers.
        let value = text(event, name).replace(['\n', '\t'], " ");
        if !value.is_empty() {
            line.push_str(&format!("  {label}={value}"));
        }
    }
    for (label, value) in object(&event["detail"]) {
        line.push_str(&format!("  {label}={value}"));
    }
    if let Some(ms) = event["durationMs"].as_i64().filter(|ms| *ms > 0) {
        line.push_str(&format!("  {ms}ms"));
    }
    line
}

// What the event is about, in the words of its detail; nested facts are left to --json.
fn object(detail: &Value) -> Vec<(String, String)> {
    let members = detail.as_object().into_iter().flatten();
    let mut told: Vec<_> = members
        .filter(|(name, _)| !matches!(name.as_str(), "before" | "after"))
        .filter_map(|(name, value)| Some((name.clone(), word(value)?)))
        .collect();
    let names =
        |side: &str| -> BTreeSet<&str> { list(detail, side).iter().filter_map(Value::as_str).collect() };
    let (before, after) = (names("before"), names("after"));
    for (label, changed) in [("off", &after - &before), ("on", &before - &after)] {
        if !changed.is_empty() {
            let changed: Vec<&str> = changed.into_iter().collect();
            told.push((label.into(), changed.join(",")));
        }
    }
    told
}

// One event, one line: names are chosen by callers.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.replace(['\n', '\t'], " ")),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{line, since};
    use crate::client::fake::{self, Fake};

    #[tokio::test]
    async fn a_burst_between_two_looks_is_read_page_by_page_and_printed_once() {
        let page = |seqs: &[i64], next: &str| {
            let events: Vec<_> = seqs.iter().map(|seq| json!({"seq": seq})).collect();
            fake::json(200, &json!({"events": events, "nextCursor": next}).to_string())
        };
        let fake = Fake::answering([
            ("GET /api/audit/events?pageSize=500 ", page(&[9, 8], "c1")),
            (
                "GET /api/audit/events?pageSize=500&cursor=c1 ",
                page(&[7, 6], "c2"),
            ),
        ])
        .await;
        let fresh = since(&fake.gateway, &[], 6).await.unwrap();
        let seqs: Vec<i64> = fresh.iter().map(super::seq).collect();
        assert_eq!(seqs, [7, 8, 9]);
        assert_eq!(fake.asked().len(), 2);
    }

    #[test]
    fn an_event_is_one_line_of_what_is_known() {
        let event = json!({"seq": 7, "time": "2026-01-01T00:00:00.000000Z", "event": "adapter.capability_invoked",
            "principal": "a\nb", "capability": "ssh.run_whitelisted_command", "targetId": "", "result": "success",
            "reason": "", "durationMs": 12, "correlationId": "01C"});
        assert_eq!(
            line(&event),
            "      7  2026-01-01T00:00:00.000000Z  adapter.capability_invoked  by=a b  \
             tool=ssh.run_whitelisted_command  result=success  call=01C  12ms"
        );
    }

    #[test]
    fn what_a_change_was_about_is_told_from_its_detail() {
        let check = |detail: serde_json::Value, expected: &str| {
            let event = json!({"seq": 1, "time": "T", "event": "e", "detail": detail});
            assert_eq!(line(&event), format!("      1  T  e{expected}"));
        };
        check(
            json!({"id": "01T", "name": "ci\nx", "role": "agent", "profile": null}),
            "  id=01T  name=ci x  role=agent",
        );
        check(json!({"count": 412}), "  count=412");
        check(
            json!({"before": ["a.b", "c.d"], "after": ["c.d", "e.f", "g.h"]}),
            "  off=e.f,g.h  on=a.b",
        );
        check(json!(null), "");
    }
}
