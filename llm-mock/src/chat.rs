//! `POST /v1/chat/completions`: read, play, and write, whole or as a stream.

mod chunks;
mod history;
mod whole;

use axum::{
    Json,
    response::{IntoResponse, Response},
};

use crate::{
    conversation::switch,
    play::play,
    refusal::Refusal,
    server::Asked,
    sse,
    stamp::{id, tokens},
};

/// What stands in every part of one answer.
#[derive(Debug)]
struct Frame<'a> {
    id: String,
    model: &'a str,
    prompt_tokens: usize,
}

pub(crate) fn answer(asked: &Asked<'_>) -> Result<Response, Refusal> {
    let conversation = history::read(asked.body)?;
    let streamed = switch(asked.body, "stream", false)?;
    let with_usage = asked
        .body
        .get("stream_options")
        .map_or(Ok(false), |options| switch(options, "include_usage", false))?;
    let frame = Frame {
        id: id("chatcmpl-", asked.bytes),
        model: asked.script.model(),
        prompt_tokens: tokens(asked.bytes.len()),
    };
    let said = play(asked.script, &conversation);
    if streamed {
        return Ok(sse::response(chunks::write(&frame, &said, with_usage)));
    }
    Ok(Json(whole::write(&frame, &said)).into_response())
}

#[cfg(test)]
mod tests;
