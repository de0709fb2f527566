//! What the repository promises about itself: what the proto files become, what they may not say and what may never
//! change; arrows between rooms, names, licences, and which scenario shows which row of the gate.

#[path = "../proto/build/emitter.rs"]
mod emitter;

mod baseline;
mod crate_arrows;
mod descriptors;
mod discovery;
mod documents;
mod fuzz_targets;
mod gate_rows;
mod licences;
mod mistakes;
mod module_arrows;
mod names_and_words;
mod openapi;
mod options;
mod profile_sets;
mod reasons;
mod registry;
mod repository;
mod schemas;
mod source;
