//! The answer to a POST: one JSON text, or a stream of events that may break off and go on elsewhere.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{
    Response,
    header::{ACCEPT, HeaderMap, HeaderValue},
};
use tokio::time::{sleep, timeout};

use super::{Core, LAST_EVENT};
use crate::project::{
    client::{self, Body},
    message::{self, Said},
    sse::Decoder,
    wire::{Heard, LONGEST, Unanswered},
};
use toolgate_contract::frame::RefusalCode;

/// How long a stream may go on after its answer; a moment suffices to keep the connection.
const AFTER_ANSWER: Duration = Duration::from_millis(200);
/// Wait before a stream is taken up again, where the server names none.
const RESUME_AFTER: Duration = Duration::from_secs(1);
const SHORTEST_WAIT: Duration = Duration::from_millis(50);
/// Times in a row that a stream may bring nothing.
const PATIENCE: u32 = 5;

/// Whose answer is taken, and what is made of it on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taking {
    pub(super) id: u64,
    /// It opens a session.
    pub(super) is_opening: bool,
    /// A stream that breaks off may go on elsewhere.
    pub(super) may_resume: bool,
    /// It lists tools whose arguments may stand in headers.
    pub(super) lists: bool,
}

impl Core {
    /// Takes all that comes in the stream of a request, until its answer has come.
    pub(super) async fn take(self: &Arc<Self>, taking: Taking, response: Response) -> Result<(), Unanswered> {
        if !response.status().is_success() {
            return self.refused(taking, response).await;
        }
        let is_stream = client::kind(&response) == Body::Events;
        let mut messages = self.messages(response);
        let mut fruitless = 0;
        loop {
            match self.until_answered(taking, &mut messages).await {
                Ok(Progress::Answered) => return Ok(()),
                Ok(Progress::Some) => fruitless = 0,
                Ok(Progress::None) => fruitless += 1,
                Err(why) if messages.last_id().is_none() || !is_transient(&why) => return Err(why),
                Err(_) => fruitless += 1,
            }
            let Some(last) = messages
                .last_id()
                .filter(|_| is_stream && taking.may_resume && fruitless < PATIENCE)
            else {
                return Err(unanswered());
            };
            sleep(messages.retry().unwrap_or(RESUME_AFTER).max(SHORTEST_WAIT)).await;
            messages = match self.resume(&last).await {
                Ok(response) => self.messages(response).after(last),
                Err(why) if is_transient(&why) => self.no_messages().after(last),
                Err(why) => return Err(why),
            };
        }
    }

    async fn until_answered(&self, taking: Taking, messages: &mut Messages) -> Result<Progress, Unanswered> {
        let wanted = taking.id;
        let mut progress = Progress::None;
        while let Some(said) = messages.next().await? {
            progress = Progress::Some;
            let is_answer = matches!(&said, Said::Response { id, .. } if *id == wanted.to_string());
            if let Said::Response {
                answer: Ok(result), ..
            } = &said
                && is_answer
            {
                self.look_at(taking, result);
            }
            self.hear(Heard::Said {
                said,
                about: Some(wanted),
            })
            .await;
            if is_answer {
                let _ = timeout(AFTER_ANSWER, messages.next()).await;
                return Ok(Progress::Answered);
            }
        }
        Ok(progress)
    }

    fn look_at(&self, taking: Taking, result: &Bytes) {
        if taking.is_opening {
            self.session().negotiated(result);
        }
        if taking.lists {
            self.mirrors().learn(result);
        }
    }

    /// A refusal of HTTP, which may carry an error of JSON-RPC.
    async fn refused(&self, taking: Taking, response: Response) -> Result<(), Unanswered> {
        let id = taking.id;
        let status = response.status().as_u16();
        // Where nothing speaks this way of MCP, another way is tried.
        if taking.is_opening && matches!(status, 404 | 405) {
            return Err(Unanswered::Status(status));
        }
        let body = client::whole(response).await?;
        let error = message::read(&body).ok().and_then(|said| {
            said.into_iter().find_map(|said| match said {
                Said::Response {
                    answer: Err(error), ..
                } => Some(error),
                _ => None,
            })
        });
        let Some(error) = error else {
            return Err(Unanswered::Status(status));
        };
        let said = Said::Response {
            id: id.to_string().into(),
            answer: Err(error),
        };
        self.hear(Heard::Said {
            said,
            about: Some(id),
        })
        .await;
        Ok(())
    }

    /// Takes up a stream behind its last event.
    pub(super) async fn resume(&self, last: &Bytes) -> Result<Response, Unanswered> {
        let mut headers = HeaderMap::new();
        if let Ok(last) = HeaderValue::from_bytes(last) {
            headers.insert(LAST_EVENT, last);
        }
        self.get(headers).await
    }

    /// Opens a stream by GET.
    pub(super) async fn get(&self, mut headers: HeaderMap) -> Result<Response, Unanswered> {
        self.session().name(&mut headers);
        let sent = self
            .client
            .get(self.url.clone())
            .header(ACCEPT, "text/event-stream")
            .headers(headers)
            .send()
            .await;
        let response = match sent {
            Ok(response) => response,
            Err(error) => return Err(self.broken(client::fault(&error)).await),
        };
        match response.status().is_success() && client::kind(&response) == Body::Events {
            true => Ok(response),
            false => Err(Unanswered::Status(response.status().as_u16())),
        }
    }

    /// The messages of a response, one after the other.
    pub(super) fn messages(&self, response: Response) -> Messages {
        let is_stream = client::kind(&response) == Body::Events;
        Messages {
            response: Some(response),
            decoder: is_stream.then(|| Decoder::new(LONGEST)),
            ready: VecDeque::new(),
            last: None,
        }
    }

    fn no_messages(&self) -> Messages {
        Messages {
            response: None,
            decoder: None,
            ready: VecDeque::new(),
            last: None,
        }
    }
}

enum Progress {
    Answered,
    Some,
    None,
}

/// The messages of one response.
pub(super) struct Messages {
    response: Option<Response>,
    /// For streams; a response without is one text.
    decoder: Option<Decoder>,
    ready: VecDeque<Said>,
    /// The last event of the stream before this one.
    last: Option<Bytes>,
}

impl Messages {
    /// The same, as the continuation of a stream.
    fn after(mut self, last: Bytes) -> Self {
        self.last = Some(last);
        self
    }

    /// The id of the last event that had one.
    pub(super) fn last_id(&self) -> Option<Bytes> {
        let here = self.decoder.as_ref().and_then(Decoder::last_id);
        here.or(self.last.as_ref()).cloned()
    }

    pub(super) fn retry(&self) -> Option<Duration> {
        self.decoder.as_ref().and_then(Decoder::retry)
    }

    /// The next message; `None` at the end. Cancel-safe for streams.
    pub(super) async fn next(&mut self) -> Result<Option<Said>, Unanswered> {
        loop {
            if let Some(said) = self.ready.pop_front() {
                return Ok(Some(said));
            }
            let Some(response) = &mut self.response else {
                return Ok(None);
            };
            let Some(decoder) = &mut self.decoder else {
                let whole = self.response.take();
                if let Some(response) = whole {
                    self.ready.extend(read(&client::whole(response).await?));
                }
                continue;
            };
            let piece = response.chunk().await;
            let piece = piece.map_err(|error| client::fault(&error).into_unanswered())?;
            let Some(piece) = piece else {
                self.response = None;
                return Ok(None);
            };
            let events = decoder.push(&piece).map_err(|_| client::too_large())?;
            let messages = events
                .iter()
                .filter(|event| event.name.is_empty() || &event.name[..] == b"message")
                .flat_map(|event| read(&event.data));
            self.ready.extend(messages);
        }
    }
}

/// The messages in a text. An empty one, such as the event that opens a stream, has none.
pub(in crate::project) fn read(text: &Bytes) -> Vec<Said> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    message::read(text).unwrap_or_else(|message::Unreadable| {
        tracing::warn!(
            bytes = text.len(),
            "the server sent what is no message; it is passed over"
        );
        Vec::new()
    })
}

/// Whether a stream that ended so may go on.
fn is_transient(why: &Unanswered) -> bool {
    matches!(why, Unanswered::Refused(refusal) if refusal.code == RefusalCode::ServerDown)
}

fn unanswered() -> Unanswered {
    Unanswered::refused(
        RefusalCode::Failed,
        "the server ended its answer without a result",
    )
}
