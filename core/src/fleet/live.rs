//! What is known of the projects now, and survives no restart: their lists of tools, their servers, what they told last.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use toolgate_contract::ids::{TargetId, TenantId};

use super::tool_list::ToolList;
use crate::uplinks::ServerState;

/// Events of one project that are remembered.
const EVENTS: usize = 100;
/// Bytes of an event's parameters that are.
const LONGEST_EVENT: usize = 2 * 1024;

/// The projects, by target.
pub(super) type Projects = HashMap<TargetId, Live>;

/// One project.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) tenant: TenantId,
    /// What callers see; `None` where nothing is known, or it is kept back.
    pub(super) list: Option<Arc<ToolList>>,
    /// The one that was in force before the one that is kept back, where it was seen.
    pub(super) former: Option<Arc<ToolList>>,
    /// A changed list that an admin has to accept.
    pub(super) withheld: Option<Arc<ToolList>>,
    pub(super) server: Option<ServerState>,
    /// Why there is no list, where it was asked for in vain.
    pub(super) why: Option<String>,
    /// Microseconds UTC.
    pub(super) last_seen_us: Option<i64>,
    pub(super) last_event_us: Option<i64>,
    /// The newest last.
    pub(super) events: VecDeque<Event>,
    pub(super) asking: Asking,
}

/// Whether its list has to be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asking {
    /// Since something changed.
    pub(super) wanted: bool,
    /// It is being asked.
    pub(super) under_way: bool,
    /// Not before this, on the monotonic clock: whoever cries change all day is not asked all day.
    pub(super) not_before: Duration,
    /// When it was looked at last, on the monotonic clock.
    pub(super) looked: Duration,
    /// Times in a row that it was asked in vain.
    pub(super) failures: u32,
}

/// Something that a project's server told outside of any call.
#[derive(Debug, Clone)]
pub struct Event {
    /// When, microseconds UTC.
    pub at_us: i64,
    /// The notification's method.
    pub method: Arc<str>,
    /// Its parameters, cut.
    pub params: Bytes,
}

impl Live {
    pub(super) fn of(tenant: &TenantId) -> Self {
        Self {
            tenant: tenant.clone(),
            list: None,
            former: None,
            withheld: None,
            server: None,
            why: None,
            last_seen_us: None,
            last_event_us: None,
            events: VecDeque::new(),
            asking: Asking::default(),
        }
    }

    pub(super) fn note(&mut self, method: &str, params: &Bytes, at_us: i64) {
        self.last_event_us = Some(at_us);
        if self.events.len() >= EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(Event {
            at_us,
            method: method.chars().take(128).collect::<String>().into(),
            // A copy, so that a long message is not kept for its beginning.
            params: Bytes::copy_from_slice(&params[..params.len().min(LONGEST_EVENT)]),
        });
    }
}
