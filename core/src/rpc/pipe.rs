//! `PipeService`: raw messages between a client of MCP and one project's server.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;
use futures::StreamExt;
use futures::{Stream, stream};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use toolgate_contract::{
    frame::FrameId,
    ids::TargetId,
    splice,
    v1::{
        ExchangeError, ExchangeRequest, ExchangeResponse, ExchangeResult, HangUpRequest, HangUpResponse,
        ListenRequest, ListenResponse, ServerNotification, ServerRequest, TellRequest, TellResponse,
        client_answer::Answer, exchange_response::Event, listen_response::Message as Heard,
        pipe_service_server::PipeService, tell_request::Message as Told,
    },
};

use super::{Rpc, ask, status};
use crate::{
    broker::{Ask, Caller, Failed, Piped, RunEvent, Running, Settled, Wish},
    error::Error,
    fleet::Busy,
    identity::Action,
    uplinks::{Conversation, FromServer, UplinkError},
    upstream::{Raw, Report, UpstreamError},
};

/// Begins a conversation.
const INITIALIZE: &str = "initialize";
/// Calls a tool, which is what the record calls it by.
const TOOLS_CALL: &str = "tools/call";
/// The longest method.
const LONGEST_METHOD: usize = 128;

type Events = Pin<Box<dyn Stream<Item = Result<ExchangeResponse, Status>> + Send>>;
type Messages = Pin<Box<dyn Stream<Item = Result<ListenResponse, Status>> + Send>>;

#[tonic::async_trait]
impl PipeService for Rpc {
    type ExchangeStream = Events;

    async fn exchange(&self, request: Request<ExchangeRequest>) -> Result<Response<Events>, Status> {
        let ask = ask::of(&request);
        let caller = self.caller(&request, Action::UseTools).await?;
        let begun = self.begin(&caller, &ask, request.into_inner());
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) => return Err(status(self.broker.refuse(&caller, error).await)),
        };
        let running = self
            .broker
            .pipe(&ask, begun.wish, begun.piped)
            .await
            .map_err(status)?;
        let pipes = self.broker.rooms().fleet.pipes();
        let busy = caller.session.as_deref().and_then(|session| pipes.busy(session));
        let exchange = Exchange {
            _busy: busy,
            rpc: self.clone(),
            caller,
            running,
            beginning: begun.beginning,
        };
        Ok(Response::new(Box::pin(exchange.events())))
    }

    async fn tell(&self, request: Request<TellRequest>) -> Result<Response<TellResponse>, Status> {
        let caller = self.caller(&request, Action::UseTools).await?;
        let TellRequest { project, message } = request.into_inner();
        let found = self
            .conversation(&caller, &project)
            .and_then(|(target, conversation)| {
                let heard = match &message {
                    Some(Told::Notification(told)) => is_notification(&told.method),
                    Some(Told::Answer(_)) | None => Ok(()),
                };
                heard?;
                self.broker
                    .project(&caller, &project)
                    .and_then(|project| self.broker.is_reachable(&project))?;
                Ok((target, conversation))
            });
        let (_, conversation) = self.answer(&caller, found).await?;
        let told = match message {
            Some(message) => tell(&conversation, message).await,
            None => Err(Error::malformed("message", "is missing")),
        };
        self.answer(&caller, told).await?;
        Ok(Response::new(TellResponse {}))
    }

    type ListenStream = Messages;

    async fn listen(&self, request: Request<ListenRequest>) -> Result<Response<Messages>, Status> {
        let caller = self.caller(&request, Action::UseTools).await?;
        let found = self.conversation(&caller, &request.into_inner().project);
        let (_, conversation) = self.answer(&caller, found).await?;
        let Some(heard) = conversation.listen() else {
            let over = Error::Upstream(UpstreamError::ConversationOver);
            return Err(status(self.broker.refuse(&caller, over).await));
        };
        let messages = ReceiverStream::new(heard).filter_map(async |message| {
            let message = match message {
                FromServer::Said { method, params } => Heard::Notification(said(&method, params)),
                FromServer::Asked { id, method, params } => Heard::Request(asked(&id, &method, params)),
                FromServer::Over => return None,
            };
            Some(Ok(ListenResponse {
                message: Some(message),
            }))
        });
        let pipes = self.broker.rooms().fleet.pipes();
        let listening = caller
            .session
            .as_deref()
            .and_then(|session| pipes.listening(session));
        let messages = messages.map(move |message| {
            // Held as long as the stream.
            let _ = &listening;
            message
        });
        Ok(Response::new(Box::pin(messages)))
    }

    async fn hang_up(&self, request: Request<HangUpRequest>) -> Result<Response<HangUpResponse>, Status> {
        let ask = ask::of(&request);
        let caller = self.caller(&request, Action::UseTools).await?;
        let found = self.conversation(&caller, &request.into_inner().project);
        self.answer(&caller, found).await?;
        let rooms = self.broker.rooms();
        if let Some(session) = &caller.session {
            rooms.fleet.pipes().end(session);
        }
        let closed = ask.session.as_deref().map_or(Ok(()), |session| {
            rooms.mcp_sessions.close(caller.principal(), session)
        });
        self.answer(&caller, closed).await?;
        Ok(Response::new(HangUpResponse {}))
    }
}

/// A request that is ready to be sent.
struct Begun {
    wish: Wish,
    piped: Piped,
    /// The conversation that begins with it.
    beginning: Option<(TargetId, Arc<Conversation>)>,
}

impl Rpc {
    fn begin(&self, caller: &Caller, ask: &Ask, asked: ExchangeRequest) -> Result<Begun, Error> {
        let ExchangeRequest {
            project,
            method,
            params,
            stateless,
        } = asked;
        let plain = !method.is_empty()
            && method.len() <= LONGEST_METHOD
            && method.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain {
            return Err(Error::malformed(
                "method",
                "must be 1 to 128 visible ASCII characters",
            ));
        }
        let rooms = self.broker.rooms();
        let (conversation, beginning) = match (stateless, &*method) {
            (true, _) => (FrameId::raw(), None),
            (false, INITIALIZE) if ask.session.is_none() => {
                let target = self.broker.project(caller, &project)?;
                let principal = caller.principal();
                rooms.fleet.pipes().make_room(principal, target.id)?;
                let conversation = rooms.fleet.converse(&principal.tenant, &target).map(Arc::new)?;
                (conversation.id(), Some((target.id, conversation)))
            }
            (false, _) => (self.conversation(caller, &project)?.1.id(), None),
        };
        let wish = wish(&method, &params)?;
        Ok(Begun {
            wish,
            piped: Piped {
                project,
                method,
                params,
                conversation,
            },
            beginning,
        })
    }

    fn conversation(&self, caller: &Caller, project: &str) -> Result<(TargetId, Arc<Conversation>), Error> {
        let target = self.broker.project(caller, project)?;
        let pipes = self.broker.rooms().fleet.pipes();
        let conversation = pipes.find(caller.session.as_deref(), &caller.principal().tenant, target.id)?;
        Ok((target.id, conversation))
    }
}

// What the record calls it by, and what is hashed for it: of a call, its tool and arguments.
fn wish(method: &str, params: &Bytes) -> Result<Wish, Error> {
    let named = |name: String, arguments: Bytes| Wish {
        name,
        arguments,
        target_id: None,
    };
    if method != TOOLS_CALL {
        return Ok(named(method.to_owned(), params.clone()));
    }
    let text = std::str::from_utf8(params).map_err(|_| Error::malformed("params", "must be UTF-8"))?;
    let member = |name: &str| {
        splice::member(text, name)
            .map_err(|_| Error::malformed("params", "must be one JSON object without doubled members"))
    };
    let name = member("name")?.and_then(|name| serde_json::from_str(name).ok());
    let name = name.ok_or_else(|| Error::malformed("params.name", "is missing or no text"))?;
    let arguments =
        member("arguments")?.map_or_else(Bytes::new, |raw| Bytes::copy_from_slice(raw.as_bytes()));
    Ok(named(name, arguments))
}

// A request without an id is none: servers that go by the method alone would carry it out, past everything that requests
// pass.
fn is_notification(method: &str) -> Result<(), Error> {
    match method.starts_with("notifications/") && method.len() <= LONGEST_METHOD {
        true => Ok(()),
        false => Err(Error::malformed(
            "method",
            "a message without an id is a notification; those of MCP begin with notifications/",
        )),
    }
}

async fn tell(conversation: &Conversation, message: Told) -> Result<(), Error> {
    let told = match message {
        Told::Notification(ServerNotification { method, params }) => {
            let params = if params.is_empty() {
                Bytes::from_static(b"{}")
            } else {
                params
            };
            conversation.tell(&method, params).await
        }
        Told::Answer(answer) => {
            let given = match answer.answer {
                Some(Answer::Result(result)) => Ok(result),
                Some(Answer::Error(error)) => Err(error),
                None => return Err(Error::malformed("answer", "has neither result nor error")),
            };
            conversation.answer(&answer.id, given).await
        }
    };
    match told {
        // Nobody waits for it any more: its server has ended, or took the question back.
        Ok(()) | Err(UplinkError::NotAsked) => Ok(()),
        Err(UplinkError::TooLarge) => Err(Error::TooLarge),
        Err(UplinkError::Overloaded | UplinkError::Deadline) => Err(Error::Overloaded),
        Err(_) => Err(Error::Upstream(UpstreamError::ConversationOver)),
    }
}

/// A request that goes on.
struct Exchange {
    _busy: Option<Busy>,
    rpc: Rpc,
    caller: Caller,
    running: Running,
    beginning: Option<(TargetId, Arc<Conversation>)>,
}

impl Exchange {
    // Pulled by the transport; dropped, it cancels the request.
    fn events(self) -> impl Stream<Item = Result<ExchangeResponse, Status>> + Send {
        stream::unfold(self, async |mut exchange| {
            let event = exchange.next().await?;
            let event = event.map(|event| ExchangeResponse { event: Some(event) });
            Some((event.map_err(status), exchange))
        })
    }

    async fn next(&mut self) -> Option<Result<Event, Failed>> {
        loop {
            let event = match self.running.next().await? {
                RunEvent::Report(Report::Said { method, params }) => {
                    Event::Notification(said(&method, params))
                }
                RunEvent::Report(Report::Asked { id, method, params }) => {
                    Event::Request(asked(&id, &method, params))
                }
                // What the gateway itself tells is not for a client that speaks to the server.
                RunEvent::Report(Report::Progress { .. } | Report::Log { .. }) => continue,
                RunEvent::Ended(Ok(settled)) => return Some(self.answered(&settled)),
                RunEvent::Ended(Err(failed)) => return Some(Err(failed)),
            };
            return Some(Ok(event));
        }
    }

    fn answered(&mut self, settled: &Settled) -> Result<Event, Failed> {
        let correlation_id = settled.call().to_string();
        let failed = |error| Failed {
            call: Some(settled.call()),
            error,
        };
        match &settled.result().raw {
            Some(Raw::Result(result)) => {
                let session_id = self.begun(result).map_err(failed)?;
                Ok(Event::Result(ExchangeResult {
                    result: result.clone(),
                    correlation_id,
                    session_id,
                }))
            }
            Some(Raw::Error(error)) => Ok(Event::Error(ExchangeError {
                error: error.clone(),
                correlation_id,
            })),
            None => Err(failed(Error::internal("a project's answer has no text"))),
        }
    }

    /// The session of a conversation that has begun; empty where none has.
    fn begun(&mut self, result: &Bytes) -> Result<String, Error> {
        let Some((target, conversation)) = self.beginning.take() else {
            return Ok(String::new());
        };
        let text = std::str::from_utf8(result).unwrap_or_default();
        let revision = splice::member(text, "protocolVersion").ok().flatten();
        let revision: Option<String> = revision.and_then(|revision| serde_json::from_str(revision).ok());
        let revision = revision.ok_or(Error::Upstream(UpstreamError::Invalid))?;
        let rooms = self.rpc.broker.rooms();
        let principal = self.caller.principal();
        let session = rooms
            .mcp_sessions
            .open(principal, &revision)
            .map_err(|_| Error::Upstream(UpstreamError::Invalid))?;
        let key = crate::broker::session_key(&session);
        rooms.fleet.pipes().keep(key, principal, target, conversation);
        Ok(session)
    }
}

fn said(method: &str, params: Bytes) -> ServerNotification {
    ServerNotification {
        method: method.to_owned(),
        params,
    }
}

fn asked(id: &str, method: &str, params: Bytes) -> ServerRequest {
    ServerRequest {
        id: id.to_owned(),
        method: method.to_owned(),
        params,
    }
}
