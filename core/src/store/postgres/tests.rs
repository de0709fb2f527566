//! The contract suite on a real PostgreSQL, and what only that one has.

mod cancellations;
mod deadlines;
mod gateways;
pub(crate) mod ground;
mod leftovers;
mod pitfalls;
mod statements;
mod stripped;

use self::ground::Ground;
use crate::store::{Store, suite};

async fn contracted(test: &str) -> Option<(Ground, Store)> {
    let ground = Ground::shared(test).await?;
    let store = ground.store().await;
    Some((ground, store))
}

suite::contract!(contracted);
