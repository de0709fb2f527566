//! MCP over a pair of pipes: one client, one message a line, UTF-8 (rows IO1, IO2).
//!
//! Decides nothing that the transport over HTTP does not decide as well: both ask one [`Server`]. What is a pipe's own:
//! the credential is that of the process, the revision is that of the conversation, a request is taken back by
//! `notifications/cancelled` and by leaving, and nothing but messages is ever written.

mod changes;
mod conversation;
mod in_flight;
mod lines;
mod out;
mod refused;
mod registered;
mod session;
mod whose;

use std::{fmt, future::Future, io, time::Duration};

use http::HeaderValue;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};
use toolgate_contract::v1::{Failure, GetSelfRequest, GetSelfResponse};

use self::{
    conversation::Conversation, lines::Lines, out::Out, refused::Refused, registered::Registered,
    whose::Whose,
};
use super::server::Server;
use crate::{
    CoreService, FacadeConfig, ToolNames,
    link::{Caller, Context, Link},
};

/// What was answered before the end is still written, to a peer that takes it.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Who speaks through the pipe, and how.
#[derive(Clone)]
pub struct Stdio {
    /// What is told to the core as the caller's credential.
    credential: HeaderValue,
    /// The profile that narrows the tools.
    pub profile: Option<String>,
    /// The project whose server is spoken to, as it is; the gateway itself where there is none.
    pub project: Option<String>,
    /// What the process works for and on, from its environment.
    pub context: Context,
    /// How tools are called in lists.
    pub tool_names: ToolNames,
    /// Whether nothing is served where the core knows no profile of that name and would hide nothing.
    pub closed_to_unknown: bool,
    /// The name by which the server calls itself.
    pub server_name: String,
    /// Version of the product.
    pub version: String,
}

impl Stdio {
    /// With this token and nothing else said.
    ///
    /// # Errors
    /// The token is not plain text.
    pub fn new(token: &str) -> Result<Self, http::header::InvalidHeaderValue> {
        let mut credential = HeaderValue::try_from(format!("Bearer {token}"))?;
        credential.set_sensitive(true);
        Ok(Self {
            credential,
            profile: None,
            project: None,
            context: Context::default(),
            tool_names: ToolNames::default(),
            closed_to_unknown: false,
            server_name: super::SERVER_NAME.into(),
            version: env!("CARGO_PKG_VERSION").into(),
        })
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("credential", &"***")
            .field("profile", &self.profile)
            .field("project", &self.project)
            .field("context", &self.context)
            .field("tool_names", &self.tool_names)
            .field("closed_to_unknown", &self.closed_to_unknown)
            .field("server_name", &self.server_name)
            .field("version", &self.version)
            .finish()
    }
}

/// Why a pipe was not served, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The core does not answer. Nothing was read yet.
    #[error("the core cannot be reached: {0}")]
    Unreachable(String),
    /// The core knows no profile of this name and would hide nothing, which the settings do not want. Nothing was read yet.
    #[error("the core knows no profile named {0}, and would hide nothing")]
    UnknownProfile(String),
    /// The core does not accept the caller. Nothing was read yet.
    #[error("{}", .0.message)]
    Refused(Box<Failure>),
    /// The peer cannot be read from or written to.
    #[error("the pipe is broken: {0}")]
    Pipe(#[from] io::Error),
}

/// Serves one client until it leaves or `shutdown` fires; what is under way then is cancelled.
///
/// # Errors
/// Why it did not begin, or broke off. A client that left is no error.
pub async fn stdio(
    core: CoreService,
    settings: Stdio,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    shutdown: CancellationToken,
) -> Result<(), StdioError> {
    let config = FacadeConfig {
        tool_names: settings.tool_names,
        version: settings.version,
        ..FacadeConfig::default()
    };
    let link = Link::new(core, config.limits.core);
    let caller = Caller::of_process(
        settings.credential,
        settings.profile.as_deref(),
        &settings.context,
    )
    .map_err(|problem| StdioError::Refused(Box::new(problem.into_failure())))?;
    let who = greet(&link, caller.again(), config.limits.core).await?;
    let profile = who.profile;
    let asked = settings.profile.as_deref().filter(|asked| !asked.is_empty());
    if let (true, Some(asked), None) = (settings.closed_to_unknown, asked, &profile) {
        return Err(StdioError::UnknownProfile(asked.escape_debug().to_string()));
    }
    registered::tell_unmet(settings.profile.as_deref(), profile.as_deref());
    // Who may not list them is not counted for: each time would be one more refusal on the record.
    let _counting = match who.uses_tools {
        // The tools of a project's server are not of this list.
        true if settings.project.is_some() => None,
        true => {
            let registered = Registered::open(link.clone(), caller.again(), profile).await;
            Some(AbortOnDropHandle::new(tokio::spawn(registered.keep())))
        }
        false => {
            tracing::warn!(
                role = who.role,
                "the role of this credential may not use tools; the client will be told so"
            );
            None
        }
    };

    // What only listens ends with the pipe.
    let closed = shutdown.child_token();
    let _closes = closed.clone().drop_guard();
    let telling = TaskTracker::new();
    let refused = Refused::new(link.clone(), &caller, telling.clone());
    let mut server = Server::new(link, &config, closed);
    server.info.name = settings.server_name.into();
    let (out, said) = Out::new();
    let whose = Whose::of(settings.project.as_deref());
    let conversation = Conversation::new(server, whose, caller, out, refused, config.limits.body);
    let writing = out::write(output, said, config.limits.write);
    let talked = talk(
        conversation.run(Lines::new(input, config.limits.body), shutdown),
        writing,
    )
    .await;
    telling.close();
    let _ = timeout(LAST_LINES, telling.wait()).await;
    talked
}

/// Asks the core whether it knows the caller, before anything is promised to the client.
async fn greet(link: &Link, caller: Caller, patience: Duration) -> Result<GetSelfResponse, StdioError> {
    let mut sessions = link.sessions();
    let asked = sessions.get_self(caller.request(GetSelfRequest {}));
    let answer = timeout(patience, asked)
        .await
        .map_err(|_| StdioError::Unreachable("it does not answer".into()))?;
    match answer {
        Ok(who) => Ok(who.into_inner()),
        // A core tells its reason in details; a way to it that failed has none.
        Err(status) if status.details().is_empty() => Err(StdioError::Unreachable(status.message().into())),
        Err(status) => Err(StdioError::Refused(Box::new(Failure::from_status(&status)))),
    }
}

/// Runs both sides: the writer ends with the last way to it, or when the peer takes nothing more.
async fn talk(
    conversation: impl Future<Output = io::Result<()>>,
    writing: impl Future<Output = io::Result<()>>,
) -> Result<(), StdioError> {
    tokio::pin!(conversation, writing);
    // Both are polled in place until one of them ends.
    let heard = tokio::select! {
        heard = &mut conversation => heard,
        written = &mut writing => return left(written),
    };
    let written = timeout(LAST_LINES, writing).await.unwrap_or(Ok(()));
    heard?;
    left(written)
}

/// A peer that closed its end has left.
fn left(written: io::Result<()>) -> Result<(), StdioError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
