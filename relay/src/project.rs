//! `toolgate relay project`: an MCP server of the operator's own, brought to the gateway over the uplink.
//!
//! Requests of the gateway go to the server as JSON-RPC and come back as they were answered, byte for byte; what the
//! server says or asks by itself goes up. There is one conversation that all callers share, and one for each client of
//! the pipe that leads its own. May touch processes it starts and the one URL it is given. Absent: any knowledge of what
//! tools mean, any decision who may call them. The path of one request: `session` takes the frame, `Project` finds the
//! conversation, `conversation` gives it an id, a wire (`child`, `http`, `events`) carries it.

mod child;
mod child_log;
mod client;
mod conversation;
mod conversations;
mod era;
mod events;
mod gateway;
mod http;
mod lines;
mod local;
mod message;
mod mirrored;
mod oversized;
mod shared;
pub mod sse;
mod startable;
mod stateless;
mod tell;
mod wire;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{Frame, FrameId, MAX_BODY, Offer, Refusal, RefusalCode},
};

pub use client::BadServerUrl;
pub use local::{BadServer, LocalServer};

use crate::{
    config::TrustRoots,
    exec::GuardProgram,
    service::{Outcome, Service},
    uplink::{Relay, RelayError, RelayState, UplinkConfig},
    voice::Voice,
};
use conversation::{Asked, Conversation};
use conversations::Conversations;
use era::{Era, Opened};
use gateway::Gateway;
use local::Local;
use shared::{Now, Standing};
use wire::Unanswered;

/// The conversation of messages that belong to none.
const RAW: &str = "raw";
/// What a request waits for a server that is starting.
const STARTING: Duration = Duration::from_millis(1500);
/// What everything gets to end: the grace of a child, and of its guard.
const END: Duration = Duration::from_secs(7);

/// Settings of `toolgate relay project`.
#[derive(Debug)]
pub struct ProjectConfig {
    /// The gateway, as `http`, `https`, `ws` or `wss`; without TLS only on loopback.
    pub gateway_url: String,
    /// The one-time token, for the first start. A token that has been redeemed already is passed over.
    pub enrolment_token: Option<EnrolmentToken>,
    /// What people see; decides nothing.
    pub name: String,
    /// The server that is brought.
    pub server: LocalServer,
    /// Where the key and the pin are kept.
    pub state_dir: PathBuf,
    /// How guards are made.
    pub guard: GuardProgram,
    /// Whose certificates are believed of the gateway.
    pub roots: TrustRoots,
    /// Root is accepted; the server then runs as root as well.
    pub allow_root: bool,
    /// Where the state is shown, if anyone looks.
    pub state: Option<watch::Sender<RelayState>>,
}

/// Runs the relay of a project until `shutdown`.
pub async fn run_project(config: ProjectConfig, shutdown: CancellationToken) -> Result<(), RelayError> {
    let tasks = TaskTracker::new();
    let local = Local::new(config.server, config.guard, tasks).map_err(RelayError::Server)?;
    // Before the token is spent for a server that can never be.
    local.check().map_err(RelayError::Server)?;
    let project = Project::new(local);
    let uplink = UplinkConfig {
        gateway_url: config.gateway_url,
        enrolment_token: config.enrolment_token,
        name: config.name,
        state_dir: config.state_dir,
        roots: config.roots,
        allow_root: config.allow_root,
        state: config.state,
    };
    let mut relay = Relay::new(uplink, Arc::clone(&project))?;
    let outcome = relay.run(&shutdown).await;
    project.end().await;
    relay.show(RelayState::Stopped);
    outcome
}

/// A server, as the session sees it.
#[derive(Debug)]
pub(crate) struct Project {
    local: Arc<Local>,
    gateway: Arc<Gateway>,
    now: Arc<watch::Sender<Now>>,
    led: Arc<Conversations>,
    begun: AtomicBool,
    stop: CancellationToken,
}

/// A request, as far as it is settled in the order of the frames.
enum Begun {
    Asked(Asked),
    /// It waits for the server to be there.
    Waiting,
    Settled(Outcome),
}

impl Project {
    fn new(local: Local) -> Arc<Self> {
        let (local, gateway) = (Arc::new(local), Arc::new(Gateway::default()));
        Arc::new(Self {
            now: Arc::new(watch::Sender::new(Now::new())),
            led: Conversations::new(Arc::clone(&local), Arc::clone(&gateway)),
            local,
            gateway,
            begun: AtomicBool::new(false),
            stop: CancellationToken::new(),
        })
    }

    /// Starts the server and all that looks after it, once.
    fn begin(&self) {
        if self.begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let (local, gateway) = (Arc::clone(&self.local), Arc::clone(&self.gateway));
        let (now, stop) = (Arc::clone(&self.now), self.stop.clone());
        let tasks = self.local.tasks();
        tasks.spawn(tell::keep_telling(
            Arc::clone(&local),
            Arc::clone(&gateway),
            now.subscribe(),
            stop.clone(),
        ));
        tasks.spawn(shared::keep(local, gateway, now, stop.clone()));
        tasks.spawn(Arc::clone(&self.led).tidy(stop));
    }

    /// Ends the server, and waits until nothing of it is left.
    async fn end(&self) {
        self.stop.cancel();
        self.led.close_all();
        let tasks = self.local.tasks();
        tasks.close();
        if timeout(END, tasks.wait()).await.is_err() {
            tracing::warn!("the server did not end in time; its guard goes on killing it");
        }
    }

    /// What has to happen in the order of the frames.
    fn start(&self, request: &Frame) -> Begun {
        let Some(params) = message::object(&request.body) else {
            let refusal = Refusal::new(RefusalCode::Malformed, "params are no JSON object");
            return Begun::Settled(Outcome::Refused(refusal));
        };
        let id = request.header.id.clone();
        let method = request.header.method.as_deref().unwrap_or_default();
        let asked = match &request.header.conversation {
            None => match self.standing() {
                Standing::Starting => return Begun::Waiting,
                standing => ask_shared(&standing, id, method, params),
            },
            Some(conversation) if conversation.as_str() == RAW => match self.standing() {
                Standing::Starting => return Begun::Waiting,
                Standing::Up(opened) if opened.era == Era::Sessions => {
                    return Begun::Settled(Outcome::Error(not_stateless(method, &opened)));
                }
                Standing::Up(opened) => opened.conversation.ask(Some(id), method, params),
                Standing::Down(why) => Err(down(&why)),
            },
            Some(conversation) => self
                .conversation(conversation, method)
                .and_then(|conversation| conversation.ask(Some(id), method, params)),
        };
        match asked {
            Ok(asked) => Begun::Asked(asked),
            Err(refusal) => Begun::Settled(Outcome::Refused(refusal)),
        }
    }

    fn conversation(&self, id: &FrameId, method: &str) -> Result<Arc<Conversation>, Refusal> {
        if method == "initialize" {
            if let Standing::Down(why) = self.standing() {
                return Err(down(&why));
            }
            return self.led.begin(id);
        }
        self.led.of(id).ok_or_else(|| {
            Refusal::new(
                RefusalCode::ConversationUnknown,
                "the conversation has ended; begin anew with initialize",
            )
        })
    }

    async fn finish(&self, begun: Begun, request: &Frame) -> Outcome {
        let begun = match begun {
            Begun::Waiting => {
                self.when_started().await;
                match self.start(request) {
                    Begun::Waiting => Begun::Settled(Outcome::Refused(down("it is starting"))),
                    begun => begun,
                }
            }
            begun => begun,
        };
        let mut asked = match begun {
            Begun::Asked(asked) => asked,
            Begun::Settled(outcome) => return outcome,
            Begun::Waiting => return Outcome::Refused(down("it is starting")),
        };
        match asked.answer().await {
            Ok(result) => Outcome::Result(result),
            Err(Unanswered::SessionLost) => {
                asked.conversation().close();
                match request.header.conversation {
                    // Nobody but the relay can begin this one anew, and it does.
                    None => Outcome::Refused(down("it forgets its session")),
                    Some(_) => Unanswered::SessionLost.into_outcome(),
                }
            }
            Err(why) => why.into_outcome(),
        }
    }

    async fn when_started(&self) {
        let mut now = self.now.subscribe();
        let started = now.wait_for(|now| !matches!(now.standing, Standing::Starting));
        let _ = timeout(STARTING, started).await;
    }

    fn standing(&self) -> Standing {
        self.now.borrow().standing.clone()
    }
}

impl Service for Project {
    const OFFER: Offer = Offer::Project;
    const BUDGET: usize = 4 * MAX_BODY;

    fn connected(&self, voice: Voice) {
        self.gateway.connect(voice);
        self.now.send_modify(|now| now.connection += 1);
        // Nothing is started for a gateway that does not want this relay.
        self.begin();
    }

    fn disconnected(&self) {
        self.gateway.disconnect();
        // The next connection cannot know them, and nobody else would end them.
        self.led.close_all();
    }

    fn answer(self: Arc<Self>, request: Frame, cancelled: CancellationToken) -> BoxFuture<'static, Outcome> {
        let begun = self.start(&request);
        let deadline = request
            .header
            .deadline_ms
            .and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        async move {
            let late = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            // Whatever wins, the request is withdrawn with the future that waits for it.
            tokio::select! {
                biased;
                outcome = self.finish(begun, &request) => outcome,
                () = cancelled.cancelled() => refused(RefusalCode::Cancelled, "cancelled"),
                () = late => refused(RefusalCode::DeadlineExceeded, "the server had not answered at the deadline"),
            }
        }
        .boxed()
    }

    fn hear(&self, notification: Frame) {
        let method = notification.header.method.as_deref().unwrap_or_default();
        match &notification.header.conversation {
            // Its body says nothing, whatever it is.
            Some(conversation) if method == "toolgate/close" => return self.led.close(conversation),
            // Requests are withdrawn by frames of their own: ids of JSON-RPC are not the gateway's to name.
            _ if method.starts_with("toolgate/") || method == "notifications/cancelled" => return,
            // The relay has opened the shared conversation itself.
            None if method == "notifications/initialized" => return,
            // Servers that go by the method alone would carry out a request that has no id.
            _ if !method.starts_with("notifications/") => {
                tracing::warn!(
                    method,
                    "a client told what is no notification; it is not passed on"
                );
                return;
            }
            _ => {}
        }
        let Some(params) = message::object(&notification.body) else {
            tracing::warn!(method, "a client told what cannot be read; it is not passed on");
            return;
        };
        match &notification.header.conversation {
            None => {
                if let Standing::Up(opened) = self.standing() {
                    opened.conversation.say(method, params);
                }
            }
            Some(conversation) => {
                if let Some(conversation) = self.led.of(conversation) {
                    conversation.say(method, params);
                }
            }
        }
    }

    fn take_answer(&self, response: Frame) -> bool {
        self.gateway.take_answer(&response)
    }
}

fn ask_shared(standing: &Standing, id: FrameId, method: &str, params: &str) -> Result<Asked, Refusal> {
    match standing {
        Standing::Up(opened) if opened.era == Era::Stateless => {
            let params = stateless::completed(params).map_err(|error| {
                Refusal::new(
                    RefusalCode::Malformed,
                    format!("params cannot be passed on: {error}"),
                )
            })?;
            opened.conversation.ask(Some(id), method, &params)
        }
        Standing::Up(opened) => opened.conversation.ask(Some(id), method, params),
        Standing::Down(why) => Err(down(why)),
        Standing::Starting => Err(down("it is starting")),
    }
}

/// What a client of revision 2026-07-28 hears from a server of an era before: try with a session.
fn not_stateless(method: &str, opened: &Opened) -> bytes::Bytes {
    if method == "server/discover" {
        return message::error(-32601, "method not found");
    }
    let revision = message::quoted(&opened.revision);
    format!(
        r#"{{"code":-32022,"message":"unsupported protocol version","data":{{"supported":[{revision}],"requested":"{}"}}}}"#,
        stateless::REVISION
    )
    .into()
}

fn down(why: &str) -> Refusal {
    Refusal::new(RefusalCode::ServerDown, format!("the server is down: {why}"))
}

fn refused(code: RefusalCode, message: &str) -> Outcome {
    Outcome::Refused(Refusal::new(code, message))
}

#[cfg(test)]
mod tests;
