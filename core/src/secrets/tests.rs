//! The room in front of a provider that does as told, and over the real store.

mod front;
mod ground;
mod store;
