//! What the settings of all targets that are dialled have in common.

/// What a target may dial when its settings say nothing of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defaults {
    /// This machine, and plain HTTP: so under a gateway that only this machine reaches.
    pub local: bool,
}
