//! The schema of a database as an admin sees it: made, brought up to date, checked.
//!
//! Nothing here belongs to the gateway's daily work; it runs in `toolgate db` and, for the checks, once at each start.

mod check;
mod history;
mod migrate;
mod password;
mod roles;

pub(super) use self::history::refuse_behind;
pub use self::{
    check::{Check, check},
    migrate::{Migrated, migrate},
};

/// What the gateway signs in as.
pub(super) const APP: &str = "toolgate_app";

#[cfg(test)]
mod tests;
