//! `WatchTools`: the versions of a caller's catalog, one after the other.
//!
//! The caller is who it is now: it is authenticated anew at every change of its tenant and every few seconds besides, so
//! a credential that is revoked or has ended ends the stream as it would refuse any other request.

use futures::{Stream, stream};
use tonic::Status;
use toolgate_contract::v1::WatchToolsResponse;

use super::{list, status};
use crate::{
    broker::{Ask, Broker, Failed},
    identity::Action,
    limits::Watching,
    snapshot::Sleeper,
};

/// One who watches.
pub(super) struct Watcher {
    broker: Broker,
    ask: Ask,
    watching: Watching,
    sleeper: Sleeper,
    /// The version that was told last.
    told: Option<String>,
    over: bool,
}

impl Watcher {
    /// Takes a place for whoever asks.
    pub(super) async fn new(broker: &Broker, ask: Ask) -> Result<Self, Failed> {
        let caller = broker.caller(&ask, Action::UseTools).await?;
        let (rooms, tenant) = (broker.rooms(), &caller.principal().tenant);
        match rooms.watches.take(tenant) {
            Ok(watching) => Ok(Self {
                broker: broker.clone(),
                ask,
                watching,
                // Before the first look at the catalog, so that no change falls between the two.
                sleeper: rooms.snapshots.sleeper(tenant),
                told: None,
                over: false,
            }),
            Err(error) => Err(broker.refuse(&caller, error).await),
        }
    }

    /// Its versions; the stream ends with the gateway.
    pub(super) fn versions(self) -> impl Stream<Item = Result<WatchToolsResponse, Status>> + Send {
        stream::unfold(self, async |mut watcher| {
            let next = watcher.next().await?;
            watcher.over = next.is_err();
            Some((next.map_err(status), watcher))
        })
    }

    async fn next(&mut self) -> Option<Result<WatchToolsResponse, Failed>> {
        while !self.over {
            if self.told.is_some() && !self.watching.wait(self.sleeper.woken()).await {
                return None;
            }
            let caller = match self.broker.caller(&self.ask, Action::UseTools).await {
                Ok(caller) => caller,
                Err(failed) => return Some(Err(failed)),
            };
            let list = list::now(&self.broker, &caller);
            if self.told.as_ref() != Some(&list.version) {
                self.told = Some(list.version.clone());
                return Some(Ok(WatchToolsResponse {
                    version: list.version.clone(),
                    tools: u32::try_from(list.tools.len()).unwrap_or(u32::MAX),
                }));
            }
        }
        None
    }
}
