//! A server behind HTTP+SSE, as revision 2024-11-05 has it: one GET stream brings everything, and its first event says
//! where messages are POSTed to.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    client::{self, Body},
    http::read,
    sse::{Decoder, Event},
    wire::{Busy, Heard, LONGEST, Out, QUEUE, Unanswered, What},
};

/// What a server gets to open its stream and to say where messages go.
const OPEN: Duration = Duration::from_secs(10);
/// What it gets to take a message.
const TAKEN: Duration = Duration::from_secs(10);

/// One stream, and the way of messages that belongs to it. Dropping it closes the stream.
#[derive(Debug)]
pub(crate) struct Events {
    queue: mpsc::Sender<Out>,
    stop: CancellationToken,
    _stop: DropGuard,
}

impl Events {
    /// Opens the stream at `url`; what fails is heard.
    pub(crate) fn open(client: Client, url: Url, heard: mpsc::Sender<Heard>, tasks: &TaskTracker) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE);
        let stop = CancellationToken::new();
        let running = Running { client, url, heard };
        let stopping = stop.clone();
        tasks.spawn(async move {
            let why = tokio::select! {
                why = running.run(queued) => why,
                () = stopping.cancelled() => "it was told to end".to_owned(),
            };
            let _ = running.heard.send(Heard::Ended { why }).await;
        });
        Self {
            queue,
            stop: stop.clone(),
            _stop: stop.drop_guard(),
        }
    }

    pub(crate) fn send(&self, out: Out) -> Result<(), Busy> {
        self.queue.try_send(out).map_err(|_| Busy)
    }

    pub(crate) fn close(&self) {
        self.stop.cancel();
    }
}

struct Running {
    client: Client,
    url: Url,
    heard: mpsc::Sender<Heard>,
}

impl Running {
    async fn run(&self, queued: mpsc::Receiver<Out>) -> String {
        let opened = timeout(OPEN, self.begin()).await;
        let (mut stream, messages_to) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(why)) => return why,
            Err(_) => return "it did not open its stream in time".to_owned(),
        };
        tokio::select! {
            () = self.read(&mut stream) => "its stream ended".to_owned(),
            () = self.write(&messages_to, queued) => "it was closed".to_owned(),
        }
    }

    async fn begin(&self) -> Result<(Stream, Url), String> {
        let sent = self
            .client
            .get(self.url.clone())
            .header(ACCEPT, "text/event-stream")
            .send()
            .await;
        let response = sent.map_err(|_| "it cannot be reached".to_owned())?;
        if !response.status().is_success() || client::kind(&response) != Body::Events {
            let status = response.status().as_u16();
            return Err(format!("it opened no stream: HTTP {status}"));
        }
        let mut stream = Stream::new(response);
        while let Some(events) = stream.next().await {
            for event in events {
                if &event.name[..] == b"endpoint" {
                    return Ok((stream, self.endpoint(&event.data)?));
                }
            }
        }
        Err("it did not say where messages go".to_owned())
    }

    /// Where messages go: a place on the same server.
    fn endpoint(&self, data: &Bytes) -> Result<Url, String> {
        let place = std::str::from_utf8(data)
            .ok()
            .and_then(|place| self.url.join(place.trim()).ok());
        place
            .filter(|place| client::is_same_origin(&self.url, place))
            .ok_or_else(|| "it wants messages sent to another server".to_owned())
    }

    async fn read(&self, stream: &mut Stream) {
        while let Some(events) = stream.next().await {
            let messages = events
                .iter()
                .filter(|event| event.name.is_empty() || &event.name[..] == b"message")
                .flat_map(|event| read(&event.data));
            for said in messages {
                let _ = self.heard.send(Heard::Said { said, about: None }).await;
            }
        }
    }

    async fn write(&self, to: &Url, mut queued: mpsc::Receiver<Out>) {
        while let Some(out) = queued.recv().await {
            let posted = self
                .client
                .post(to.clone())
                .header(CONTENT_TYPE, "application/json")
                .body(out.bytes)
                .send();
            let why = match timeout(TAKEN, posted).await {
                Ok(Ok(response)) if response.status().is_success() => continue,
                Ok(Ok(response)) => Unanswered::Status(response.status().as_u16()),
                Ok(Err(error)) => client::fault(&error).into_unanswered(),
                Err(_) => Unanswered::down("the server did not take the message in time"),
            };
            match out.what {
                What::Request { id, .. } => {
                    let _ = self.heard.send(Heard::Failed { id, why }).await;
                }
                What::Notification { .. } | What::Response => {
                    tracing::warn!("a message did not reach the server");
                }
            }
        }
    }
}

struct Stream {
    response: Response,
    decoder: Decoder,
}

impl Stream {
    fn new(response: Response) -> Self {
        Self {
            response,
            decoder: Decoder::new(LONGEST),
        }
    }

    /// The events of the next piece; `None` at the end, or where an event is too long.
    async fn next(&mut self) -> Option<Vec<Event>> {
        let piece = self.response.chunk().await.ok()??;
        self.decoder.push(&piece).ok()
    }
}
