//! What this room wants of the live connections.

use std::fmt;

use toolgate_contract::ids::TargetId;

use crate::uplinks::Uplinks;

/// The live connections of targets.
pub trait Live: fmt::Debug + Send + Sync {
    /// Whether the target's relay is connected now.
    fn is_connected(&self, target: TargetId) -> bool;

    /// Closes the target's connection, if there is one. Called once the change behind it is durable.
    fn disconnect(&self, target: TargetId);

    /// Forgets that a relay's key seemed to be in use twice; the key is forgotten as well.
    fn unlock(&self, target: TargetId);
}

impl Live for Uplinks {
    fn is_connected(&self, target: TargetId) -> bool {
        Self::is_connected(self, target)
    }

    fn disconnect(&self, target: TargetId) {
        Self::disconnect(self, target);
    }

    fn unlock(&self, target: TargetId) {
        Self::unlock(self, target);
    }
}
