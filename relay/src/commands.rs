//! The one method a host offers: one of six commands, parsed here once more.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    frame::{Frame, Offer, Refusal, RefusalCode},
    ssh::{self, Command},
};

use crate::{
    exec::{Exec, ExecError, Finished, find, plain},
    service::{Outcome, Service},
};

/// The method.
pub(crate) const METHOD: &str = "tools/call";
/// The tool behind it.
pub(crate) const TOOL: &str = "ssh.run_whitelisted_command";

/// What a command gets when the asker names no deadline, and the most it gets.
const LONGEST: Duration = Duration::from_secs(30);

/// Parameters of a call, as MCP has them. Closed: what is not known here is not passed over in silence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    arguments: Arguments,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
}

/// A result, as MCP has it.
#[derive(Serialize)]
struct CallResult {
    content: [Text; 1],
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<Structured>,
    #[serde(rename = "isError")]
    is_error: bool,
}

#[derive(Serialize)]
struct Text {
    r#type: &'static str,
    text: String,
}

/// `toolgate.tools.v1.RunWhitelistedCommandResponse`.
#[derive(Serialize)]
struct Structured {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    stdout: String,
    stderr: String,
    truncated: bool,
    duration_ms: u64,
}

impl Service for Exec {
    const OFFER: Offer = Offer::Host;
    const BUDGET: usize = 1024 * 1024;

    fn answer(self: Arc<Self>, request: Frame, cancelled: CancellationToken) -> BoxFuture<'static, Outcome> {
        async move {
            let method = request.header.method.as_deref().unwrap_or_default();
            match answer(
                &self,
                method,
                &request.body,
                request.header.deadline_ms,
                &cancelled,
            )
            .await
            {
                Ok(result) => Outcome::Result(result.into()),
                Err(refusal) => Outcome::Refused(refusal),
            }
        }
        .boxed()
    }
}

/// Answers one request with the JSON of a result, or refuses it.
pub(crate) async fn answer(
    exec: &Exec,
    method: &str,
    params: &[u8],
    deadline_ms: Option<u64>,
    cancelled: &CancellationToken,
) -> Result<Vec<u8>, Refusal> {
    let command = read(method, params)?;
    let wait = deadline_ms.map_or(LONGEST, Duration::from_millis).min(LONGEST);
    let result = run(exec, &command, Instant::now() + wait, cancelled).await?;
    serde_json::to_vec(&result).map_err(|_| Refusal::new(RefusalCode::Failed, "the result cannot be written"))
}

fn read(method: &str, params: &[u8]) -> Result<Command, Refusal> {
    if method != METHOD {
        return Err(Refusal::new(
            RefusalCode::UnknownMethod,
            format!("a host offers {METHOD} only"),
        ));
    }
    let params: Params = serde_json::from_slice(params).map_err(|_| {
        Refusal::new(
            RefusalCode::Malformed,
            "parameters are not {name, arguments: {command}}",
        )
    })?;
    if params.name != TOOL {
        return Err(Refusal::new(
            RefusalCode::UnknownMethod,
            format!("a host offers {TOOL} only"),
        ));
    }
    ssh::parse(&params.arguments.command)
        .map_err(|refused| Refusal::new(RefusalCode::WriteRejected, refused.to_string()))
}

async fn run(
    exec: &Exec,
    command: &Command,
    deadline: Instant,
    cancelled: &CancellationToken,
) -> Result<CallResult, Refusal> {
    let Some(program) = find(command.program()) else {
        return Ok(said_no(format!(
            "{} is not available on this host",
            command.program()
        )));
    };
    match exec
        .run(lane(command), &program, &command.arguments(), deadline, cancelled)
        .await
    {
        Ok(finished) => Ok(report(command, &finished)),
        Err(ExecError::Stuck) => Ok(said_no(format!(
            "an earlier `{command}` is stuck in the kernel of this host, often on a dead network file system; \
             it is not started again until that one ends"
        ))),
        Err(ExecError::TimedOut) => Err(Refusal::new(
            RefusalCode::DeadlineExceeded,
            "the command was still running at the deadline",
        )),
        Err(ExecError::Cancelled) => Err(Refusal::new(RefusalCode::Cancelled, "cancelled")),
        Err(ExecError::Spawn(error)) => {
            tracing::error!(program = command.program(), %error, "a command could not be started");
            Err(Refusal::new(
                RefusalCode::Failed,
                "the command could not be started; see the relay's log",
            ))
        }
    }
}

/// Commands of one kind take turns.
fn lane(command: &Command) -> &'static str {
    match command {
        Command::Uptime => "uptime",
        Command::DiskFree => "df",
        Command::FreeMemory => "free",
        Command::ServiceStatus(_) => "systemctl status",
        Command::Journal(_) => "journalctl",
        Command::ListServices => "systemctl list-units",
    }
}

fn said_no(text: String) -> CallResult {
    CallResult {
        content: [Text { r#type: "text", text }],
        structured: None,
        is_error: true,
    }
}

fn report(command: &Command, finished: &Finished) -> CallResult {
    let (stdout, stderr) = (plain(&finished.stdout), plain(&finished.stderr));
    let text = readable(finished, &stdout, &stderr);
    let structured = Structured {
        // As it was asked for, canonical; the options that keep it from a pager are our affair.
        command: command.to_string(),
        exit_code: finished.exit_code,
        signal: finished.signal,
        stdout,
        stderr,
        truncated: finished.truncated,
        duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
    };
    CallResult {
        content: [Text { r#type: "text", text }],
        structured: Some(structured),
        is_error: false,
    }
}

/// What was printed, and one line for each thing a reader should not miss.
fn readable(finished: &Finished, stdout: &str, stderr: &str) -> String {
    let mut text = stdout.to_owned();
    let mut note = |line: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        text.push('\n');
    };
    if !stderr.trim().is_empty() {
        note(format!("[standard error] {}", stderr.trim_end()));
    }
    if finished.truncated {
        note("[output cut at 256 KiB]".to_owned());
    } else if let Some(signal) = finished.signal {
        note(format!("[ended by signal {signal}]"));
    }
    if let Some(code) = finished.exit_code.filter(|&code| code != 0) {
        note(format!("[exit code {code}]"));
    }
    text
}

#[cfg(test)]
mod tests;
