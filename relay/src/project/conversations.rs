//! The conversations that clients lead: each with a child process or a session of its own, not too many, none forgotten.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use toolgate_contract::frame::{Frame, FrameId, Refusal, RefusalCode};

use super::{conversation::Conversation, gateway::Gateway, local::Local};

/// Conversations at once.
pub(crate) const MOST: usize = 64;
/// A conversation in which nothing is said for so long is ended.
pub(crate) const IDLE: Duration = Duration::from_secs(30 * 60);
const LOOK: Duration = Duration::from_secs(60);

/// The conversations that stand.
#[derive(Debug)]
pub(crate) struct Conversations {
    local: Arc<Local>,
    gateway: Arc<Gateway>,
    standing: Mutex<HashMap<FrameId, Arc<Conversation>>>,
}

impl Conversations {
    pub(crate) fn new(local: Arc<Local>, gateway: Arc<Gateway>) -> Arc<Self> {
        Arc::new(Self {
            local,
            gateway,
            standing: Mutex::default(),
        })
    }

    /// The conversation of this id.
    pub(crate) fn of(&self, id: &FrameId) -> Option<Arc<Conversation>> {
        self.standing().get(id).cloned()
    }

    /// Begins a conversation; one of the same id ends.
    pub(crate) fn begin(self: &Arc<Self>, id: &FrameId) -> Result<Arc<Conversation>, Refusal> {
        let former = self.standing().remove(id);
        if let Some(former) = former {
            former.close();
        }
        if self.standing().len() >= MOST {
            return Err(Refusal::new(
                RefusalCode::Overloaded,
                "too many conversations stand",
            ));
        }
        let begun = self
            .local
            .dial(Some(id.clone()), &self.gateway)
            .map_err(|error| {
                tracing::error!(%error, "a conversation cannot begin");
                Refusal::new(RefusalCode::ServerDown, "the server cannot be started")
            })?;
        self.standing().insert(id.clone(), Arc::clone(&begun));
        let (all, watched) = (Arc::clone(self), Arc::clone(&begun));
        self.local
            .tasks()
            .spawn(async move { all.see_off(watched).await });
        Ok(begun)
    }

    /// Ends a conversation, if it stands.
    pub(crate) fn close(&self, id: &FrameId) {
        if let Some(conversation) = self.of(id) {
            conversation.close();
        }
    }

    /// Ends all of them. None is known any more, and nobody is told.
    pub(crate) fn close_all(&self) {
        let all = std::mem::take(&mut *self.standing());
        for conversation in all.into_values() {
            conversation.close();
        }
    }

    /// Ends those that nobody uses, until `stop`.
    pub(crate) async fn tidy(self: Arc<Self>, stop: CancellationToken) {
        let mut beat = interval(LOOK);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = beat.tick() => {}
                () = stop.cancelled() => return,
            }
            for conversation in self.standing().values() {
                if conversation.idle() >= IDLE {
                    conversation.close();
                }
            }
        }
    }

    /// Waits for the end of a conversation, and tells the gateway.
    async fn see_off(&self, conversation: Arc<Conversation>) {
        conversation.ended().await;
        let Some(id) = conversation.name().cloned() else {
            return;
        };
        {
            let mut standing = self.standing();
            let is_still_it = standing.get(&id).is_some_and(|it| Arc::ptr_eq(it, &conversation));
            if !is_still_it {
                return;
            }
            standing.remove(&id);
        }
        let why = conversation.why_over().unwrap_or_default();
        let body = format!(r#"{{"why":{}}}"#, super::message::quoted(&why));
        let closed = Frame::notify("toolgate/closed", body).within(Some(id));
        self.gateway.notify(closed).await;
    }

    fn standing(&self) -> MutexGuard<'_, HashMap<FrameId, Arc<Conversation>>> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
