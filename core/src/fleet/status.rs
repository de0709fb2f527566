//! How one project does, as lists and `gateway_health` tell it.

use std::time::Duration;

use toolgate_contract::frame::PublicKey;

use super::Fleet;
use crate::{
    snapshot::{RelayStanding, Snapshot, Target},
    uplinks::{ServerPhase, ServerState, WeakUplinks},
};

/// A project that is connected and was not heard for this long is silent: two heartbeats are missing.
const SILENT_AFTER: Duration = Duration::from_secs(30);

/// How a project does now.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// `live`, `silent`, `server_down`, `offline`, `waiting`, `revoked` or `locked`.
    pub state: &'static str,
    /// Why it is not live, or has no tools, where that is known.
    pub why: Option<String>,
    /// Since when its relay is connected, microseconds UTC.
    pub connected_us: Option<i64>,
    /// Calls under way over its connection.
    pub in_flight: usize,
    /// When its relay was last heard, microseconds UTC.
    pub last_seen_us: Option<i64>,
    /// Milliseconds of the last heartbeat.
    pub latency_ms: Option<f64>,
    /// When its server last told an event, microseconds UTC.
    pub last_event_us: Option<i64>,
    /// How many tools it brings.
    pub tools: usize,
    /// SHA-256 of the list that callers see.
    pub hash: Option<String>,
    /// SHA-256 of a list that waits for an admin's word.
    pub withheld: Option<String>,
    /// Its server, as its relay says.
    pub server: Option<ServerState>,
    /// The key that was proven last, whether it was let in or not, and how long ago.
    pub live_key: Option<(PublicKey, Duration)>,
    /// A key that somebody has proven and that was kept out, and how long ago.
    pub kept_out: Option<(PublicKey, Duration)>,
}

impl Fleet {
    /// How a project of this tenant does, or the relay of a host.
    #[must_use]
    pub fn status(&self, snapshot: &Snapshot, target: &Target) -> Status {
        let uplinks = self.0.uplinks.get().and_then(WeakUplinks::get);
        let uplinks = uplinks.as_ref();
        let presence = uplinks.and_then(|uplinks| uplinks.presence(&snapshot.tenant, target.id));
        let now_us = self.0.clock.wall_us();
        let projects = self.projects();
        let live = projects.get(&target.id);
        let server = live.and_then(|live| live.server.clone());
        let mut status = Status {
            last_event_us: live.and_then(|live| live.last_event_us),
            tools: live
                .and_then(|live| live.list.as_ref())
                .map_or(0, |list| list.tools().len()),
            hash: live
                .and_then(|live| live.list.as_ref())
                .map(|list| list.hash.to_string()),
            withheld: live
                .and_then(|live| live.withheld.as_ref())
                .map(|list| list.hash.to_string()),
            live_key: uplinks.and_then(|uplinks| uplinks.live_key(&snapshot.tenant, target.id)),
            kept_out: uplinks.and_then(|uplinks| uplinks.kept_out(&snapshot.tenant, target.id)),
            why: live.and_then(|live| match live.withheld.is_some() {
                true => Some("its tools have changed and wait for an admin's word".to_owned()),
                false => live.why.clone(),
            }),
            server: server.clone(),
            ..Status::default()
        };
        let Some(presence) = presence else {
            let heard = uplinks.and_then(|uplinks| uplinks.last_heard(&snapshot.tenant, target.id));
            status.last_seen_us = live
                .and_then(|live| live.last_seen_us)
                .or_else(|| heard.map(|age| now_us.saturating_sub(whole_us(age))));
            status.state = match target.relay {
                RelayStanding::Enrolled => "offline",
                RelayStanding::Waiting => "waiting",
                RelayStanding::Revoked => "revoked",
                RelayStanding::Locked => "locked",
            };
            return status;
        };
        status.last_seen_us = Some(now_us.saturating_sub(whole_us(presence.silent_for)));
        status.connected_us = Some(now_us.saturating_sub(whole_us(presence.connected_for)));
        status.in_flight = presence.in_flight;
        status.latency_ms = presence.latency.map(|latency| latency.as_secs_f64() * 1_000.0);
        status.state = match &server {
            _ if presence.silent_for >= SILENT_AFTER => "silent",
            Some(server) if server.state != ServerPhase::Up => "server_down",
            _ => "live",
        };
        if let (Some(server), "server_down") = (server, status.state) {
            let starting =
                (server.state == ServerPhase::Starting).then(|| "its server is starting".to_owned());
            status.why = server.why.map(|why| why.to_string()).or(starting).or(status.why);
        }
        status
    }
}

fn whole_us(age: Duration) -> i64 {
    i64::try_from(age.as_micros()).unwrap_or(i64::MAX)
}
