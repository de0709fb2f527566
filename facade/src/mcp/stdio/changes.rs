//! Tells the peer of an older revision when its list of tools is another one.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::sleep;
use toolgate_contract::v1::ErrorReason;

use super::out::Out;
use crate::{
    link::Caller,
    mcp::{
        listening::{Heard, Listener},
        server::Server,
    },
};

const CHANGED: Bytes =
    Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
/// A core that is gone may come back; until then it is not asked more often.
const COMES_BACK: Duration = Duration::from_secs(5);

/// Tells each change until the conversation ends. Whoever spawned this owns it.
pub(super) async fn tell(server: Arc<Server>, caller: Caller, out: Out) {
    let mut missed = false;
    while !server.closed.is_cancelled() {
        match Listener::open(&server, caller.again(), None).await {
            Ok(listener) => {
                // What happened while nobody listened is not known.
                if missed && !out.say(CHANGED).await {
                    return;
                }
                missed = until_end(listener, &out).await;
            }
            Err(failure) => {
                tracing::debug!(
                    reason = failure.reason().name(),
                    "changes of the tools cannot be watched"
                );
                // A role does not change while a pipe is served.
                if failure.reason() == ErrorReason::RoleForbidden {
                    return;
                }
                missed = true;
            }
        }
        if missed {
            sleep(COMES_BACK).await;
        }
    }
}

/// Whether it ended in a fault.
async fn until_end(mut listener: Listener, out: &Out) -> bool {
    loop {
        match listener.hear().await {
            Heard::Changed => {
                if !out.say(CHANGED).await {
                    return false;
                }
            }
            Heard::End => return false,
            Heard::Failed(_) => return true,
        }
    }
}
