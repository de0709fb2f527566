//! Placeholder of the uplinks.
