//! A stream of server-sent events, read as a browser would.

use std::{
    collections::VecDeque,
    pin::Pin,
    time::{Duration, Instant},
};

use futures::{Stream, StreamExt};
use serde_json::Value;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The `id` field.
    pub id: String,
    /// The `event` field.
    pub event: String,
    /// The `data` field as JSON.
    pub data: Value,
    /// When it was read.
    pub at: Instant,
}

/// An open stream. Dropping it leaves.
pub struct Events {
    bytes: Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>,
    text: Vec<u8>,
    ready: VecDeque<Event>,
    /// Comment lines so far: keep-alives.
    pub comments: usize,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("ready", &self.ready.len())
            .finish_non_exhaustive()
    }
}

impl Events {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        let bytes = response
            .bytes_stream()
            .filter_map(|chunk| std::future::ready(chunk.ok().map(|chunk| chunk.to_vec())));
        Self {
            bytes: Box::pin(bytes),
            text: Vec::new(),
            ready: VecDeque::new(),
            comments: 0,
        }
    }

    /// The next event; `None` at the end of the stream or after 20 seconds without any.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.bytes.next())
                .await
                .ok()??;
            self.text.extend_from_slice(&chunk);
            self.cut();
        }
    }

    /// Every event to the end of the stream.
    pub async fn all(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    fn cut(&mut self) {
        while let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.text.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            let mut event = Event {
                id: String::new(),
                event: String::new(),
                data: Value::Null,
                at: Instant::now(),
            };
            for line in block.lines() {
                match line.split_once(':') {
                    Some(("", _)) => self.comments += 1,
                    Some(("id", value)) => event.id = value.trim_start().to_owned(),
                    Some(("event", value)) => event.event = value.trim_start().to_owned(),
                    Some(("data", value)) => {
                        event.data = serde_json::from_str(value.trim_start()).unwrap_or_default()
                    }
                    _ => {}
                }
            }
            if !event.event.is_empty() {
                self.ready.push_back(event);
            }
        }
    }
}
