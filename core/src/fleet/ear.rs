//! Hears what happens on uplinks: who came, who left, what a project's server says.

use std::{sync::Arc, time::Duration};

use toolgate_contract::{
    frame::{GoAwayReason, Offer, PublicKey},
    ids::{TargetId, TenantId},
};

use super::Fleet;
use crate::uplinks::{RelayRecord, Said, ServerPhase, UplinkEvents};

/// Says that the list of tools is another one.
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// Hears for the fleet, and passes on to whoever heard before.
#[derive(Debug)]
pub struct Ear<E> {
    fleet: Fleet,
    next: Arc<E>,
}

impl Fleet {
    /// One who hears for this fleet, and passes on to `next`.
    #[must_use]
    pub fn ear<E>(&self, next: Arc<E>) -> Ear<E> {
        Ear {
            fleet: self.clone(),
            next,
        }
    }

    fn hear(&self, relay: &RelayRecord, said: &Said<'_>) {
        let now_us = self.0.clock.wall_us();
        let mut look = false;
        self.with(&relay.tenant, relay.target, |live| match said {
            Said::Notification { method, params } => {
                live.note(method, params, now_us);
                look = *method == LIST_CHANGED;
                live.asking.wanted |= look;
            }
            Said::Server(state) => {
                // One that has come up may bring other tools than before.
                look = state.state == ServerPhase::Up
                    && live
                        .server
                        .as_ref()
                        .is_none_or(|former| former.state != ServerPhase::Up);
                live.asking.wanted |= look;
                if look {
                    live.asking.not_before = Duration::ZERO;
                }
                live.server = Some((*state).clone());
            }
        });
        if look {
            self.0.wanted.notify_one();
        }
    }
}

impl<E: UplinkEvents> UplinkEvents for Ear<E> {
    fn connected(&self, relay: &RelayRecord) {
        self.next.connected(relay);
        if relay.offer == Offer::Project {
            self.fleet.with(&relay.tenant, relay.target, |live| {
                // Nothing is known of its server until its relay says so.
                live.server = None;
                live.asking.wanted = true;
                live.asking.not_before = Duration::ZERO;
            });
            self.fleet.0.wanted.notify_one();
        }
    }

    fn disconnected(&self, relay: &RelayRecord) {
        self.next.disconnected(relay);
        if relay.offer == Offer::Project {
            let now_us = self.fleet.0.clock.wall_us();
            self.fleet.with(&relay.tenant, relay.target, |live| {
                live.last_seen_us = Some(now_us)
            });
        }
    }

    fn refused(&self, tenant: &TenantId, reason: GoAwayReason) {
        self.next.refused(tenant, reason);
    }

    fn clone_suspected(&self, relay: &RelayRecord) {
        self.next.clone_suspected(relay);
    }

    fn presented(&self, tenant: &TenantId, target: TargetId, key: PublicKey) {
        self.next.presented(tenant, target, key);
    }

    fn said(&self, relay: &RelayRecord, said: Said<'_>) {
        self.fleet.hear(relay, &said);
        self.next.said(relay, said);
    }
}
