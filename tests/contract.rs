//! What the repository promises about itself: arrows between rooms, names, licences, and which scenario shows which
//! row of the gate.

mod crate_arrows;
mod gate_rows;
mod licences;
mod module_arrows;
mod names_and_words;
mod repository;
