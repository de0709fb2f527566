//! Inventory reads are shared: one errand per key however many wait, and what it brought is kept for a minute.
//!
//! The flight begins with its starter's intent, which stays open until it has landed although the starter left, and has
//! the whole time of a call whatever its starter had left. It looks into the cache once more before it contacts
//! anything, since another one may have landed between its starter's look and now. What it tells while it goes on, it
//! tells its starter: who joins hears the answer only, since it came in the middle.

use tokio::time::timeout;

use super::{
    answer::Answer,
    dispatch::fitting,
    errand::{Errand, Fault},
};
use crate::{
    cache::Key,
    error::Error,
    telemetry,
    upstream::{UpstreamCall, UpstreamError},
};

/// The answer of the one flight of this key. Dropped, it gives up its seat.
pub(super) async fn share(errand: Errand, key: Key) -> Result<Answer, Error> {
    let flights = errand.rooms.flights.clone();
    let mut seat = flights.seat(key.clone(), |given_up| {
        let call = UpstreamCall {
            deadline: errand.rooms.upstream_timeout,
            cancelled: given_up,
            ..errand.call.clone()
        };
        fly(Errand { call, ..errand }, key)
    });
    if seat.joined() {
        telemetry::inventory("joined");
    }
    match seat.arrival().await {
        Some(answer) => answer.map_err(Error::from),
        None => Err(Error::internal("a flight was lost")),
    }
}

async fn fly(errand: Errand, key: Key) -> Result<Answer, Fault> {
    if let Some(hit) = errand.rooms.cache.look(&key) {
        telemetry::inventory("hit");
        return Ok(Answer::kept(hit));
    }
    telemetry::inventory("missed");
    let carried = timeout(errand.rooms.upstream_timeout, errand.carry()).await;
    let result = carried.unwrap_or(Err(UpstreamError::Timeout.into()))?;
    let result = std::sync::Arc::new(fitting(key.tool, result)?);
    errand.rooms.cache.keep(key, &result);
    Ok(Answer::fresh(result))
}
