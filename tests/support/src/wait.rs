//! Waiting for what must come true.

use std::time::{Duration, Instant};

/// Asks until `check` gives something, at most `limit`; `None` when it never did.
pub async fn until<T, F: Future<Output = Option<T>>>(
    limit: Duration,
    mut check: impl FnMut() -> F,
) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = check().await {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
