//! Carries out the calls of a turn side by side.
//!
//! They live in the request's own future: when the client leaves, all that are under way are dropped, and with them
//! cancelled. A credential that is not accepted ends the turn; any other failure is the answer to its call.

use futures::{StreamExt, stream};
use toolgate_contract::v1::{CallRequest, CallResponse, ErrorReason, Failure, GetSelfRequest};

use super::{
    deadline::Deadline,
    translate::{Answered, Asked, Call, Ending},
};
use crate::{link::Caller, problem::Problem, routes::Shared};

/// Calls under way at a time: as many as a user's limit lets through at once, so that none waits that could run.
const AT_ONCE: usize = 64;
/// Bytes of results that one answer holds, more than any model reads.
const ROOM: usize = 32 * 1024 * 1024;

/// Answers every id of a turn, in order.
pub(super) async fn turn(
    shared: &Shared,
    mut caller: Caller,
    asked: Vec<Asked>,
) -> Result<Vec<Answered>, Problem> {
    let deadline = Deadline::of(&mut caller);
    if !asked.iter().any(|asked| asked.call.is_ok()) {
        // Nobody else asks the core who this is.
        let request = caller.again().request(GetSelfRequest {});
        shared.link.ask(shared.link.sessions().get_self(request)).await?;
    }
    let calls = asked.into_iter().enumerate().map(|(n, asked)| {
        let mut caller = caller.again();
        async move {
            let ending = match asked.call {
                Err(failure) => Ending::Failed(failure),
                Ok(call) => {
                    deadline.tell(&mut caller);
                    ending(shared, caller, call).await?
                }
            };
            Ok::<_, Problem>((n, Answered { id: asked.id, ending }))
        }
    });
    let mut under_way = stream::iter(calls).buffer_unordered(AT_ONCE);
    let mut answered = Vec::new();
    let mut room = ROOM;
    while let Some(next) = under_way.next().await {
        let (n, mut next) = next?;
        bound(&mut next.ending, &mut room);
        answered.push((n, next));
    }
    answered.sort_unstable_by_key(|(n, _)| *n);
    Ok(answered.into_iter().map(|(_, answered)| answered).collect())
}

async fn ending(shared: &Shared, caller: Caller, call: Call) -> Result<Ending, Problem> {
    let request = caller.request(CallRequest {
        name: call.name,
        arguments: call.arguments,
        target_id: None,
    });
    let outcome = shared.link.ask(shared.link.broker().call(request)).await;
    match outcome.map_err(Problem::into_failure) {
        Ok(outcome) => Ok(Ending::Ran(outcome)),
        Err(failure) if failure.reason() == ErrorReason::CredentialInvalid => Err(failure.into()),
        Err(failure) => Ok(Ending::Failed(Box::new(failure))),
    }
}

/// A result that finds no room any more is told to be too large.
fn bound(ending: &mut Ending, room: &mut usize) {
    let Ending::Ran(outcome) = &*ending else { return };
    match room.checked_sub(size(outcome)) {
        Some(left) => *room = left,
        None => {
            let text =
                "the results of this turn are too large together; ask for less, or for fewer tools at a time";
            let failure = Failure::new(ErrorReason::UpstreamTooLarge, text)
                .with_metadata("correlationId", &outcome.correlation_id);
            *ending = Ending::Failed(Box::new(failure));
        }
    }
}

fn size(outcome: &CallResponse) -> usize {
    outcome.result.as_ref().map_or(0, |result| {
        result.content.len() + result.structured_content.len() + result.meta.len() + result.raw.len()
    })
}
