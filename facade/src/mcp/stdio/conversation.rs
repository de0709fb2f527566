//! What is said on one pipe: reads messages in order, carries requests out side by side, and ends.

use std::{io, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use tokio::{io::AsyncRead, time::timeout};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use toolgate_contract::{
    registry::{self, Group},
    v1::{ErrorReason, Failure},
};

use super::{
    in_flight::{InFlight, NoRoom, Urgency},
    lines::{Line, Lines},
    out::Out,
    refused::Refused,
    session::Session,
    whose::{SCOPE, Whose},
};
use crate::{
    link::Caller,
    mcp::{
        envelope::{self, IdKey, Message, Notification, Request, text},
        era::{self, Era, Meta},
        failure,
        fault::Fault,
        reply::Reply,
        revision::Legacy,
        server::{Asked, Server, failed},
    },
    problem::Problem,
};

/// A script that closes its end after its last request still gets the answers that are all but there.
const ALL_BUT_THERE: Duration = Duration::from_millis(200);

/// One client's conversation.
pub(super) struct Conversation {
    server: Arc<Server>,
    whose: Whose,
    caller: Caller,
    out: Out,
    refused: Refused,
    requests: InFlight,
    /// What `initialize` agreed on.
    revision: Legacy,
    /// What it began.
    session: Option<Session>,
    /// The task that tells what nobody asked for.
    unasked: Option<AbortOnDropHandle<()>>,
    /// Longest line, to be told.
    limit: usize,
}

impl Conversation {
    pub(super) fn new(
        server: Server,
        whose: Whose,
        caller: Caller,
        out: Out,
        refused: Refused,
        limit: usize,
    ) -> Self {
        Self {
            server: Arc::new(server),
            whose,
            caller,
            out,
            refused,
            requests: InFlight::default(),
            revision: Legacy::ASSUMED,
            session: None,
            unasked: None,
            limit,
        }
    }

    /// Talks until the peer leaves or `shutdown` fires. Whatever is under way then is cancelled.
    pub(super) async fn run(
        mut self,
        lines: Lines<impl AsyncRead + Unpin>,
        shutdown: CancellationToken,
    ) -> io::Result<()> {
        let talked = self.talk(lines, shutdown).await;
        if let Some(session) = &self.session {
            self.whose.end(&self.server, session.caller()).await;
        }
        talked
    }

    async fn talk(
        &mut self,
        mut lines: Lines<impl AsyncRead + Unpin>,
        shutdown: CancellationToken,
    ) -> io::Result<()> {
        loop {
            // All branches are cancel safe: lines and ended requests stay where they are until they are taken.
            let line = tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                () = self.out.closed() => return Ok(()),
                () = self.requests.ended() => continue,
                line = lines.next() => line?,
            };
            match line {
                Some(Line::Whole(bytes)) => self.take(&bytes).await,
                Some(Line::TooLong) => self.fault(self.too_long()).await,
                None => break,
            }
        }
        // What is not answered by then is dropped with the conversation.
        let _ = timeout(ALL_BUT_THERE, self.requests.all_ended()).await;
        Ok(())
    }

    async fn take(&mut self, line: &Bytes) {
        match envelope::read(line) {
            Ok(Message::Request(request)) => {
                if let Err(fault) = self.request(request).await {
                    self.fault(fault).await;
                }
            }
            Ok(Message::Notification(notification)) => self.hear(notification).await,
            Ok(Message::Response(response)) => {
                if let Some(session) = &self.session {
                    self.whose
                        .answered(&self.server, session.caller(), response)
                        .await;
                }
            }
            Err(fault) => self.fault(fault).await,
        }
    }

    async fn request(&mut self, request: Request) -> Result<(), Fault> {
        let about = Some(request.id.clone());
        let meta = Meta::read(&request.params).map_err(|fault| fault.about(about.clone()))?;
        let era = match era::is_modern(&request.method, &meta, None) {
            true => Era::Modern,
            false => Era::Legacy(self.revision),
        };
        let begins = request.method == "initialize" && !era.is_modern();
        let key = request.id.key();
        let urgency = urgency(&request);
        let wanted = request.params.protocol_version.clone();
        if !begins && !era.is_modern() {
            self.go_on(&request).await;
        }
        let session = self.session.as_ref().filter(|_| !begins && !era.is_modern());
        let caller = session.map_or_else(|| self.caller.again(), Session::caller);
        let in_session = session.is_some();
        let asked = move || Asked {
            id: request.id,
            method: request.method,
            params: request.params,
            meta,
            era,
            caller,
            in_session,
            scope: Some(SCOPE),
            is_conversation: !era.is_modern(),
            streams: true,
        };
        if begins {
            // What follows is spoken in what was agreed on; nobody can take it back.
            let reply = self.whose.answer(&self.server, asked()).await;
            if let Some(wanted) = wanted.as_ref().and_then(text) {
                self.revision = Legacy::negotiate(&wanted);
            }
            if let Some(begun) = Session::of(&reply, &self.caller, self.revision, &self.whose) {
                self.enter(begun);
            }
            say(reply, &self.out, &self.refused).await;
            return Ok(());
        }
        let (server, out, refused) = (Arc::clone(&self.server), self.out.clone(), self.refused.clone());
        let (asked, whose) = (asked(), self.whose.clone());
        let begun = self.requests.begin(key, urgency, async move {
            say(answered(&whose, &server, asked).await, &out, &refused).await
        });
        begun.map_err(|none| no_room(&none).about(about))
    }

    async fn hear(&mut self, heard: Notification) {
        if heard.method == "notifications/cancelled" {
            if let Some(id) = heard.params.request_id.as_ref().and_then(IdKey::read) {
                self.requests.cancel(&id);
            }
            return;
        }
        let is_ready = heard.method == "notifications/initialized";
        if let Some(session) = &self.session {
            self.whose.tell(&self.server, session.caller(), heard).await;
        }
        if is_ready {
            self.listen();
        }
    }

    /// Before each request within a session.
    async fn go_on(&mut self, request: &Request) {
        let Some(session) = &mut self.session else { return };
        session.heed(request);
        if let Some(next) = session.next(&self.server, &self.caller).await {
            self.enter(next);
        }
    }

    fn enter(&mut self, session: Session) {
        self.session = Some(session);
        if self.unasked.take().is_some() {
            self.listen();
        }
    }

    /// From here on the peer may be told things that it did not ask for.
    fn listen(&mut self) {
        if self.unasked.is_none() {
            let session = self.session.as_ref();
            let caller = session.map_or_else(|| self.caller.again(), Session::caller);
            let whose = self.whose.clone();
            let telling = whose.says(Arc::clone(&self.server), caller, self.out.clone());
            self.unasked = Some(AbortOnDropHandle::new(tokio::spawn(telling)));
        }
    }

    async fn fault(&self, fault: Fault) {
        self.refused.note(&fault.http);
        self.out.say(fault.write()).await;
    }

    fn too_long(&self) -> Fault {
        Fault::no_message(format!(
            "the line is longer than {} bytes; send less at a time",
            self.limit
        ))
    }
}

/// A request that fails by our fault is answered as well.
async fn answered(whose: &Whose, server: &Server, asked: Asked) -> Reply {
    let id = asked.id.clone();
    match AssertUnwindSafe(whose.answer(server, asked)).catch_unwind().await {
        Ok(reply) => reply,
        Err(_) => {
            tracing::error!("a request panicked");
            failed(Problem::internal(), &id)
        }
    }
}

/// Says what a request is answered with. Ends early when nobody listens.
async fn say(reply: Reply, out: &Out, refused: &Refused) {
    match reply {
        Reply::Nothing => {}
        Reply::Whole(answer) => {
            refused.note(&answer.beside);
            out.say(answer.joined()).await;
        }
        Reply::Stream(mut messages) => {
            while let Some(message) = messages.next().await {
                if !out.say(message).await {
                    return;
                }
            }
        }
    }
}

/// A report of a problem of the platform gets through when calls hang, which may be the problem; so does a ping.
fn urgency(request: &Request) -> Urgency {
    let reports = || {
        let name = request.params.name.as_ref().and_then(text)?;
        Some(registry::tool(&name)?.group == Some(Group::Platform))
    };
    match request.method.as_str() {
        "ping" => Urgency::Urgent,
        "tools/call" if reports() == Some(true) => Urgency::Urgent,
        _ => Urgency::Usual,
    }
}

fn no_room(why: &NoRoom) -> Fault {
    match why {
        NoRoom::SameId => {
            Fault::no_message("a request of this id is under way; give each one an id of its own")
        }
        NoRoom::Full => failure::of_nothing(
            &Failure::new(
                ErrorReason::Overloaded,
                "too many requests are under way in this conversation; wait for some to end",
            )
            .retry_after(Duration::from_secs(1)),
        ),
    }
}
