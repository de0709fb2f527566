//! The server of a project, as a test scripts it.

use std::{
    collections::{HashSet, VecDeque},
    pin::Pin,
    sync::{Mutex, MutexGuard},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::Stream;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use toolgate_contract::v1::{exchange_response::Event, pipe_service_server::PipeService, *};

use super::{CALL_ID, Open, ScriptedCore};

type Answers = mpsc::Receiver<Result<ExchangeResponse, Status>>;
type Messages = mpsc::Receiver<Result<ListenResponse, Status>>;

/// The script of the pipe.
#[derive(Default)]
pub(crate) struct Pipe {
    /// What the next exchanges say; without one, an exchange is answered at once with `result`.
    answers: Mutex<VecDeque<Answers>>,
    /// What the next streams say; without one, a stream says nothing and stays.
    messages: Mutex<VecDeque<Messages>>,
    pub(crate) result: Mutex<Option<Bytes>>,
    /// The requests, each with the conversation that it belongs to.
    pub(crate) asked: Mutex<Vec<(Option<String>, ExchangeRequest)>>,
    /// What was told, each with its conversation.
    pub(crate) told: watch::Sender<Vec<(Option<String>, TellRequest)>>,
    /// The conversations that go on.
    pub(crate) live: Mutex<HashSet<String>>,
    kept: Mutex<Vec<mpsc::Sender<Result<ListenResponse, Status>>>>,
}

pub(crate) fn event(event: Event) -> Result<ExchangeResponse, Status> {
    Ok(ExchangeResponse { event: Some(event) })
}

impl ScriptedCore {
    /// Scripts the next exchange.
    pub(crate) fn will_answer(&self) -> mpsc::Sender<Result<ExchangeResponse, Status>> {
        let (tell, answers) = mpsc::channel(64);
        self.pipe.answers.lock().unwrap().push_back(answers);
        tell
    }

    /// Scripts the next stream of a conversation.
    pub(crate) fn will_say(&self) -> mpsc::Sender<Result<ListenResponse, Status>> {
        let (tell, messages) = mpsc::channel(64);
        self.pipe.messages.lock().unwrap().push_back(messages);
        tell
    }

    fn live(&self) -> MutexGuard<'_, HashSet<String>> {
        self.pipe.live.lock().unwrap()
    }

    /// The conversation of a request of this principal, where it names one.
    fn conversation<T>(&self, request: &Request<T>) -> Result<Option<String>, Status> {
        let session = request.metadata().get("toolgate-session");
        let Some(session) = session.map(|session| session.to_str().unwrap().to_owned()) else {
            return Ok(None);
        };
        let credential = request.metadata().get("authorization").unwrap();
        let is_its = credential == "Bearer tgk_t_secret" && self.live().contains(&session);
        is_its.then_some(Some(session)).ok_or_else(|| {
            Failure::new(
                ErrorReason::ResourceNotFound,
                "no such session; begin a new one with initialize",
            )
            .into_status()
        })
    }
}

/// Something that is counted as open while it lives.
pub(crate) struct Counted<T> {
    items: ReceiverStream<Result<T, Status>>,
    _open: Open,
}

impl<T> Stream for Counted<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.items).poll_next(cx)
    }
}

#[tonic::async_trait]
impl PipeService for ScriptedCore {
    type ExchangeStream = Counted<ExchangeResponse>;

    async fn exchange(
        &self,
        request: Request<ExchangeRequest>,
    ) -> Result<Response<Self::ExchangeStream>, Status> {
        let conversation = self.conversation(&request)?;
        let request = self.note("Exchange", request)?;
        let begins = request.method == "initialize";
        self.pipe.asked.lock().unwrap().push((conversation, request));
        let scripted = self.pipe.answers.lock().unwrap().pop_front();
        let items = scripted.unwrap_or_else(|| {
            let (tell, items) = mpsc::channel(1);
            let mut session_id = String::new();
            if begins {
                let mut live = self.live();
                session_id = format!("2025-11-25.c{}.bWFj", live.len());
                live.insert(session_id.clone());
            }
            let result = self.pipe.result.lock().unwrap().clone();
            let _ = tell.try_send(event(Event::Result(ExchangeResult {
                result: result.unwrap_or_else(|| "{}".into()),
                correlation_id: CALL_ID.into(),
                session_id,
            })));
            items
        });
        Ok(Response::new(Counted {
            items: ReceiverStream::new(items),
            _open: self.opened(),
        }))
    }

    async fn tell(&self, request: Request<TellRequest>) -> Result<Response<TellResponse>, Status> {
        let conversation = self.conversation(&request)?;
        let request = self.note("Tell", request)?;
        self.pipe
            .told
            .send_modify(|told| told.push((conversation, request)));
        Ok(Response::new(TellResponse {}))
    }

    type ListenStream = Counted<ListenResponse>;

    async fn listen(&self, request: Request<ListenRequest>) -> Result<Response<Self::ListenStream>, Status> {
        self.conversation(&request)?;
        self.note("Listen", request)?;
        let scripted = self.pipe.messages.lock().unwrap().pop_front();
        let items = scripted.unwrap_or_else(|| {
            let (tell, items) = mpsc::channel(1);
            self.pipe.kept.lock().unwrap().push(tell);
            items
        });
        Ok(Response::new(Counted {
            items: ReceiverStream::new(items),
            _open: self.opened(),
        }))
    }

    async fn hang_up(&self, request: Request<HangUpRequest>) -> Result<Response<HangUpResponse>, Status> {
        let conversation = self.conversation(&request)?;
        self.note("HangUp", request)?;
        if let Some(conversation) = conversation {
            self.live().remove(&conversation);
        }
        Ok(Response::new(HangUpResponse {}))
    }
}
