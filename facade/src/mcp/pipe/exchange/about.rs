//! What the messages of one request are written with.

use bytes::Bytes;
use http::StatusCode;
use toolgate_contract::v1::{ExchangeError, ExchangeResult, Failure, ServerNotification, ServerRequest};

use crate::mcp::{
    envelope::Id,
    era::Era,
    failure::{self, Answered},
    fault::Beside,
    mirrored::Told,
    pipe,
    reply::{Answer, Reply},
    result::{self, ServerInfo},
    server::{Asked, Server},
    words,
};

/// What comes next of a request.
pub(super) enum Said {
    /// A notification, as a whole message.
    Message(Bytes),
    /// The server asks the client.
    Asked(ServerRequest),
    Answer(Answer),
    Failure(Failure),
    /// The client took it back.
    Nothing,
}

/// The request that its messages are about.
pub(super) struct About {
    id: Id,
    era: Era,
    in_session: bool,
    calls: bool,
    begins: bool,
    /// Whether its messages name a subscription, which the server knows by an id that is not the client's.
    listens: bool,
    /// Of a list of tools, where it is looked at, under which key, and whether it is a later page.
    lists: Option<(Told, u64, bool)>,
    server: ServerInfo,
}

/// Whether a request has no end but the client's leaving.
pub(super) fn listens(asked: &Asked) -> bool {
    asked.era.is_modern() && asked.method == "subscriptions/listen"
}

impl About {
    pub(super) fn of(server: &Server, project: &str, asked: &Asked) -> Self {
        // Only this revision has arguments in headers.
        let lists = asked.era.is_modern() && asked.method == "tools/list";
        let lists = lists.then(|| {
            let key = pipe::key(server, project, &asked.caller);
            (server.told.clone(), key, asked.params.cursor.is_some())
        });
        Self {
            id: asked.id.clone(),
            era: asked.era,
            in_session: asked.in_session,
            calls: asked.method == "tools/call",
            begins: asked.method == "initialize",
            listens: listens(asked),
            lists,
            server: server.info.clone(),
        }
    }

    pub(super) fn notification(&self, said: &ServerNotification) -> Bytes {
        words::notification(&said.method, &self.named(&said.params))
    }

    pub(super) fn result(&self, answer: ExchangeResult) -> Answer {
        if let Some((told, key, is_later_page)) = &self.lists {
            told.learn(*key, &answer.result, *is_later_page);
        }
        let message = result::raw(&self.id, &self.named(&answer.result));
        Answer {
            session: Some(answer.session_id).filter(|id| !id.is_empty()),
            // As servers send it that are asked themselves.
            streams: !self.begins,
            ..Answer::to_call(message, answer.correlation_id)
        }
    }

    pub(super) fn error(&self, answer: ExchangeError) -> Answer {
        Answer {
            beside: Beside {
                status: self.status(&answer.error),
                ..Beside::OK
            },
            ..Answer::to_call(words::error(&self.id, &answer.error), answer.correlation_id)
        }
    }

    /// The answer of the gateway where there is none of the server.
    pub(super) fn failed(&self, failure: &Failure) -> Reply {
        match self.answered(failure) {
            Answered::Result(message, beside) => Answer {
                beside,
                ..Answer::result(message)
            }
            .into(),
            Answered::Error(fault) => fault.into(),
            Answered::Nothing => Reply::Nothing,
        }
    }

    /// The same as a message of a stream.
    pub(super) fn told(&self, failure: &Failure) -> Option<Bytes> {
        match self.answered(failure) {
            Answered::Result(message, _) => Some(message),
            Answered::Error(fault) => Some(fault.write()),
            Answered::Nothing => None,
        }
    }

    fn answered(&self, failure: &Failure) -> Answered {
        match self.calls {
            true => failure::of_call(failure, &self.id, self.era, self.in_session, &self.server),
            false => Answered::Error(failure::of_method(failure, &self.id)),
        }
    }

    fn named(&self, object: &Bytes) -> Bytes {
        match self.listens {
            true => words::with_subscription(object, &self.id),
            false => object.clone(),
        }
    }

    /// What HTTP says beside an error of the server: in 2026-07-28 some have a status of their own.
    fn status(&self, error: &[u8]) -> StatusCode {
        #[derive(serde::Deserialize)]
        struct Error {
            code: i64,
        }
        let code = serde_json::from_slice::<Error>(error).map_or(0, |error| error.code);
        match code {
            _ if !self.era.is_modern() => StatusCode::OK,
            -32601 => StatusCode::NOT_FOUND,
            -32700 | -32600 | -32022..=-32020 => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }
}
