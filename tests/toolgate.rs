//! The product seen from outside: one binary, so that it links once.
//!
//! `contract` holds what the repository promises about itself, `scenarios` what a user sees, one behaviour per file.

#![allow(
    clippy::unwrap_used,
    reason = "the whole binary is tests, their small functions too"
)]

mod agent_tools;
mod conformance;
mod contract;
mod drill;
mod golden;
mod kill_cycles;
mod manifests;
mod metrics_page;
mod record;
mod scenarios;
