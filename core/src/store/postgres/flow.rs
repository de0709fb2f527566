//! What is known of a transaction while its statements run: whether an answer is awaited, how it stands, until when.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::time::{Instant, timeout_at};

use super::failure::{After, after, store_error};
use crate::store::StoreError;

/// What is known of a transaction while its statements run.
#[derive(Debug)]
pub(super) struct Flow {
    asking: Arc<AtomicBool>,
    standing: Standing,
    until: Instant,
}

/// How a connection stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// No transaction.
    Idle,
    /// Within one.
    Open,
    /// Within one that can only be rolled back, since a statement failed.
    Failed(StoreError),
    /// Nobody knows, so the connection is of no more use.
    Doubt,
}

impl Flow {
    pub(super) fn new(until: Instant) -> Self {
        Self {
            asking: Arc::new(AtomicBool::new(false)),
            standing: Standing::Idle,
            until,
        }
    }

    /// True while an answer of the server is awaited. Whoever waits while this is false waits for something else.
    pub(super) fn asking(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asking)
    }

    pub(super) fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(super) fn now_stands(&mut self, standing: Standing) {
        self.standing = standing;
    }

    pub(super) fn until(&self) -> Instant {
        self.until
    }

    pub(super) fn set_until(&mut self, until: Instant) {
        self.until = until;
    }

    /// Asks the server and waits for its answer, no longer than the deadline. A question whose asker leaves before the
    /// answer leaves the connection in doubt.
    pub(super) async fn ask<T>(
        &mut self,
        question: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        if let Standing::Failed(error) = &self.standing {
            return Err(error.clone());
        }
        let before = std::mem::replace(&mut self.standing, Standing::Doubt);
        if before == Standing::Doubt {
            return Err(StoreError::Lost);
        }
        let _asking = Asking::begin(&self.asking);
        match timeout_at(self.until, question).await {
            Ok(Ok(answer)) => {
                self.standing = before;
                Ok(answer)
            }
            Ok(Err(failure)) => {
                let error = store_error(&failure);
                self.standing = match (after(&failure), before) {
                    (After::Same, before) => before,
                    (After::Rollback, Standing::Open) => Standing::Failed(error.clone()),
                    (After::Rollback, before) => before,
                    (After::Gone, _) => Standing::Doubt,
                };
                Err(error)
            }
            Err(_) => Err(StoreError::Timeout),
        }
    }

    /// Waits for something else that is the store's own, such as a new connection.
    pub(super) async fn wait<T>(&self, until: impl Future<Output = T>) -> T {
        let _asking = Asking::begin(&self.asking);
        until.await
    }
}

/// Lowers the flag at the end, and when the asker leaves.
struct Asking<'f>(&'f AtomicBool);

impl<'f> Asking<'f> {
    fn begin(flag: &'f AtomicBool) -> Self {
        flag.store(true, Ordering::Release);
        Self(flag)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
