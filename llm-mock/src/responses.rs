//! `POST /v1/responses`: read, play, and write, whole or as a stream.

mod events;
mod history;
mod whole;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use serde_json::Value;

use crate::{
    conversation::switch,
    play::play,
    refusal::Refusal,
    server::Asked,
    sse,
    stamp::{id, tokens},
};

/// What an answer repeats of its request.
#[derive(Debug)]
struct Frame<'a> {
    id: String,
    model: &'a str,
    body: &'a Value,
    parallel: bool,
    input_tokens: usize,
}

pub(crate) fn answer(asked: &Asked<'_>) -> Result<Response, Refusal> {
    let conversation = history::read(asked.body)?;
    let streamed = switch(asked.body, "stream", false)?;
    let frame = Frame {
        id: id("resp_", asked.bytes),
        model: asked.script.model(),
        body: asked.body,
        parallel: conversation.toolbox.parallel,
        input_tokens: tokens(asked.bytes.len()),
    };
    let said = play(asked.script, &conversation);
    if streamed {
        return Ok(sse::response(events::write(&frame, &said)));
    }
    Ok(Json(whole::write(&frame, &whole::items(&frame, &said))).into_response())
}

#[cfg(test)]
mod tests;
