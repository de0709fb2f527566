//! How many tools the client of a pipe has: said at the start, and shown as a gauge for as long as the pipe is served.

use std::time::Duration;

use metrics::{describe_gauge, gauge};
use tokio::time::sleep;
use toolgate_contract::{
    registry::profile_label,
    v1::{ListToolsRequest, WatchToolsRequest},
};

use crate::{
    link::{Caller, Link},
    problem::Problem,
};

/// A core that is gone may come back; until then it is not asked more often.
const COMES_BACK: Duration = Duration::from_secs(5);

/// Says that the profile in force is not the one that the process asks for.
pub(super) fn tell_unmet(asked: Option<&str>, found: Option<&str>) {
    let asked = asked.filter(|asked| !asked.is_empty() && Some(*asked) != found);
    match (asked, found) {
        (Some(asked), None) => {
            tracing::warn!(profile = %asked.escape_debug(), "unknown profile, nothing is hidden by it; `toolgate profile list` names those there are");
        }
        (Some(asked), Some("closed")) => {
            tracing::warn!(profile = %asked.escape_debug(), "unknown profile, only what no profile leaves out is there; `toolgate profile list` names those there are");
        }
        (Some(asked), Some(pinned)) => {
            tracing::warn!(profile = %asked.escape_debug(), pinned, "the credential has a profile of its own, which stands whatever is asked for");
        }
        (None, _) => {}
    }
}

/// Says what the client is offered under the profile in force.
pub(super) async fn say(link: &Link, caller: Caller, found: Option<&str>) {
    describe_gauge!(
        "tatara_mcp_registered_tools",
        "Tools in the list that was last made under a profile, by profile"
    );
    let profile = found.unwrap_or("all");
    match count(link, caller, found).await {
        Ok(tools) => tracing::info!(
            profile,
            tools,
            "tools are offered to the client on standard input"
        ),
        // The client will hear why at its own first request.
        Err(problem) => {
            let reason = problem.into_failure().reason().name();
            tracing::warn!(
                profile,
                reason,
                "there is no list of tools for the client on standard input"
            );
        }
    }
}

/// Counts anew after every change. Whoever spawned this owns it.
pub(super) async fn keep(link: Link, caller: Caller, profile: Option<String>) {
    loop {
        let _ = follow(&link, &caller, profile.as_deref()).await;
        sleep(COMES_BACK).await;
    }
}

async fn follow(link: &Link, caller: &Caller, profile: Option<&str>) -> Result<(), Problem> {
    let mut broker = link.broker();
    let asked = broker.watch_tools(caller.again().request(WatchToolsRequest {}));
    let mut versions = link.ask(asked).await?;
    while versions.message().await?.is_some() {
        count(link, caller.again(), profile).await?;
    }
    Ok(())
}

async fn count(link: &Link, caller: Caller, profile: Option<&str>) -> Result<usize, Problem> {
    let mut broker = link.broker();
    let asked = broker.list_tools(caller.request(ListToolsRequest { known_version: None }));
    let tools = link.ask(asked).await?.tools.len();
    gauge!("tatara_mcp_registered_tools", "profile" => profile_label(profile))
        .set(u32::try_from(tools).unwrap_or(u32::MAX));
    Ok(tools)
}
