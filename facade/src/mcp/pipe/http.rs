//! The pipe over Streamable HTTP: the same transport as that of `/mcp`, with a project's server at its other end.

use ::http::{Method, StatusCode, request::Parts};
use axum::{
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
    response::Response,
};

use super::{Within, listen, tell};
use crate::{
    body,
    mcp::{
        envelope::{self, Message},
        era::{self, Era, Meta},
        fault::Fault,
        http::{
            Head, agreement, answer,
            said::{self, Takes},
        },
        reply::Reply,
        revision::Legacy,
        server::Asked,
    },
    routes::Shared,
};

type Named = Result<Path<String>, PathRejection>;

/// A request whose head has been read.
struct Begun {
    project: String,
    head: Head,
}

impl Begun {
    async fn read(parts: &mut Parts, named: Named, shared: &Shared) -> Result<Self, Fault> {
        let Path(project) =
            named.map_err(|_| Fault::no_message("the name of the project in the path is no text"))?;
        let head = Head::read(parts, None, shared).await?;
        Ok(Self { project, head })
    }

    async fn within(self, shared: &Shared) -> Result<Within, Fault> {
        self.head.revision()?;
        let Some(session) = self.head.said.session else {
            // Who asks comes before what is missing.
            shared.mcp.accept(self.head.caller).await?;
            return Err(Fault::no_message(
                "header mcp-session-id is missing; a conversation begins with initialize",
            ));
        };
        let scope = [b"pipe", self.project.as_bytes(), session.as_bytes()];
        Ok(Within {
            scope: shared.mcp.scope(&scope),
            caller: self.head.caller.in_session(&session).map_err(Fault::of_problem)?,
            project: self.project,
        })
    }
}

/// One message of a client.
pub(super) async fn post(State(shared): State<Shared>, named: Named, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let takes = said::takes(&parts.headers);
    let mut revision = None;
    let reply = receive(&shared, &mut parts, named, body, takes, &mut revision).await;
    let reply = reply.unwrap_or_else(Reply::from);
    answer::send(reply, takes, revision, &shared, &parts)
}

async fn receive(
    shared: &Shared,
    parts: &mut Parts,
    named: Named,
    body: Body,
    takes: Takes,
    revision: &mut Option<Legacy>,
) -> Result<Reply, Fault> {
    let begun = Begun::read(parts, named, shared).await?;
    let bytes = body::read(body, parts, shared).await.map_err(Fault::of_problem)?;
    match envelope::read(&bytes)? {
        Message::Request(request) => {
            let (id, project) = (request.id.clone(), begun.project.clone());
            let asked = ask(shared, begun, request, takes)
                .await
                .map_err(|fault| fault.about(Some(id)))?;
            if let Era::Legacy(spoken) = asked.era {
                *revision = Some(spoken);
            }
            Ok(super::answer(&shared.mcp, &project, asked).await)
        }
        Message::Notification(heard) if begun.head.said.is_modern() => {
            // Closing the stream of a request is what cancels it, and there is no conversation to say anything in.
            agreement::check_method(&begun.head.said, &heard.method)?;
            shared.mcp.accept(begun.head.caller).await?;
            Ok(Reply::Nothing)
        }
        Message::Response(_) if begun.head.said.is_modern() => Err(Fault::no_message(
            "nothing is asked of clients of this revision, so that there is nothing to answer",
        )),
        Message::Notification(heard) => {
            tell::notification(&shared.mcp, begun.within(shared).await?, heard).await?;
            Ok(Reply::Nothing)
        }
        Message::Response(response) => {
            tell::answer(&shared.mcp, begun.within(shared).await?, response).await?;
            Ok(Reply::Nothing)
        }
    }
}

async fn ask(
    shared: &Shared,
    begun: Begun,
    request: envelope::Request,
    takes: Takes,
) -> Result<Asked, Fault> {
    let meta = Meta::read(&request.params)?;
    let said = &begun.head.said;
    let is_modern = era::is_modern(&request.method, &meta, said.revision.as_deref());
    let (era, caller, scope) = if is_modern {
        agreement::check(said, &request, &meta)?;
        agreement::check_of_project(said, &request)?;
        if let Some(mirrors) = super::mirrors(&shared.mcp, &begun.project, &begun.head.caller, &request) {
            agreement::check_arguments(said, &request, &mirrors)?;
        }
        (Era::Modern, begun.head.caller, None)
    } else if request.method == "initialize" {
        // Whatever revision the header asks for is negotiated, and an older conversation is left alone.
        (Era::Legacy(Legacy::Latest), begun.head.caller, None)
    } else if request.method == "ping" && said.session.is_none() {
        (Era::Legacy(begun.head.revision()?), begun.head.caller, None)
    } else {
        let revision = begun.head.revision()?;
        let within = begun.within(shared).await?;
        (Era::Legacy(revision), within.caller, Some(within.scope))
    };
    Ok(Asked {
        id: request.id,
        method: request.method,
        params: request.params,
        meta,
        era,
        caller,
        in_session: scope.is_some(),
        scope,
        is_conversation: scope.is_some(),
        streams: takes.events,
    })
}

/// What the server says in a conversation outside of its client's requests.
pub(super) async fn get(State(shared): State<Shared>, named: Named, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let reply = match Begun::read(&mut parts, named, &shared).await {
        Ok(begun) if begun.head.said.is_modern() || parts.method == Method::HEAD => {
            return answer::no_stream(&parts);
        }
        Ok(begun) => hear(&shared, begun, &parts).await,
        Err(fault) => Err(fault),
    };
    let reply = reply.unwrap_or_else(Reply::from);
    answer::send(reply, Takes::EVENTS, None, &shared, &parts)
}

async fn hear(shared: &Shared, begun: Begun, parts: &Parts) -> Result<Reply, Fault> {
    if !said::takes_events_at_all(&parts.headers) {
        return Err(
            Fault::no_message("the answer is a stream; accept text/event-stream")
                .with_status(StatusCode::NOT_ACCEPTABLE),
        );
    }
    listen::answer(&shared.mcp, begun.within(shared).await?).await
}

/// The end of a conversation.
pub(super) async fn delete(State(shared): State<Shared>, named: Named, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let closed = match Begun::read(&mut parts, named, &shared).await {
        Ok(begun) if begun.head.said.is_modern() => return answer::no_stream(&parts),
        Ok(begun) => hang_up(&shared, begun).await,
        Err(fault) => Err(fault),
    };
    match closed {
        Ok(()) => answer::closed(&parts),
        Err(fault) => answer::send(fault.into(), Takes::JSON, None, &shared, &parts),
    }
}

async fn hang_up(shared: &Shared, begun: Begun) -> Result<(), Fault> {
    tell::end(&shared.mcp, begun.within(shared).await?).await
}
