//! `tools/call`: one call, with what happens on the way where the caller wants to be told.
//!
//! Arguments are a slice of the message: what the core checks, hashes and sends are the bytes that came.

mod run;

use bytes::Bytes;
use toolgate_contract::v1::CallRequest;

use crate::mcp::{
    envelope::{Params, text},
    failure::{self, Answered},
    fault::Fault,
    level::Level,
    reply::{Answer, Reply},
    result,
    server::{Asked, Server},
};
use crate::problem::Problem;

/// Name and arguments of a call.
struct Call {
    name: String,
    arguments: Bytes,
    target_id: Option<String>,
}

impl Call {
    fn read(params: &Params) -> Result<Self, Fault> {
        let name = params.name.as_ref().and_then(text);
        let name = name.ok_or_else(|| Fault::params("params.name is missing or no text"))?;
        let arguments = params.arguments.clone().unwrap_or_default();
        if arguments.first().is_some_and(|first| *first != b'{') {
            return Err(Fault::params("params.arguments must be an object"));
        }
        let target_id = match &params.target_id {
            [None, None] => None,
            [Some(id), None] | [None, Some(id)] => {
                Some(text(id).ok_or_else(|| Fault::params("params.targetId must be a text"))?)
            }
            [Some(_), Some(_)] => return Err(Fault::params("params.targetId is given twice")),
        };
        Ok(Self {
            name,
            arguments,
            target_id,
        })
    }
}

pub(in crate::mcp) async fn answer(server: &Server, asked: Asked) -> Reply {
    let call = match Call::read(&asked.params) {
        Ok(call) => call,
        Err(fault) => return fault.about(Some(asked.id)).into(),
    };
    let level = level(server, &asked);
    if asked.streams && (asked.meta.progress.is_some() || level.is_some()) {
        return run::answer(server, asked, call, level).await;
    }
    let (cancelled, _place) = server.note(&asked);
    tokio::select! {
        biased;
        reply = at_once(server, asked, call) => reply,
        () = cancelled.cancelled() => Reply::Nothing,
    }
}

/// The least level of log messages that this call may send; none where nobody asked.
fn level(server: &Server, asked: &Asked) -> Option<Level> {
    if asked.era.is_modern() {
        return asked.meta.log_level;
    }
    let scope = asked.scope.filter(|_| asked.is_conversation)?;
    server.levels.of(scope)
}

async fn at_once(server: &Server, asked: Asked, call: Call) -> Reply {
    let request = asked.caller.request(CallRequest {
        name: call.name,
        arguments: call.arguments,
        target_id: call.target_id,
    });
    match server.link.ask(server.link.broker().call(request)).await {
        Ok(answer) => {
            let message = result::write(&asked.id, asked.era, &answer, &server.info);
            Answer::to_call(message, answer.correlation_id).into()
        }
        Err(problem) => failed(server, problem, &asked.id, asked.era, asked.in_session),
    }
}

fn failed(
    server: &Server,
    problem: Problem,
    id: &crate::mcp::envelope::Id,
    era: crate::mcp::era::Era,
    in_session: bool,
) -> Reply {
    match failure::of_call(&problem.into_failure(), id, era, in_session, &server.info) {
        Answered::Result(message, beside) => Answer {
            beside,
            ..Answer::result(message)
        }
        .into(),
        Answered::Error(fault) => fault.into(),
        Answered::Nothing => Reply::Nothing,
    }
}
