//! `call`: invokes a tool, follows its stream, prints the result.
//!
//! Decides nothing: a name that is in no list is sent all the same, so that the gateway's answer is the one shown and
//! the attempt stands on the record.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value, json, value::RawValue};

use super::{arguments, list, profile, text};
use crate::{
    args::CallArgs,
    client::{
        Gateway, problem,
        sse::{Decoder, Event},
    },
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

// Four keep-alives of the gateway.
const SILENCE: Duration = Duration::from_secs(60);

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, args: &CallArgs) -> Result<Exit, Failure> {
    profile::warn_of_unknown(&gateway, args.profile.profile.as_deref()).await;
    let gateway = gateway.with_profile(args.profile.profile.as_deref());
    let ended = while_waiting(&format!("calling {}", args.name), call(&gateway, args)).await?;
    print(output, &ended)
}

/// How a call ended.
#[derive(Debug, Default, PartialEq)]
struct Ended {
    call: String,
    results: Vec<Map<String, Value>>,
    duration_ms: Option<i64>,
}

/// The structured result of one of the gateway's own tools.
pub(super) async fn structured(gateway: &Gateway, name: &str, arguments: &Value) -> Result<Value, Failure> {
    let ended = begin(gateway, body(name, &arguments.to_string(), None)?).await?;
    let said_no = ended.said_no();
    let Some(mut result) = ended.results.into_iter().next() else {
        return Err(Failure::failed(format!("{name} gave no result")));
    };
    if said_no {
        let text = result
            .get("content")
            .and_then(|content| content[0]["text"].as_str());
        return Err(Failure::failed(text.unwrap_or("the tool said no").to_owned()));
    }
    Ok(result.shift_remove("structuredContent").unwrap_or_default())
}

async fn call(gateway: &Gateway, args: &CallArgs) -> Result<Ended, Failure> {
    let catalog = gateway.get("/api/mcp/tools", &[]).await?;
    let tool = list(&catalog, "tools")
        .iter()
        .find(|tool| text(tool, "name") == args.name || text(tool, "functionName") == args.name);
    let arguments = arguments::build(args.args.as_deref(), &args.arg, tool)?;
    let target = args.target.as_deref().map(|wanted| target_id(tool, wanted));
    let body = body(&args.name, &arguments, target)?;
    begin(gateway, body)
        .await
        .map_err(|refused| with_manual(refused, tool))
}

async fn begin(gateway: &Gateway, body: String) -> Result<Ended, Failure> {
    let started = gateway.post_text("/api/mcp/invoke", body).await?;
    let stream = text(&started, "streamUrl");
    if !stream.starts_with('/') {
        return Err(Failure::failed(format!(
            "{} started the call but named no stream",
            gateway.url()
        )));
    }
    let ended = Ended {
        call: text(&started, "correlationId").into(),
        ..Ended::default()
    };
    follow(gateway, stream, ended).await
}

// A tool that is known and was asked in a way it is not made for has a page about it.
fn with_manual(refused: Failure, tool: Option<&Value>) -> Failure {
    let kind = refused
        .problem
        .as_ref()
        .and_then(|problem| problem.get("reason")?.as_str());
    match (kind, tool) {
        (Some("ARGUMENTS_INVALID" | "WRITE_REJECTED"), Some(tool)) => {
            let name = text(tool, "name").to_owned();
            refused.next(format!("`toolgate tools show {name}` tells what it takes"))
        }
        _ => refused,
    }
}

// Names are for people; the gateway takes ids only.
fn target_id(tool: Option<&Value>, wanted: &str) -> String {
    let targets = tool.map_or(&[][..], |tool| list(tool, "targets"));
    let named = targets.iter().find(|target| text(target, "name") == wanted);
    named.map_or(wanted, |target| text(target, "id")).into()
}

fn body(name: &str, arguments: &str, target: Option<String>) -> Result<String, Failure> {
    let broken = |error: serde_json::Error| Failure::usage(format!("the arguments are no JSON: {error}"));
    let raw = |value: &str| serde_json::value::to_raw_value(value).map_err(broken);
    let mut body: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
    body.insert("name", raw(name)?);
    body.insert(
        "arguments",
        RawValue::from_string(arguments.into()).map_err(broken)?,
    );
    if let Some(target) = target {
        body.insert("targetId", raw(&target)?);
    }
    serde_json::to_string(&body).map_err(broken)
}

async fn follow(gateway: &Gateway, stream: &str, mut ended: Ended) -> Result<Ended, Failure> {
    let mut response = gateway.stream(stream, &[]).await?;
    let mut decoder = Decoder::default();
    loop {
        let chunk = match tokio::time::timeout(SILENCE, response.chunk()).await {
            Ok(chunk) => chunk.map_err(|error| gateway.unreachable(&error))?,
            Err(_) => return Err(lost(&ended.call, "went silent")),
        };
        let Some(chunk) = chunk else {
            return Err(lost(&ended.call, "ended early"));
        };
        let events = decoder
            .push(&chunk)
            .map_err(|_| lost(&ended.call, "holds an event that is too large"))?;
        for event in events {
            if ended.take(&event)? {
                return Ok(ended);
            }
        }
    }
}

impl Ended {
    // True at the end of the stream.
    fn take(&mut self, event: &Event) -> Result<bool, Failure> {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        match event.name.as_str() {
            "tool_result" => {
                self.results.extend(data.as_object().cloned());
                Ok(false)
            }
            "done" => {
                self.duration_ms = data["durationMs"].as_i64();
                Ok(true)
            }
            "error" => {
                let status = data["status"]
                    .as_u64()
                    .and_then(|status| u16::try_from(status).ok());
                let retry = data["retryAfter"].as_u64();
                Err(problem::failure(
                    status.unwrap_or(500),
                    retry,
                    event.data.as_bytes(),
                    true,
                ))
            }
            _ => Ok(false),
        }
    }

    fn said_no(&self) -> bool {
        self.results
            .iter()
            .any(|result| result.get("isError") == Some(&Value::Bool(true)))
    }
}

fn lost(call: &str, how: &str) -> Failure {
    Failure::failed(format!("the stream of call {call} {how}")).next(format!(
        "`toolgate audit tail --correlation-id {call}` tells how the call ended"
    ))
}

fn print(output: Output, ended: &Ended) -> Result<Exit, Failure> {
    if output.json {
        let mut whole = json!({"correlationId": ended.call, "durationMs": ended.duration_ms});
        for (name, value) in ended.results.iter().flatten() {
            whole[name] = value.clone();
        }
        output.value(&whole)?;
    } else {
        for block in ended
            .results
            .iter()
            .filter_map(|result| result.get("content")?.as_array())
            .flatten()
        {
            match block["text"].as_str() {
                Some(text) => output.line(text.trim_end_matches('\n'))?,
                None => output.value(block)?,
            }
        }
    }
    Ok(if ended.said_no() { Exit::Failed } else { Exit::Done })
}

#[cfg(test)]
mod tests;
