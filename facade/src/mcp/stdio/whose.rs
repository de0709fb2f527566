//! Who is spoken to on a pipe: the gateway, or through it the server of one project.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::time::{sleep, timeout};

use super::{changes, out::Out};
use crate::{
    link::Caller,
    mcp::{
        envelope::{Notification, Response},
        level::Scope,
        pipe::{self, Within},
        reply::Reply,
        server::{Asked, Server},
    },
};

/// There is one conversation in this process.
pub(super) const SCOPE: Scope = Scope(0);
/// A server that is gone may come back; until then it is not asked more often.
const COMES_BACK: Duration = Duration::from_secs(5);
/// How long the end of a conversation may take; the relay ends what nobody speaks in any more.
const GOODBYE: Duration = Duration::from_secs(1);

/// Who it is.
#[derive(Debug, Clone)]
pub(super) enum Whose {
    Gateway,
    /// The server of the project of this name.
    Project(Arc<str>),
}

impl Whose {
    pub(super) fn of(project: Option<&str>) -> Self {
        project.map_or(Self::Gateway, |name| Self::Project(name.into()))
    }

    /// Whether a session of its that ends may be followed by another.
    pub(super) fn has_successors(&self) -> bool {
        matches!(self, Self::Gateway)
    }

    pub(super) async fn answer(&self, server: &Server, asked: Asked) -> Reply {
        match self {
            Self::Gateway => server.answer(asked).await,
            Self::Project(name) => pipe::answer(server, name, asked).await,
        }
    }

    /// Passes a notification on, within a conversation. Nobody waits to hear that it was not taken.
    pub(super) async fn tell(&self, server: &Server, caller: Caller, heard: Notification) {
        if let Some(within) = self.within(caller) {
            note(pipe::tell::notification(server, within, heard).await);
        }
    }

    /// The same with an answer; the gateway itself asks nothing.
    pub(super) async fn answered(&self, server: &Server, caller: Caller, response: Response) {
        if let Some(within) = self.within(caller) {
            note(pipe::tell::answer(server, within, response).await);
        }
    }

    /// Ends a conversation.
    pub(super) async fn end(&self, server: &Server, caller: Caller) {
        if let Some(within) = self.within(caller) {
            let _ = timeout(GOODBYE, pipe::tell::end(server, within)).await;
        }
    }

    /// Tells what is said without being asked, until the conversation ends. Whoever spawned this owns it.
    pub(super) async fn says(self, server: Arc<Server>, caller: Caller, out: Out) {
        if matches!(self, Self::Gateway) {
            return changes::tell(server, caller, out).await;
        }
        while let (Some(within), false) = (self.within(caller.again()), server.closed.is_cancelled()) {
            match pipe::listen::answer(&server, within).await {
                Ok(Reply::Stream(mut messages)) => {
                    while let Some(message) = messages.next().await {
                        if !out.say(message).await {
                            return;
                        }
                    }
                }
                Ok(Reply::Nothing | Reply::Whole(_)) => {}
                // The conversation has ended; the client hears of it at its next request.
                Err(fault) if fault.http.status == http::StatusCode::NOT_FOUND => return,
                Err(fault) => tracing::debug!(message = %fault.message, "a project's server is not heard"),
            }
            sleep(COMES_BACK).await;
        }
    }

    fn within(&self, caller: Caller) -> Option<Within> {
        match self {
            Self::Gateway => None,
            Self::Project(name) => Some(Within {
                project: name.to_string(),
                caller,
                scope: SCOPE,
            }),
        }
    }
}

fn note(told: Result<(), crate::mcp::fault::Fault>) {
    if let Err(fault) = told {
        tracing::debug!(message = %fault.message, "a project's server was not told");
    }
}
