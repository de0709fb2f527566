//! Requests in, told answers out.

use std::{collections::HashSet, time::Instant};

use serde_json::{Value, json};
use toolgate_contract::frame::{Frame, FrameId, GoAway, Kind, MAX_CHUNK, Refusal, RefusalCode};

use super::{Reply, Shared};
use crate::uplink::Link;

/// Serves one connection to its end.
pub(super) async fn serve(mut link: Link, shared: &Shared) {
    // A command that hangs ends when it is cancelled, as on a real host.
    let mut hanging = HashSet::new();
    while let Ok(frame) = link.receive().await {
        let carried = match frame.header.kind {
            Kind::Request => {
                if shared.reply() == Reply::Hang {
                    hanging.insert(frame.header.id.clone());
                }
                request(&mut link, shared, frame).await
            }
            Kind::Ping => {
                link.send(&Frame::new(Kind::Pong, frame.header.id, frame.body))
                    .await
            }
            Kind::Cancel => {
                shared
                    .seen
                    .send_modify(|seen| seen.cancelled_at.push(Instant::now()));
                let id = frame.header.id;
                match hanging.remove(&id) {
                    true => {
                        let refusal = Refusal::new(RefusalCode::Cancelled, "cancelled");
                        link.send(&Frame::refusal(id, &refusal)).await
                    }
                    false => Ok(()),
                }
            }
            Kind::GoAway => {
                let away = frame.read::<GoAway>(Kind::GoAway).ok();
                shared
                    .seen
                    .send_modify(|seen| seen.goaway = away.map(|away| away.reason));
                Ok(())
            }
            _ => Ok(()),
        };
        if carried.is_err() {
            return;
        }
    }
}

async fn request(link: &mut Link, shared: &Shared, frame: Frame) -> Result<(), String> {
    let params: Value = serde_json::from_slice(&frame.body).unwrap_or_default();
    let command = params["arguments"]["command"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    shared.seen.send_modify(|seen| {
        seen.commands.push(command.clone());
        seen.received_at.push(Instant::now());
    });
    let id = frame.header.id;
    match shared.reply() {
        Reply::Prints(text) => respond(link, id, result(&command, 0, &text).to_string()).await,
        Reply::PrintsAfter(wait, text) => {
            // A slow host; nothing is waited for.
            tokio::time::sleep(wait).await;
            respond(link, id, result(&command, 0, &text).to_string()).await
        }
        Reply::PrintsWhenTold(text) => {
            shared.told.notified().await;
            respond(link, id, result(&command, 0, &text).to_string()).await
        }
        Reply::Exits(code) => respond(link, id, result(&command, code, "").to_string()).await,
        Reply::Huge(bytes) => respond(link, id, result(&command, 0, &"x".repeat(bytes)).to_string()).await,
        Reply::Garbage => respond(link, id, "\u{0}{not json").await,
        Reply::Shapeless => respond(link, id, r#"{"content":"none","structuredContent":7}"#).await,
        Reply::Says(answer) => respond(link, id, answer).await,
        Reply::Refuses(code) => {
            link.send(&Frame::refusal(id, &Refusal::new(code, "told to refuse")))
                .await
        }
        Reply::Hang => Ok(()),
        Reply::Drop => Err("told to drop".into()),
    }
}

/// In pieces, without the bounds that a well-behaved relay keeps.
async fn respond(link: &mut Link, id: FrameId, body: impl Into<String>) -> Result<(), String> {
    let body = body.into().into_bytes();
    let mut pieces = body.chunks(MAX_CHUNK).peekable();
    while let Some(piece) = pieces.next() {
        let mut frame = Frame::new(Kind::Response, id.clone(), piece.to_vec());
        frame.header.more = pieces.peek().is_some();
        link.send(&frame).await?;
    }
    Ok(())
}

/// What `ssh.run_whitelisted_command` answers.
fn result(command: &str, exit_code: i32, stdout: &str) -> Value {
    json!({
        "content": [{"type": "text", "text": stdout}],
        "structuredContent": {
            "command": command, "exit_code": exit_code, "stdout": stdout, "stderr": "",
            "truncated": false, "duration_ms": 1
        },
        "isError": false
    })
}
