//! How a gateway ends: calls in flight keep their uplinks until they have settled.
//!
//! Probes say no at once; new calls are still carried for a moment, then refused; calls under way settle; relays are
//! told goodbye; doors close once the last answer is out; the record is closed, the lock released. Under twenty seconds
//! in all, whatever hangs.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use toolgate_core::Core;

use super::{built_in::BuiltIn, doors::Doors, rooms};
use crate::failure::Failure;

/// How long calls are still taken after probes say no.
pub(super) const ACCEPT_AFTER_TOLD: Duration = Duration::from_millis(500);
/// Calls under way have settled by then, counted from the beginning like the times below it.
const SETTLED_BY: Duration = Duration::from_secs(14);
/// The last answer is out by then.
pub(super) const ANSWERED_BY: Duration = Duration::from_secs(17);
/// The own relay has this long to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// Calls of others are given so long by a core that lives for one client only.
const OTHERS_BY: Duration = Duration::from_secs(1);

/// Ends a core that nobody was promised, in steps as below but at once.
pub(super) async fn end_soon(core: Core, doors: Doors, closing: &CancellationToken) -> Result<(), Failure> {
    core.announce_end().await;
    core.drain(OTHERS_BY).await;
    core.part().await;
    closing.cancel();
    let closed = timeout(OTHERS_BY, doors.close()).await;
    closed.unwrap_or(Ok(())).and(rooms::close(core).await)
}

/// Ends the core and its doors; `closing` is what the doors were given.
pub(super) async fn end(
    core: Core,
    relay: Option<BuiltIn>,
    doors: Doors,
    closing: &CancellationToken,
) -> Result<(), Failure> {
    let began = Instant::now();
    core.announce_end().await;
    sleep(ACCEPT_AFTER_TOLD).await;
    core.drain((began + SETTLED_BY).duration_since(Instant::now()))
        .await;
    if let Some(relay) = relay {
        // It goes by itself before it is sent away, which it would take for a fault.
        if timeout(GOODBYE, relay.stop()).await.is_err() {
            tracing::warn!("the built-in relay did not end in time");
        }
    }
    core.part().await;
    closing.cancel();
    let closed = timeout_at(began + ANSWERED_BY, doors.close()).await;
    let closed = closed.unwrap_or_else(|_| {
        tracing::warn!("connections were still open at the end and are cut");
        Ok(())
    });
    closed.and(rooms::close(core).await)
}
