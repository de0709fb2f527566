//! Tells the gateway how the server is: at every connection, and at every change.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_contract::frame::Frame;

use super::{
    gateway::Gateway,
    local::Local,
    shared::{Now, Standing},
};

/// The longest name or version that is passed on.
const LONGEST: usize = 200;

#[derive(Default, Serialize)]
struct Told<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// Tells until `stop`. One task, so that an older state never follows a newer one.
pub(crate) async fn keep_telling(
    local: Arc<Local>,
    gateway: Arc<Gateway>,
    mut now: watch::Receiver<Now>,
    stop: CancellationToken,
) {
    loop {
        let standing = now.borrow_and_update().standing.clone();
        gateway.notify(told(&local, &standing)).await;
        tokio::select! {
            changed = now.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

fn told(local: &Local, standing: &Standing) -> Frame {
    let told = match standing {
        Standing::Starting => Told {
            state: "starting",
            ..Told::default()
        },
        Standing::Up(opened) => Told {
            state: "up",
            name: Some(cut(&opened.server.name)),
            version: Some(cut(&opened.server.version)),
            revision: Some(&opened.revision),
            transport: Some(local.transport()),
            why: None,
        },
        Standing::Down(why) => Told {
            state: "down",
            why: Some(why),
            ..Told::default()
        },
    };
    // A struct of texts; writing it cannot fail.
    Frame::notify("toolgate/server", serde_json::to_vec(&told).unwrap_or_default())
}

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}
