//! The server without a transport: one request in, one reply out.
//!
//! A transport reads a message with [`read`](super::envelope::read), says in which [`Era`] it is spoken and who speaks
//! ([`Asked`]), and sends the [`Reply`]; messages without an answer go to [`Server::hear`]. Dropping the future or the
//! stream of a reply stops what was asked for. What a request may do is decided by the core alone; every request asks it
//! at least once, so that every credential is looked at (row A3).

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    mirrored::Mirror,
    v1::{Failure, GetSelfRequest, GetSelfResponse},
};

use super::{
    envelope::{Id, IdKey, Notification, Params, Request, text},
    era::{Era, Meta},
    failure,
    fault::Fault,
    in_flight::{InFlight, Place},
    level::{Levels, Scope},
    listening::Listening,
    method,
    mirrored::Told,
    pipe::Ways,
    reply::Reply,
    result::ServerInfo,
    tools::Tools,
};
use crate::{
    FacadeConfig, ToolNames,
    catalog::Lists,
    link::{Caller, Link},
    problem::Problem,
};

/// What the methods need, made once.
#[derive(Debug)]
pub(crate) struct Server {
    pub(super) link: Link,
    pub(super) info: ServerInfo,
    pub(super) names: ToolNames,
    pub(super) lists: Lists<Tools>,
    pub(super) levels: Levels,
    pub(super) listening: Arc<Listening>,
    /// No stream that only listens goes on after this.
    pub(super) closed: CancellationToken,
    /// The streams by which servers of projects reach clients outside of their requests.
    pub(super) ways: Ways,
    /// What tools of projects want in headers as well.
    pub(super) told: Told,
    in_flight: InFlight,
    hasher: RandomState,
}

/// One request and what its transport knows of it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Params,
    pub(super) meta: Meta,
    pub(super) era: Era,
    /// Who asks: credential, profile and session, ready to be sent to the core.
    pub(super) caller: Caller,
    /// Whether the caller speaks within a session that the core knows.
    pub(super) in_session: bool,
    /// Among whose requests `notifications/cancelled` finds it; `None` where dropping it is the only way to stop it.
    pub(super) scope: Option<Scope>,
    /// Whether the scope is one conversation, which remembers what `logging/setLevel` said.
    pub(super) is_conversation: bool,
    /// Whether messages can be sent before the answer.
    pub(super) streams: bool,
}

impl Server {
    pub(crate) fn new(link: Link, config: &FacadeConfig, closed: CancellationToken) -> Self {
        Self {
            link,
            info: ServerInfo::new(&config.version),
            names: config.tool_names,
            lists: Lists::default(),
            levels: Levels::default(),
            listening: Arc::new(Listening::default()),
            closed,
            ways: Ways::default(),
            told: Told::default(),
            in_flight: InFlight::default(),
            hasher: RandomState::new(),
        }
    }

    /// Carries one request out.
    pub(super) async fn answer(&self, asked: Asked) -> Reply {
        if asked.era.is_modern()
            && let Err(fault) = asked.meta.check_modern()
        {
            return fault.about(Some(asked.id)).into();
        }
        match (asked.method.as_str(), asked.era) {
            ("tools/call", _) => method::tools_call::answer(self, asked).await,
            ("tools/list", _) => method::tools_list::answer(self, asked).await,
            ("initialize", Era::Legacy(_)) => method::initialize::answer(self, asked).await,
            ("ping", Era::Legacy(_)) => method::ping::answer(self, asked).await,
            ("logging/setLevel", Era::Legacy(_)) => method::set_level::answer(self, asked).await,
            ("server/discover", Era::Modern) => method::discover::answer(self, asked).await,
            ("subscriptions/listen", Era::Modern) => method::listen::answer(self, asked).await,
            _ => method::unknown::answer(self, asked).await,
        }
    }

    /// Takes a message that wants no answer.
    ///
    /// # Errors
    /// The core does not accept the caller.
    pub(super) async fn hear(&self, heard: Notification, caller: Caller, scope: Scope) -> Result<(), Fault> {
        self.accept(caller).await?;
        if heard.method == "notifications/cancelled"
            && let Some(id) = heard.params.request_id.as_ref().and_then(IdKey::read)
        {
            self.in_flight.cancel(scope, id);
        }
        Ok(())
    }

    /// Asks the core whether it accepts the caller, for messages that need nothing else of it.
    ///
    /// # Errors
    /// Why not.
    pub(super) async fn accept(&self, caller: Caller) -> Result<(), Fault> {
        let who = self.who(caller).await;
        who.map(drop).map_err(|failure| failure::of_nothing(&failure))
    }

    /// Asks the core who the caller is.
    ///
    /// # Errors
    /// The core does not accept it.
    pub(super) async fn who(&self, caller: Caller) -> Result<GetSelfResponse, Failure> {
        let mut sessions = self.link.sessions();
        let asked = sessions.get_self(caller.request(GetSelfRequest {}));
        let who = self.link.ask(asked).await;
        who.map_err(Problem::into_failure)
    }

    /// What the tool that is called wants in headers as well, by the list that the caller was given.
    pub(super) fn mirrors(&self, caller: &Caller, request: &Request) -> Option<Arc<[Mirror]>> {
        let name = request
            .params
            .name
            .as_ref()
            .filter(|_| request.method == "tools/call")?;
        self.lists.known(caller)?.written.mirrors.of_tool(&text(name)?)
    }

    /// Notes a request so that `notifications/cancelled` finds it; the token then tells.
    pub(super) fn note(&self, asked: &Asked) -> (CancellationToken, Option<Place>) {
        let cancelled = CancellationToken::new();
        let scope = asked.scope;
        let place = scope.and_then(|scope| self.in_flight.note(scope, asked.id.key(), &cancelled));
        (cancelled, place)
    }

    /// The scope of whoever can be told apart by these bytes.
    pub(super) fn scope(&self, of: &[&[u8]]) -> Scope {
        Scope(self.hasher.hash_one(of))
    }
}

/// A failure of a method whose result cannot be an error.
pub(super) fn failed(problem: Problem, id: &Id) -> Reply {
    failure::of_method(&problem.into_failure(), id).into()
}
