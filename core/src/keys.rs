//! Placeholder of the keys.
