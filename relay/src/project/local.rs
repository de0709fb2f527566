//! Where the local server is, and how a conversation with it begins.

use std::{
    ffi::OsString,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use reqwest::{Client, Url};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use toolgate_contract::frame::FrameId;

use super::{
    child::{Child, Program},
    client::{self, BadServerUrl},
    conversation::Conversation,
    events::Events,
    gateway::Gateway,
    http::Http,
    startable,
    wire::{Heard, QUEUE, Wire},
};
use crate::exec::GuardProgram;

/// The server that is brought to the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalServer {
    /// A child process that speaks on standard input and output.
    Command {
        /// The program.
        program: OsString,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// A server that is there already, at this URL.
    Url(String),
}

/// Why a server cannot be brought at all.
#[derive(Debug, thiserror::Error)]
pub enum BadServer {
    /// The URL names none.
    #[error("server URL: {0}")]
    Url(#[from] BadServerUrl),
    /// The program is not there, or may not be run.
    #[error("{program} cannot be started: {why}; give the command of the server after --")]
    Program {
        /// As it was given.
        program: String,
        /// Why not.
        #[source]
        why: io::Error,
    },
    /// There can be no client for it.
    #[error("HTTP client: {0}")]
    Client(#[source] io::Error),
}

/// The local server.
#[derive(Debug)]
pub(crate) struct Local {
    place: Place,
    /// It speaks HTTP+SSE of revision 2024-11-05.
    by_events: AtomicBool,
    tasks: TaskTracker,
}

#[derive(Debug)]
enum Place {
    Command(Program),
    Url { client: Client, url: Url },
}

impl Local {
    pub(crate) fn new(
        server: LocalServer,
        guard: GuardProgram,
        tasks: TaskTracker,
    ) -> Result<Self, BadServer> {
        let place = match server {
            LocalServer::Command { program, arguments } => Place::Command(Program {
                guard,
                program,
                arguments,
            }),
            LocalServer::Url(url) => {
                let url = client::url(&url)?;
                let client = client::client(&url).map_err(BadServer::Client)?;
                Place::Url { client, url }
            }
        };
        Ok(Self {
            place,
            by_events: AtomicBool::new(false),
            tasks,
        })
    }

    /// Whether there is something to start at all.
    pub(crate) fn check(&self) -> Result<(), BadServer> {
        let Place::Command(program) = &self.place else {
            return Ok(());
        };
        startable::check(&program.program).map_err(|why| BadServer::Program {
            program: program.program.display().to_string(),
            why,
        })
    }

    /// Begins a conversation: a child process, a session or a stream of its own.
    pub(crate) fn dial(
        &self,
        name: Option<FrameId>,
        gateway: &Arc<Gateway>,
    ) -> io::Result<Arc<Conversation>> {
        let (heard, hearing) = mpsc::channel(QUEUE);
        let wire = self.wire(heard)?;
        let conversation = Conversation::new(name, wire, Arc::clone(gateway));
        self.tasks.spawn(Arc::clone(&conversation).listen(hearing));
        Ok(conversation)
    }

    /// What is run for the server, and must end before the relay does.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    pub(crate) fn is_url(&self) -> bool {
        matches!(self.place, Place::Url { .. })
    }

    /// From now on, Streamable HTTP or HTTP+SSE.
    pub(crate) fn use_events(&self, by_events: bool) {
        self.by_events.store(by_events, Ordering::Relaxed);
    }

    /// How it is spoken to, in a word.
    pub(crate) fn transport(&self) -> &'static str {
        match &self.place {
            Place::Command(_) => "stdio",
            Place::Url { .. } if self.by_events.load(Ordering::Relaxed) => "http+sse",
            Place::Url { .. } => "streamable-http",
        }
    }

    fn wire(&self, heard: mpsc::Sender<Heard>) -> io::Result<Wire> {
        Ok(match &self.place {
            Place::Command(program) => Wire::Child(Child::start(program, heard, &self.tasks)?),
            Place::Url { client, url } if self.by_events.load(Ordering::Relaxed) => {
                Wire::Events(Events::open(client.clone(), url.clone(), heard, &self.tasks))
            }
            Place::Url { client, url } => {
                Wire::Http(Http::new(client.clone(), url.clone(), heard, &self.tasks))
            }
        })
    }
}
