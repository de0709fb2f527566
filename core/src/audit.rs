//! The vocabulary of the record: what an event holds. Sealing, verifying and exporting stand in this folder.

pub mod chain;
pub mod export;
#[cfg(test)]
pub(crate) mod ledger;
pub mod list;
mod normal;
pub mod row_bytes;
mod rows;
pub mod verify;

use toolgate_contract::ids::{CallId, EventId, TargetId};

pub use self::{
    chain::{Head, SealedRow, Sealer},
    row_bytes::{Columns, RowError, decode, encode},
    verify::{ChainVerifier, StoredRow, Verdict, Verification},
};

/// One event of the record, before it has a place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Made by the writer; a repeated append of the same id is recognised.
    pub id: EventId,
    /// What happened.
    pub kind: EventKind,
    /// Microseconds UTC; says when, never in which order.
    pub time_us: i64,
    /// Name of the principal; empty where none is known.
    pub principal: String,
    /// Role of the principal; empty where none is known.
    pub role: String,
    /// The dialect it came by: `rest`, `grpc`, `cli`, `mcp`, `system`.
    pub facade: String,
    /// Adapter type of the target; empty where there is none.
    pub adapter_type: String,
    /// The target.
    pub target_id: Option<TargetId>,
    /// Canonical tool name, or what the caller asked for when it is none (bounded, control characters escaped).
    pub capability: String,
    /// Keyed hash of the canonical arguments.
    pub params_hash: Option<[u8; 32]>,
    /// How it ended.
    pub result: Outcome,
    /// `ErrorReason` in UPPER_SNAKE; empty for success.
    pub reason: String,
    /// Milliseconds from admission to settlement.
    pub duration_ms: i64,
    /// The call.
    pub correlation_id: Option<CallId>,
    /// A JSON object with further facts of this kind; empty where there are none. Never a credential.
    pub detail: String,
}

macro_rules! closed_names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the record.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The value of this name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }
        }
    };
}

closed_names! {
    /// The kinds of events (`gateway.md` §3).
    EventKind {
        /// A target was created, updated or removed.
        AdapterConfigured = "adapter.configured",
        /// A target was not stored because its validation failed.
        AdapterConfigurationRefused = "adapter.configuration_refused",
        /// A connection test passed.
        TestConnectionSucceeded = "adapter.test_connection.succeeded",
        /// A connection test failed.
        TestConnectionFailed = "adapter.test_connection.failed",
        /// A tool was called.
        CapabilityInvoked = "adapter.capability_invoked",
        /// A write attempt was rejected.
        WriteRejected = "adapter.write_rejected",
        /// Requests were refused; counted per principal, reason and minute.
        RequestRefused = "request.refused",
        /// The policy changed.
        PolicyChanged = "policy.changed",
        /// A profile changed.
        ProfileChanged = "profile.changed",
        /// A token was made.
        TokenCreated = "token.created",
        /// A token was revoked.
        TokenRevoked = "token.revoked",
        /// A relay enrolled.
        RelayEnrolled = "relay.enrolled",
        /// A relay's key was revoked.
        RelayRevoked = "relay.revoked",
        /// A relay was pinned anew.
        RelayRepinned = "relay.repinned",
        /// Two holders of one relay key fight for the connection.
        RelayCloneSuspected = "relay.clone_suspected",
        /// The tools of a project changed: the list, or the text of one.
        ProjectToolsChanged = "project.tools_changed",
        /// A person signed in.
        SignedIn = "session.signed_in",
        /// A person signed out.
        SignedOut = "session.signed_out",
        /// The record was verified.
        AuditVerified = "audit.verified",
        /// An agent reported a problem of the platform.
        InternalIssueReported = "internal_issue.reported",
        /// A checkpoint could not be written.
        CheckpointFailed = "audit.checkpoint_failed",
        /// A tenant was made.
        TenantCreated = "tenant.created",
        /// A project was registered.
        ProjectRegistered = "project.registered",
        /// A project was removed.
        ProjectRemoved = "project.removed",
        /// Calls that name no project go to another one.
        ProjectSwitched = "project.switched",
    }
}

closed_names! {
    /// How an event ended.
    Outcome {
        /// Done.
        Success = "success",
        /// Carried out or tried, and failed.
        Failure = "failure",
        /// Not carried out.
        Refused = "refused",
        /// Cancelled by the caller.
        Cancelled = "cancelled",
        /// Contacted, and the end is not known.
        Unknown = "unknown",
    }
}
