//! How many tools the client of a pipe has: said at the start, and shown as a gauge for as long as the pipe is served.
//!
//! Counted by watching the list and never by asking for it: the caller's allowance of lists is its client's.

use std::time::Duration;

use metrics::{describe_gauge, gauge};
use tokio::time::sleep;
use tonic::Streaming;
use toolgate_contract::{
    registry::profile_label,
    v1::{WatchToolsRequest, WatchToolsResponse},
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

/// The list of one caller, watched.
pub(super) struct Registered {
    link: Link,
    caller: Caller,
    profile: Option<String>,
    /// None where watching has ended.
    versions: Option<Streaming<WatchToolsResponse>>,
}

impl Registered {
    /// Counts the tools of now, and says how many the client is offered under the profile in force.
    pub(super) async fn open(link: Link, caller: Caller, profile: Option<String>) -> Self {
        describe_gauge!(
            "tatara_mcp_registered_tools",
            "Tools in the list that was last made under a profile, by profile"
        );
        let mut registered = Self {
            link,
            caller,
            profile,
            versions: None,
        };
        let counted = match registered.watch().await {
            Ok(()) => registered.count().await,
            Err(problem) => Err(problem),
        };
        let profile = registered.profile.as_deref().unwrap_or("all");
        match counted {
            Ok(tools) => tracing::info!(
                profile,
                tools = tools.unwrap_or_default(),
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
        registered
    }

    /// Counts anew after every change. Whoever spawned this owns it.
    pub(super) async fn keep(mut self) {
        loop {
            while let Ok(Some(_)) = self.count().await {}
            sleep(COMES_BACK).await;
            // What fails now is tried again.
            let _ = self.watch().await;
        }
    }

    async fn watch(&mut self) -> Result<(), Problem> {
        self.versions = None;
        let mut broker = self.link.broker();
        let asked = broker.watch_tools(self.caller.again().request(WatchToolsRequest {}));
        self.versions = Some(self.link.ask(asked).await?);
        Ok(())
    }

    /// Waits for the next version; `None` when there is none to come.
    async fn count(&mut self) -> Result<Option<u32>, Problem> {
        let Some(versions) = &mut self.versions else {
            return Ok(None);
        };
        let Some(version) = versions.message().await? else {
            return Ok(None);
        };
        gauge!("tatara_mcp_registered_tools", "profile" => profile_label(self.profile.as_deref()))
            .set(version.tools);
        Ok(Some(version.tools))
    }
}
