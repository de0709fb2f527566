//! A project that speaks the real protocol over a real WebSocket: the relay and the server behind it in one.
//!
//! What it offers is text, and what it answers is text, so that a test can hold what came out against what went in. By
//! itself it answers each call with its name and what it was given.

mod does;
mod real;
mod session;
mod shared;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{sync::mpsc, task::JoinHandle};
use toolgate_contract::frame::{Frame, FrameId, GoAwayReason, Kind, Offer};

pub use self::{
    does::Does,
    real::{Beside, RealProject, lives},
};
use self::{session::Order, shared::Shared};
use crate::uplink::{Identity, Link};

/// A tool that says who it is, as a project offers it.
pub const WHO: &str = r#"{"name":"who_are_you","description":"Says who answers.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}}},"annotations":{"readOnlyHint":true}}"#;
/// A tool that changes something.
pub const CREATE: &str = r#"{"name":"create_story","description":"Creates a story.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#;

/// A request that reached a project.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The id of its frame.
    pub id: FrameId,
    /// The method.
    pub method: String,
    /// The params as they came.
    pub params: String,
    /// The conversation it belongs to; `None` for the one that all share.
    pub conversation: Option<String>,
    /// How long the asker waits.
    pub deadline: Option<Duration>,
    /// When it came.
    pub at: Instant,
    /// When the gateway took it back.
    pub cancelled: Option<Instant>,
}

/// A notification of the gateway's.
#[derive(Debug, Clone)]
pub struct Notified {
    /// The method.
    pub method: String,
    /// The params as they came.
    pub params: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
}

/// What a project has seen.
#[derive(Debug, Clone, Default)]
pub struct Witnessed {
    /// The requests that reached it, in order.
    pub asked: Vec<Asked>,
    /// The notifications.
    pub notified: Vec<Notified>,
    /// What it was answered to requests of its own.
    pub answered: Vec<Frame>,
    /// How many of its requests the gateway took back.
    pub cancelled: usize,
    /// Why the gateway said goodbye, if it did.
    pub goaway: Option<GoAwayReason>,
    /// The handshake is done and the socket open.
    pub connected: bool,
    /// How often it has come.
    pub connections: usize,
    /// When the socket closed last.
    pub closed_at: Option<Instant>,
}

impl Witnessed {
    /// The calls of tools among what was asked.
    pub fn calls(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().filter(|asked| asked.method == "tools/call")
    }
}

/// A fake project.
#[derive(Debug)]
pub struct Project {
    identity: Arc<Identity>,
    shared: Arc<Shared>,
    orders: Mutex<Option<mpsc::Sender<Order>>>,
    task: Mutex<Option<JoinHandle<()>>>,
    name: String,
    target: String,
}

impl Project {
    /// Enrols at a gateway with a one-time token and stays connected. It offers [`WHO`] and [`CREATE`].
    ///
    /// # Errors
    /// What the gateway said instead of a welcome.
    pub async fn enrol(url: &str, name: &str, target: &str, token: &str) -> Result<Self, String> {
        Self::enrol_with(url, name, target, token, &[WHO, CREATE]).await
    }

    /// The same, offering these tools.
    ///
    /// # Errors
    /// What the gateway said instead of a welcome.
    pub async fn enrol_with(
        url: &str,
        name: &str,
        target: &str,
        token: &str,
        tools: &[&str],
    ) -> Result<Self, String> {
        let (identity, link) = Identity::enrol(url, token, Offer::Project).await?;
        let project = Self {
            identity: Arc::new(identity),
            shared: Arc::new(Shared::new(name, tools)),
            orders: Mutex::new(None),
            task: Mutex::new(None),
            name: name.to_owned(),
            target: target.to_owned(),
        };
        project.run(link);
        Ok(project)
    }

    /// Dials again, maybe another address; a connection that still stands is left to the gateway to close.
    ///
    /// # Errors
    /// What the gateway said instead of a welcome.
    pub async fn dial(&self, url: &str) -> Result<(), String> {
        let link = self.identity.dial(url).await?;
        self.run(link);
        Ok(())
    }

    /// The same project on a host that was set up anew: it says the same relay's id and proves another key. It does not
    /// dial yet.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn set_up_anew(&self) -> Result<Self, String> {
        Ok(Self {
            identity: Arc::new(self.identity.with_another_key()?),
            shared: Arc::new(Shared::new(&self.name, &[WHO, CREATE])),
            orders: Mutex::new(None),
            task: Mutex::new(None),
            name: self.name.clone(),
            target: self.target.clone(),
        })
    }

    /// The id of its relay, as the gateway gave it.
    #[must_use]
    pub fn relay(&self) -> &str {
        self.identity.relay()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of its target.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// From now on does so when this tool is called, or this method asked for.
    pub fn when(&self, tool_or_method: &str, does: Does) {
        self.shared.when(tool_or_method, does);
    }

    /// From now on offers these tools, and says that they changed.
    pub async fn offers(&self, tools: &[&str]) {
        self.shared.offer(tools);
        self.notify("notifications/tools/list_changed", "{}").await;
    }

    /// From now on offers these tools and says nothing of it.
    pub fn offers_silently(&self, tools: &[&str]) {
        self.shared.offer(tools);
    }

    /// From now on lists so many tools a page.
    pub fn pages(&self, size: usize) {
        self.shared.page(size);
    }

    /// Says something that has no answer, in the shared conversation.
    pub async fn notify(&self, method: &str, params: &str) {
        self.send(Frame::notify(method, params.to_owned())).await;
    }

    /// The same on account of a request of the gateway's.
    pub async fn notify_about(&self, asked: &Asked, method: &str, params: &str) {
        let conversation = asked.conversation.as_deref().and_then(FrameId::parse);
        let frame = Frame::notify(method, params.to_owned())
            .within(conversation)
            .about(Some(asked.id.clone()));
        self.send(frame).await;
    }

    /// Asks the client something on account of a request of the gateway's, and waits for the answer.
    pub async fn ask_about(&self, asked: &Asked, method: &str, params: &str) -> Option<Frame> {
        let conversation = asked.conversation.as_deref().and_then(FrameId::parse);
        self.ask(method, params, conversation, Some(asked.id.clone()))
            .await
    }

    /// Asks the client something, and waits for the answer.
    pub async fn ask(
        &self,
        method: &str,
        params: &str,
        conversation: Option<FrameId>,
        about: Option<FrameId>,
    ) -> Option<Frame> {
        let id = self.shared.next_id()?;
        let mut frame = Frame::new(Kind::Request, id.clone(), params.to_owned())
            .within(conversation)
            .about(about);
        frame.header.method = Some(method.to_owned());
        self.send(frame).await;
        let answered = |seen: &Witnessed| seen.answered.iter().any(|frame| frame.header.id == id);
        let seen = self.wait(Duration::from_secs(10), answered).await;
        seen.answered.into_iter().find(|frame| frame.header.id == id)
    }

    /// Any frame at all.
    pub async fn send(&self, frame: Frame) {
        self.order(Order::Send(frame)).await;
    }

    /// Lets the call that waits for it answer, or the next that will.
    pub fn tell(&self) {
        self.shared.tell();
    }

    /// Keeps the socket open from now on, and says nothing more: no answers, no pongs.
    pub async fn falls_silent(&self) {
        self.order(Order::FallSilent).await;
    }

    /// What it has seen.
    #[must_use]
    pub fn seen(&self) -> Witnessed {
        self.shared.seen()
    }

    /// The calls that reached it: tool and arguments as they came.
    #[must_use]
    pub fn calls(&self) -> Vec<(String, String)> {
        let params = |asked: &Asked| {
            let (tool, arguments) = shared::call_of(&asked.params);
            (tool, arguments.to_owned())
        };
        self.seen().calls().map(params).collect()
    }

    /// Forgets what it has been asked so far.
    pub fn forget(&self) {
        self.shared.forget();
    }

    /// Waits at most `limit` until what it has seen satisfies `check`; gives what it has seen either way.
    pub async fn wait(&self, limit: Duration, check: impl FnMut(&Witnessed) -> bool) -> Witnessed {
        self.shared.wait(limit, check).await
    }

    /// Waits for the call of a tool, at most five seconds.
    pub async fn called(&self, tool: &str) -> Option<Asked> {
        let is_it = |asked: &&Asked| shared::call_of(&asked.params).0 == tool;
        let seen = self
            .wait(Duration::from_secs(5), |seen| {
                seen.calls().any(|asked| is_it(&asked))
            })
            .await;
        seen.calls().find(is_it).cloned()
    }

    /// Cuts the socket.
    pub fn hang_up(&self) {
        if let Some(task) = lock(&self.task).take() {
            task.abort();
            self.shared.closed();
        }
    }

    async fn order(&self, order: Order) {
        let orders = lock(&self.orders).clone();
        if let Some(orders) = orders {
            let _ = orders.send(order).await;
        }
    }

    fn run(&self, link: Link) {
        let (orders, given) = mpsc::channel(64);
        let shared = Arc::clone(&self.shared);
        shared.opened(link.session.clone());
        // The session holds the other end as well, so that a connection that was left behind goes on.
        let answers = orders.clone();
        let task = tokio::spawn(async move {
            session::serve(link, Arc::clone(&shared), given, answers).await;
            shared.closed();
        });
        *lock(&self.orders) = Some(orders);
        *lock(&self.task) = Some(task);
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
