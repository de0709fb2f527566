//! `POST /openai/v1/tool_calls`: carries out the calls of one turn and answers each of them.
//!
//! The answer is an HTTP error only where there is no turn at all: a body that is none, a credential that is not
//! accepted. Everything else is told to the model, so that the conversation goes on.

use axum::{
    body::Body,
    extract::{RawQuery, Request, State},
    response::Response,
};
use http::StatusCode;
use toolgate_contract::v1::ErrorReason;

use super::{form, run, translate};
use crate::{
    body,
    link::{Caller, OwnRefusal},
    problem::Problem,
    routes::{Shared, json_answer},
};

pub(super) const PATH: &str = "/openai/v1/tool_calls";

pub(super) async fn tool_calls(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
    caller: Caller,
    request: Request<Body>,
) -> Result<Response, Problem> {
    form::none(query.as_deref())?;
    let (mut parts, body) = request.into_parts();
    // Values are not counted here: a completion may bring along many that are never looked at. Those of the arguments
    // are the core's to count.
    let body = body::read(body, &mut parts, &shared).await?;
    let turn = translate::read(&body).map_err(|failure| Problem::refusing(*failure))?;
    let is_refused = turn.asked.iter().any(|asked| asked.call.is_err());
    let answered = run::turn(&shared, caller, turn.asked).await?;
    let written = translate::answer(turn.form, &answered).map_err(|error| {
        tracing::error!(%error, "facts of the core about a call are no JSON");
        Problem::internal()
    })?;
    let mut response = json_answer(StatusCode::OK, written);
    if is_refused {
        let refusal = OwnRefusal(ErrorReason::RequestMalformed);
        response.extensions_mut().insert(refusal);
    }
    Ok(response)
}
