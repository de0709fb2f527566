//! Placeholder of the store; see `docs/architecture.md`.
