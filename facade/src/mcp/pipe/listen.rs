//! What the server says in a conversation outside of its client's requests, as one stream.
//!
//! Bounded as every stream that only listens is: by number, by caller and in time. The newest stream of a conversation
//! ends the former one; the core sees to that.

use bytes::Bytes;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use toolgate_contract::v1::{ListenRequest, ListenResponse, listen_response::Message};

use super::{Within, ways::Way};
use crate::mcp::{
    failure,
    fault::Fault,
    listening::{LIFETIME, Seat},
    reply::Reply,
    server::Server,
    words,
};

struct Listener {
    messages: Streaming<ListenResponse>,
    /// What belongs to requests whose client takes no stream for them.
    way: Way,
    until: Instant,
    closed: CancellationToken,
    _seat: Seat,
}

/// Opens the stream.
pub(in crate::mcp) async fn answer(server: &Server, within: Within) -> Result<Reply, Fault> {
    let seat = Seat::take(server, within.caller.again()).await;
    let seat = seat.map_err(|failure| failure::of_nothing(&failure))?;
    let request = within.caller.request(ListenRequest {
        project: within.project,
    });
    let mut pipe = server.link.pipe();
    let messages = server.link.ask(pipe.listen(request)).await;
    let listener = Listener {
        messages: messages.map_err(|problem| failure::of_nothing(&problem.into_failure()))?,
        way: server.ways.open(within.scope),
        until: Instant::now() + LIFETIME,
        closed: server.closed.clone(),
        _seat: seat,
    };
    let messages = futures::stream::unfold(listener, |mut listener| async move {
        let message = listener.next().await?;
        Some((message, listener))
    });
    Ok(Reply::Stream(Box::pin(messages)))
}

impl Listener {
    /// The next message; `None` at the end, whatever its cause: who still listens comes back and hears of it.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let said = tokio::select! {
                biased;
                () = self.closed.cancelled() => return None,
                () = tokio::time::sleep_until(self.until) => return None,
                said = self.messages.message() => said,
                message = self.way.next() => return Some(message),
            };
            match said.ok()??.message {
                Some(Message::Notification(said)) => {
                    return Some(words::notification(&said.method, &said.params));
                }
                Some(Message::Request(asked)) => {
                    return Some(words::request(&asked.id, &asked.method, &asked.params));
                }
                None => {}
            }
        }
    }
}
