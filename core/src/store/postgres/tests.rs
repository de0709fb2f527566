//! The contract suite on a real PostgreSQL, and what only that one has.

pub(crate) mod ground;

use self::ground::Ground;
use crate::store::{Store, suite};

async fn contracted(test: &str) -> Option<(Ground, Store)> {
    let ground = Ground::shared(test).await?;
    let store = ground.store().await;
    Some((ground, store))
}

suite::contract!(contracted);
