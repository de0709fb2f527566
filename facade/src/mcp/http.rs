//! Streamable HTTP: one endpoint, one message a POST.
//!
//! Reads headers and bodies within bounds, finds the era and the caller, and sends what the server replies: as JSON, or
//! as an event stream where the client takes one and there is more to send than the answer. Tokens are taken from the
//! header only (row A4).

pub(super) mod agreement;
pub(super) mod answer;
mod cors;
mod events;
pub(super) mod said;

use ::http::{Method, StatusCode, request::Parts};
use axum::{
    body::Body,
    extract::{FromRequestParts, Path, Request, State},
    response::Response,
};
use toolgate_contract::v1::CloseMcpSessionRequest;

use self::said::Said;
use super::{
    envelope::{self, Message, Notification},
    era::{self, Era, Meta},
    failure,
    fault::Fault,
    level::Scope,
    listening::{Heard, Listener},
    reply::Reply,
    revision::Legacy,
    server::Asked,
};
use crate::{body, link::Caller, routes::Shared};

pub(super) type Profile = Option<Path<String>>;

/// A request whose head has been read.
pub(super) struct Head {
    pub(super) caller: Caller,
    pub(super) said: Said,
}

impl Head {
    pub(super) async fn read(parts: &mut Parts, profile: Profile, shared: &Shared) -> Result<Self, Fault> {
        let caller = Caller::from_request_parts(parts, shared)
            .await
            .map_err(Fault::of_problem)?;
        let caller = match profile {
            Some(Path(profile)) => caller.under(&profile).map_err(Fault::of_problem)?,
            None => caller,
        };
        let said = Said::read(&parts.headers)?;
        Ok(Self { caller, said })
    }

    /// The revision of a conversation: the header's, else the session's, else the one that has no header.
    pub(super) fn revision(&self) -> Result<Legacy, Fault> {
        match &self.said.revision {
            Some(name) => Legacy::parse(name).ok_or_else(|| Fault::revision(name)),
            None => Ok(self.said.revision_of_session().unwrap_or(Legacy::ASSUMED)),
        }
    }

    /// The caller within its session, and whose requests it can cancel.
    fn in_conversation(self, shared: &Shared) -> Result<(Caller, Scope, bool), Fault> {
        match self.said.session {
            Some(id) => {
                let scope = shared.mcp.scope(&[b"session", id.as_bytes()]);
                let caller = self.caller.in_session(&id).map_err(Fault::of_problem)?;
                Ok((caller, scope, true))
            }
            None => {
                let [credential, profile, _] = self.caller.identity();
                let scope = shared.mcp.scope(&[b"credential", credential, profile]);
                Ok((self.caller, scope, false))
            }
        }
    }
}

/// One message of a client.
pub(super) async fn post(State(shared): State<Shared>, profile: Profile, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let takes = said::takes(&parts.headers);
    let (reply, revision) = receive(&shared, &mut parts, profile, body, takes).await;
    answer::send(reply, takes, revision, &shared, &parts)
}

async fn receive(
    shared: &Shared,
    parts: &mut Parts,
    profile: Profile,
    body: Body,
    takes: said::Takes,
) -> (Reply, Option<Legacy>) {
    let mut revision = None;
    let reply = async {
        let head = Head::read(parts, profile, shared).await?;
        let bytes = body::read(body, parts, shared).await.map_err(Fault::of_problem)?;
        match envelope::read(&bytes)? {
            Message::Request(request) => {
                let id = request.id.clone();
                let asked = ask(shared, head, request, takes).map_err(|fault| fault.about(Some(id)))?;
                if let Era::Legacy(spoken) = asked.era {
                    revision = Some(spoken);
                }
                Ok(shared.mcp.answer(asked).await)
            }
            Message::Notification(heard) => hear(shared, head, heard).await.map(|()| Reply::Nothing),
            Message::Response(_) if head.said.is_modern() => Err(Fault::no_message(
                "this server asks nothing, so that there is nothing to answer",
            )),
            Message::Response(_) => {
                head.revision()?;
                let (caller, ..) = head.in_conversation(shared)?;
                shared.mcp.accept(caller).await.map(|()| Reply::Nothing)
            }
        }
    };
    let reply = reply.await.unwrap_or_else(Reply::from);
    (reply, revision)
}

fn ask(shared: &Shared, head: Head, request: envelope::Request, takes: said::Takes) -> Result<Asked, Fault> {
    let meta = Meta::read(&request.params)?;
    let is_modern = era::is_modern(&request.method, &meta, head.said.revision.as_deref());
    let begins = !is_modern && request.method == "initialize";
    let (era, caller, scope, in_session) = if is_modern {
        agreement::check(&head.said, &request, &meta)?;
        if let Some(mirrors) = shared.mcp.mirrors(&head.caller, &request) {
            agreement::check_arguments(&head.said, &request, &mirrors)?;
        }
        (Era::Modern, head.caller, None, false)
    } else if begins {
        // Whatever revision the header asks for is negotiated (row V3), and an older session is left alone.
        (Era::Legacy(Legacy::Latest), head.caller, None, false)
    } else {
        let revision = head.revision()?;
        let (caller, scope, in_session) = head.in_conversation(shared)?;
        (Era::Legacy(revision), caller, Some(scope), in_session)
    };
    Ok(Asked {
        id: request.id,
        method: request.method,
        params: request.params,
        meta,
        era,
        caller,
        in_session,
        scope,
        is_conversation: in_session,
        streams: takes.events,
    })
}

async fn hear(shared: &Shared, head: Head, heard: Notification) -> Result<(), Fault> {
    if head.said.is_modern() {
        // Closing the stream of a request is what cancels it, so that nothing said here reaches one.
        agreement::check_method(&head.said, &heard.method)?;
        return shared.mcp.accept(head.caller).await;
    }
    head.revision()?;
    let (caller, scope, _) = head.in_conversation(shared)?;
    shared.mcp.hear(heard, caller, scope).await
}

/// The stream of notifications of a session (rows H7, H8). Nothing is replayed: what it tells is true until told anew.
pub(super) async fn get(State(shared): State<Shared>, profile: Profile, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let reply = match Head::read(&mut parts, profile, &shared).await {
        Ok(head) if head.said.session.is_none() || head.said.is_modern() || parts.method == Method::HEAD => {
            return answer::no_stream(&parts);
        }
        Ok(head) => listen(&shared, head, &parts).await.unwrap_or_else(Reply::from),
        Err(fault) => fault.into(),
    };
    answer::send(reply, said::Takes::EVENTS, None, &shared, &parts)
}

async fn listen(shared: &Shared, head: Head, parts: &Parts) -> Result<Reply, Fault> {
    head.revision()?;
    if !said::takes_events_at_all(&parts.headers) {
        return Err(
            Fault::no_message("the answer is a stream; accept text/event-stream")
                .with_status(StatusCode::NOT_ACCEPTABLE),
        );
    }
    let (caller, session, _) = head.in_conversation(shared)?;
    let listener = Listener::open(&shared.mcp, caller, Some(session))
        .await
        .map_err(|failure| failure::of_nothing(&failure))?;
    let messages = futures::stream::unfold(listener, |mut listener| async move {
        match listener.hear().await {
            Heard::Changed => Some((
                bytes::Bytes::from_static(
                    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
                ),
                listener,
            )),
            Heard::End | Heard::Failed(_) => None,
        }
    });
    Ok(Reply::Stream(Box::pin(messages)))
}

/// The end of a session (row S4).
pub(super) async fn delete(State(shared): State<Shared>, profile: Profile, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let closed = match Head::read(&mut parts, profile, &shared).await {
        Ok(head) if head.said.is_modern() => return answer::no_stream(&parts),
        Ok(head) => close(&shared, head).await,
        Err(fault) => Err(fault),
    };
    match closed {
        Ok(()) => answer::closed(&parts),
        Err(fault) => answer::send(fault.into(), said::Takes::JSON, None, &shared, &parts),
    }
}

async fn close(shared: &Shared, head: Head) -> Result<(), Fault> {
    head.revision()?;
    let Some(session_id) = head.said.session.clone() else {
        return Err(Fault::no_message(
            "header mcp-session-id is missing; it says which session ends",
        ));
    };
    let (caller, ..) = head.in_conversation(shared)?;
    let request = caller.request(CloseMcpSessionRequest { session_id });
    let mut sessions = shared.link.sessions();
    let closed = shared.link.ask(sessions.close_mcp_session(request)).await;
    closed
        .map(drop)
        .map_err(|problem| failure::of_nothing(&problem.into_failure()))
}

/// What a page of another origin may do, where that origin is one that we serve.
pub(super) async fn options(request: Request) -> Response {
    let (parts, _) = request.into_parts();
    answer::preflight(&parts)
}
