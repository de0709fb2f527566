//! What tools and results cost the model that reads them, in tokens.
//!
//! A tool costs what its definition is worth to o200k, counted once and exactly: the registry is closed, so the counts
//! cannot change, and only they are kept, never the tokeniser. A result is different at every call and is estimated from
//! its length. Pure but for the one count; must not know the broker, tenants or dialects.

mod counts;
mod definition;
mod estimate;
mod of_profile;

pub use self::{
    counts::{Counts, counts},
    definition::definition,
    estimate::{bytes_of, estimated},
    of_profile::{ProfileCost, check_budget, of_profile},
};

#[cfg(test)]
mod tests;
