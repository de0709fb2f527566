//! The core's session of a conversation on a pipe, so that what is switched in it is switched for it alone.
//!
//! A pipe may be open for longer than a session goes on. One in which nothing was switched is then followed by another,
//! and nobody notices. One in which something was is not: its calls would go elsewhere without a word, so the client
//! hears that it is over and begins anew.

use std::time::Duration;

use tokio::time::Instant;
use toolgate_contract::v1::OpenMcpSessionRequest;

use super::whose::Whose;
use crate::{
    link::Caller,
    mcp::{envelope::Request, reply::Reply, revision::Legacy, server::Server},
};

/// Well before the end of a session, which is a day.
const GOES_ON: Duration = Duration::from_secs(20 * 60 * 60);
/// The tool that says where calls go from then on; by whatever way it is called, its name is said.
const SWITCHES: &[u8] = b"switch_project";

/// A session that a conversation is in.
#[derive(Debug)]
pub(super) struct Session {
    caller: Caller,
    revision: Legacy,
    opened: Instant,
    is_switched: bool,
}

impl Session {
    /// The session that begins with this reply to `initialize`.
    pub(super) fn of(reply: &Reply, outside: &Caller, revision: Legacy, whose: &Whose) -> Option<Self> {
        let Reply::Whole(answer) = reply else { return None };
        let begun = Self::begin(answer.session.as_deref()?, outside, revision)?;
        Some(Self {
            // What was said in it nobody but the project's server knows.
            is_switched: !whose.has_successors(),
            ..begun
        })
    }

    fn begin(id: &str, outside: &Caller, revision: Legacy) -> Option<Self> {
        Some(Self {
            caller: outside.again().in_session(id).ok()?,
            revision,
            opened: Instant::now(),
            is_switched: false,
        })
    }

    /// The client within it.
    pub(super) fn caller(&self) -> Caller {
        self.caller.again()
    }

    /// Looks at what is asked in it.
    pub(super) fn heed(&mut self, request: &Request) {
        let says = |bytes: &[u8]| bytes.windows(SWITCHES.len()).any(|part| part == SWITCHES);
        self.is_switched |= request.method == "tools/call" && says(&request.params.raw);
    }

    /// The session that follows this one, where it is time; it goes on where there is none.
    pub(super) async fn next(&self, server: &Server, outside: &Caller) -> Option<Self> {
        if self.is_switched || self.opened.elapsed() < GOES_ON {
            return None;
        }
        let request = outside.again().request(OpenMcpSessionRequest {
            revision: self.revision.name().into(),
        });
        let mut sessions = server.link.sessions();
        let opened = server.link.ask(sessions.open_mcp_session(request)).await.ok()?;
        Self::begin(&opened.session_id, outside, self.revision)
    }
}
