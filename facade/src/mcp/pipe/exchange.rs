//! One request to a project's server: what the server says and asks meanwhile, then its answer.
//!
//! Owns the rpc, so that dropping a request takes it back. What is answered at once is one message; the stream begins
//! with the first thing that there is to say before, or when the server takes its time.

mod about;

use bytes::Bytes;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use toolgate_contract::v1::{
    ClientAnswer, ErrorReason, ExchangeRequest, ExchangeResponse, Failure, ServerRequest, TellRequest,
    client_answer, exchange_response::Event, tell_request,
};

use self::about::{About, Said};
use crate::{
    link::{Caller, Link},
    mcp::{
        failure,
        fault::Fault,
        in_flight::Place,
        level::Scope,
        listening::{LIFETIME, Seat},
        pipe::Ways,
        reply::{FIRST_WORD, Message, Reply, Telling},
        server::{Asked, Server},
        words,
    },
};

/// What a server hears whose client takes no stream, and has none open.
const UNREACHABLE: &[u8] =
    b"{\"code\":-32601,\"message\":\"the client takes no stream now, so that it cannot be asked\"}";

/// A request under way.
struct Exchange {
    events: Streaming<ExchangeResponse>,
    about: About,
    cancelled: CancellationToken,
    /// Ends what only listens.
    ends: Ends,
    /// The way back to the server, for what its client cannot be asked.
    back: Back,
    _place: Option<Place>,
}

/// When a request ends that has no end of its own.
#[derive(Default)]
struct Ends {
    listening: Option<(Instant, CancellationToken, Seat)>,
}

struct Back {
    link: Link,
    ways: Ways,
    caller: Caller,
    project: String,
    scope: Option<Scope>,
}

/// Carries a request out.
pub(super) async fn answer(server: &Server, project: &str, asked: Asked) -> Reply {
    let listens = about::listens(&asked);
    if listens && !asked.streams {
        let fault = Fault::params("the answer is a stream; accept text/event-stream");
        return fault.about(Some(asked.id)).into();
    }
    let ends = match listens {
        true => match Ends::of(server, asked.caller.again()).await {
            Ok(ends) => ends,
            Err(failure) => return failure::of_method(&failure, &asked.id).into(),
        },
        false => Ends::default(),
    };
    let (cancelled, place) = server.note(&asked);
    let about = About::of(server, project, &asked);
    let back = Back {
        link: server.link.clone(),
        ways: server.ways.clone(),
        caller: asked.caller.again(),
        project: project.to_owned(),
        scope: asked.scope,
    };
    // What a conversation begins with stands in a header, which is sent before any stream.
    let streams = asked.streams && asked.method != "initialize";
    let request = asked.caller.request(ExchangeRequest {
        project: project.to_owned(),
        method: asked.method,
        params: asked.params.raw,
        stateless: asked.era.is_modern(),
    });
    let mut pipe = server.link.pipe();
    let events = tokio::select! {
        biased;
        events = server.link.ask(pipe.exchange(request)) => events,
        () = cancelled.cancelled() => return Reply::Nothing,
    };
    let events = match events {
        Ok(events) => events,
        Err(problem) => return about.failed(&problem.into_failure()),
    };
    let exchange = Exchange {
        events,
        about,
        cancelled,
        ends,
        back,
        _place: place,
    };
    match streams {
        true => exchange.streamed().await,
        false => exchange.whole().await,
    }
}

impl Ends {
    async fn of(server: &Server, caller: Caller) -> Result<Self, Failure> {
        let seat = Seat::take(server, caller).await?;
        Ok(Self {
            listening: Some((Instant::now() + LIFETIME, server.closed.clone(), seat)),
        })
    }

    /// Waits for the end; for ever where the request has one of its own. Cancel-safe.
    async fn reached(&self) {
        match &self.listening {
            Some((until, closed, _)) => tokio::select! {
                () = tokio::time::sleep_until(*until) => {}
                () = closed.cancelled() => {}
            },
            None => std::future::pending().await,
        }
    }
}

impl Exchange {
    /// For a client that takes a stream.
    async fn streamed(mut self) -> Reply {
        match tokio::time::timeout(FIRST_WORD, self.next()).await {
            Err(_) => Reply::Stream(self.messages(None)),
            Ok(Said::Message(message)) => Reply::Stream(self.messages(Some(message))),
            Ok(Said::Asked(asked)) => Reply::Stream(self.messages(Some(written(&asked)))),
            Ok(Said::Answer(answer)) => answer.into(),
            Ok(Said::Failure(failure)) => self.about.failed(&failure),
            Ok(Said::Nothing) => Reply::Nothing,
        }
    }

    /// For a client that takes nothing but the answer.
    async fn whole(mut self) -> Reply {
        loop {
            match self.next().await {
                Said::Message(_) => {}
                Said::Asked(asked) => self.back.ask_elsewhere(asked).await,
                Said::Answer(answer) => return answer.into(),
                Said::Failure(failure) => return self.about.failed(&failure),
                Said::Nothing => return Reply::Nothing,
            }
        }
    }

    /// What comes next. Cancel-safe: an event is told as soon as it is taken.
    async fn next(&mut self) -> Said {
        loop {
            let event = tokio::select! {
                biased;
                event = self.events.message() => event,
                () = self.cancelled.cancelled() => return Said::Nothing,
                () = self.ends.reached() => return Said::Nothing,
            };
            return match event {
                Ok(Some(ExchangeResponse { event: None })) => continue,
                Ok(Some(ExchangeResponse { event: Some(event) })) => self.say(event),
                Ok(None) => Said::Failure(Failure::new(
                    ErrorReason::Internal,
                    "what the project's server says ended before its answer",
                )),
                Err(status) => Said::Failure(Failure::from_status(&status)),
            };
        }
    }

    fn say(&self, event: Event) -> Said {
        match event {
            Event::Notification(said) => Said::Message(self.about.notification(&said)),
            Event::Request(asked) => Said::Asked(asked),
            Event::Result(result) => Said::Answer(self.about.result(result)),
            Event::Error(error) => Said::Answer(self.about.error(error)),
        }
    }
}

impl Telling for Exchange {
    async fn tell(&mut self) -> Option<Message> {
        match self.next().await {
            Said::Message(message) => Some(Message::Early(message)),
            Said::Asked(asked) => Some(Message::Early(written(&asked))),
            Said::Answer(answer) => Some(Message::Last(answer.joined())),
            Said::Failure(failure) => self.about.told(&failure).map(Message::Last),
            Said::Nothing => None,
        }
    }
}

impl Back {
    /// Asks the client by the stream that its conversation has, or tells the server that nobody can be asked.
    async fn ask_elsewhere(&self, asked: ServerRequest) {
        let Some(scope) = self.scope else { return };
        if self.ways.send(scope, written(&asked)) {
            return;
        }
        let request = self.caller.again().request(TellRequest {
            project: self.project.clone(),
            message: Some(tell_request::Message::Answer(ClientAnswer {
                id: asked.id,
                answer: Some(client_answer::Answer::Error(Bytes::from_static(UNREACHABLE))),
            })),
        });
        let mut pipe = self.link.pipe();
        if self.link.ask(pipe.tell(request)).await.is_err() {
            tracing::debug!("a project's server could not be told that its client cannot be asked");
        }
    }
}

fn written(asked: &ServerRequest) -> Bytes {
    words::request(&asked.id, &asked.method, &asked.params)
}
