//! The events of one call and those who watch them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    ids::{CallId, TenantId},
    v1::{CallDone, WatchResponse, watch_response::Event},
};

use super::Ended;
use crate::identity::Principal;

/// What a kept call costs beside its events' own bytes: stream, channel, ids and their places in the maps.
const OVERHEAD: usize = 1_024;

/// The events of one call.
#[derive(Debug)]
pub(crate) struct Stream {
    call: CallId,
    tenant: TenantId,
    principal: Arc<str>,
    cancel: CancellationToken,
    watchers: AtomicUsize,
    events: watch::Sender<Events>,
}

#[derive(Debug, Default)]
struct Events {
    list: Vec<WatchResponse>,
    ended: bool,
}

impl Stream {
    pub(super) fn new(call: CallId, owner: &Principal, cancel: CancellationToken) -> Self {
        Self {
            call,
            tenant: owner.tenant.clone(),
            principal: Arc::clone(&owner.name),
            cancel,
            watchers: AtomicUsize::new(0),
            events: watch::Sender::default(),
        }
    }

    pub(super) fn call(&self) -> CallId {
        self.call
    }

    pub(super) fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    pub(super) fn belongs_to(&self, caller: &Principal) -> bool {
        self.tenant == caller.tenant && self.principal == caller.name
    }

    /// Puts the last events; returns the bytes they hold.
    pub(super) fn finish(&self, ended: Ended) -> usize {
        let last = match ended {
            Ended::Released { result, duration_ms } => {
                vec![Event::ToolResult(result), Event::Done(CallDone { duration_ms })]
            }
            Ended::Failed(failure) => vec![Event::Error(failure)],
        };
        let bytes = OVERHEAD + last.iter().map(size).sum::<usize>();
        self.events.send_modify(|events| {
            for event in last {
                let id = format!("{}-{}", self.call, events.list.len() + 1);
                events.list.push(WatchResponse {
                    id,
                    event: Some(event),
                });
            }
            events.ended = true;
        });
        bytes
    }
}

/// One who watches a call. When the last one leaves before the end, the call is cancelled.
#[derive(Debug)]
pub struct Watcher {
    stream: Arc<Stream>,
    events: watch::Receiver<Events>,
    next: usize,
}

impl Watcher {
    pub(super) fn new(stream: Arc<Stream>, after: usize) -> Self {
        stream.watchers.fetch_add(1, Ordering::SeqCst);
        let events = stream.events.subscribe();
        Self {
            stream,
            events,
            next: after,
        }
    }

    /// The next event; `None` after the last. Cancel-safe.
    pub async fn next(&mut self) -> Option<WatchResponse> {
        let next = self.next;
        let seen = self
            .events
            .wait_for(|events| events.ended || events.list.len() > next)
            .await
            .ok()?;
        let event = seen.list.get(next).cloned();
        drop(seen);
        self.next += 1;
        event
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let last = self.stream.watchers.fetch_sub(1, Ordering::SeqCst) == 1;
        if last && !self.events.borrow().ended {
            self.stream.cancel.cancel();
        }
    }
}

fn size(event: &Event) -> usize {
    match event {
        Event::ToolResult(result) => {
            result.content.len() + result.structured_content.len() + result.meta.len()
        }
        Event::Done(_) => 0,
        Event::Error(failure) => failure.message.len(),
    }
}
