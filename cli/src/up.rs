//! The servers: what `up`, `core` and `facade` join, and how they start and stop.

pub(crate) mod owner;
