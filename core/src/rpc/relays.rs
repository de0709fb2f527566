//! The relays of hosts and projects, as `FleetService` tells them.

use tonic::{Request, Response, Status};
use toolgate_contract::v1::{
    ListRelaysRequest, ListRelaysResponse, PinRelayRequest, PinRelayResponse, Relay as Told,
};

use super::{Rpc, manage::by};
use crate::{identity::Action, projects::Relay, rfc3339};

pub(super) async fn list(
    rpc: &Rpc,
    request: Request<ListRelaysRequest>,
) -> Result<Response<ListRelaysResponse>, Status> {
    let caller = rpc.caller(&request, Action::SeeTargets).await?;
    let listed = rpc.projects.relays(&by(&caller)).await;
    let relays = rpc.answer(&caller, listed).await?;
    let now_us = rpc.broker.rooms().clock.wall_us();
    let relays = relays.iter().map(|relay| told(relay, now_us)).collect();
    Ok(Response::new(ListRelaysResponse { relays }))
}

pub(super) async fn pin(
    rpc: &Rpc,
    request: Request<PinRelayRequest>,
) -> Result<Response<PinRelayResponse>, Status> {
    let caller = rpc.caller(&request, Action::ChangeTargets).await?;
    let PinRelayRequest { target_id, key } = request.into_inner();
    let pinned = rpc.projects.pin_relay(by(&caller), &target_id, &key).await;
    let relay = rpc.answer(&caller, pinned).await?;
    let now_us = rpc.broker.rooms().clock.wall_us();
    Ok(Response::new(PinRelayResponse {
        relay: Some(told(&relay, now_us)),
    }))
}

fn told(relay: &Relay, now_us: i64) -> Told {
    let status = &relay.status;
    let time = |at: Option<i64>| at.map(rfc3339::format).unwrap_or_default();
    let key = |key: Option<toolgate_contract::frame::PublicKey>| key.map(|key| key.to_string());
    let kept_out = status
        .kept_out
        .filter(|(key, _)| relay.target.relay_key != Some(*key));
    let kept_out_us =
        kept_out.map(|(_, age)| now_us.saturating_sub(i64::try_from(age.as_micros()).unwrap_or(i64::MAX)));
    Told {
        target_id: relay.target.id.to_string(),
        name: relay.target.name.clone(),
        kind: if relay.is_of_project() { "project" } else { "host" }.into(),
        state: relay.state.into(),
        why: relay.why.clone().unwrap_or_default(),
        last_seen: time(status.last_seen_us),
        latency_ms: status.latency_ms,
        pinned_key: key(relay.target.relay_key).unwrap_or_default(),
        live_key: key(relay.live_key()).unwrap_or_default(),
        mismatch: relay.mismatch(),
        connected_since: time(status.connected_us),
        kept_out_key: key(kept_out.map(|(key, _)| key)).unwrap_or_default(),
        kept_out_at: time(kept_out_us),
        in_flight: u32::try_from(status.in_flight).unwrap_or(u32::MAX),
        built_in: relay.target.is_built_in(),
    }
}
