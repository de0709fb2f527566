//! One request and its answer.

use http::{HeaderValue, Response};
use hyper::body::Incoming;
use url::Url;

use super::{
    Answer, Fault,
    answer::status_text,
    body,
    connection::Connection,
    pool::{Pool, Turn},
    redirect,
    request::Head,
    stage::{Progress, Stage},
};

/// What came back.
pub(super) enum Hop {
    Answer(Answer),
    /// The target points to another address.
    Elsewhere(HeaderValue),
}

/// Reads this address once.
pub(super) async fn run(pool: &Pool, head: &Head, url: &Url, progress: &Progress) -> Result<Hop, Fault> {
    let turn = pool.turn(progress).await?;
    let (connection, response) = ask(&turn, head, url, progress).await?;
    progress.reached(Stage::Body);
    let (parts, incoming) = response.into_parts();
    let body = body::read(&parts.headers, incoming).await?;
    turn.keep(connection);
    if let Some(location) = redirect::location(parts.status, &parts.headers) {
        return Ok(Hop::Elsewhere(location));
    }
    Ok(Hop::Answer(Answer {
        status: parts.status,
        status_text: status_text(&parts.extensions),
        headers: parts.headers,
        body,
        moved_to: None,
    }))
}

async fn ask(
    turn: &Turn<'_>,
    head: &Head,
    url: &Url,
    progress: &Progress,
) -> Result<(Connection, Response<Incoming>), Fault> {
    if let Some(mut connection) = turn.warm() {
        progress.reached(Stage::Head);
        match connection.ask(head.request(url)?).await {
            Ok(response) => return Ok((connection, response)),
            // The target ended a connection that rested just as it was taken. What is asked only reads, so it is asked
            // once more, on a new one.
            Err(error) if !error.is_parse() => {}
            Err(error) => return Err(broken(&error)),
        }
    }
    let mut connection = turn.fresh(progress).await?;
    progress.reached(Stage::Head);
    let answered = connection.ask(head.request(url)?).await;
    answered
        .map(|response| (connection, response))
        .map_err(|error| broken(&error))
}

/// What an error of the connection means. Its own text is not told: it may hold what the target sent.
pub(super) fn broken(error: &hyper::Error) -> Fault {
    if error.is_parse_too_large() {
        return Fault::too_large("the headers of the answer are over the limit of 64 KiB");
    }
    if error.is_parse() {
        return Fault::invalid(
            "what answers there does not speak HTTP as it should; is this the right port?",
        );
    }
    Fault::unreachable("the target ended the connection before its answer was whole")
}
