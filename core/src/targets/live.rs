//! What this room wants of the live connections.

use std::fmt;

use toolgate_contract::ids::TargetId;

use crate::uplinks::Uplinks;

/// The live connections of targets.
pub trait Live: fmt::Debug + Send + Sync {
    /// Whether the target's relay is connected now.
    fn is_connected(&self, target: TargetId) -> bool;

    /// Closes the target's connection, if there is one, because its relay is no longer wanted.
    fn disconnect(&self, target: TargetId);
}

impl Live for Uplinks {
    fn is_connected(&self, target: TargetId) -> bool {
        self.host(target).is_some()
    }

    fn disconnect(&self, _target: TargetId) {}
}
