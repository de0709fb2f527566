//! The relays that dialled in, by target. None can dial in yet.

use std::sync::Arc;

use toolgate_contract::ids::TargetId;

use crate::upstream::Upstream;

/// The live uplinks. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Uplinks;

impl Uplinks {
    /// The upstream of a host whose relay is connected now.
    #[must_use]
    pub fn host(&self, _: TargetId) -> Option<Arc<dyn Upstream>> {
        None
    }
}
