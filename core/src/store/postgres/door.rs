//! One passage through a door: a transaction around somebody's work, in a task that nobody can drop.

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use deadpool_postgres::Pool;
use futures::{FutureExt, future::BoxFuture};
use tokio::{sync::oneshot, time::Instant};

use super::{
    Mode, PostgresTx,
    connect::Connector,
    known::Known,
    turns::{Turn, Turns},
};
use crate::store::{IfGone, StoreError, Tx, scope::Scope};

/// What passages share.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) pool: Pool,
    pub(super) turns: Turns,
    pub(super) connector: Connector,
    pub(super) known: Arc<Known>,
}

impl Door {
    /// Runs `work` in one transaction and answers: committed when it gives `Ok` and is still wanted, else rolled back.
    pub(super) async fn pass<T, E, F>(
        &self,
        mode: Mode,
        scope: Scope,
        until: Instant,
        if_gone: IfGone,
        mut reply: oneshot::Sender<Result<T, E>>,
        work: F,
    ) where
        E: From<StoreError>,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send,
    {
        let had = match if_gone {
            IfGone::CarryOn => self.enter(mode, &scope, until).await,
            // Cancel safe: a turn or a connection that is given up on the way goes back or is closed.
            IfGone::RollBack => tokio::select! {
                biased;
                () = reply.closed() => return,
                had = self.enter(mode, &scope, until) => had,
            },
        };
        let wanted = || if_gone == IfGone::CarryOn || !reply.is_closed();
        let outcome = match had {
            Ok((_turn, tx)) => transact(tx, wanted, work).await,
            Err(error) => Err(error.into()),
        };
        // A caller that is gone needs no answer.
        let _ = reply.send(outcome);
    }

    async fn enter(
        &self,
        mode: Mode,
        scope: &Scope,
        until: Instant,
    ) -> Result<(Option<Turn>, PostgresTx), StoreError> {
        let turn = self.turns.take(mode, scope, until).await?;
        Ok((turn, self.check_out(mode, scope, until).await?))
    }
}

async fn transact<T, E, F>(tx: PostgresTx, wanted: impl Fn() -> bool, work: F) -> Result<T, E>
where
    E: From<StoreError>,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
{
    let asking = tx.asking();
    let mut tx = Tx::Postgres(tx);
    // Not on the embedded store, where a caller that is gone does not even begin.
    if !wanted() {
        tx.rollback().await;
        return Err(StoreError::Timeout.into());
    }
    let outcome = match watched(async { work(&mut tx).await }, &asking).await {
        Ok(Ok(_)) if !wanted() => Err(StoreError::Timeout.into()),
        Ok(Ok(value)) => tx.commit().await.map(|()| value).map_err(E::from),
        Ok(Err(error)) => Err(error),
        Err(error) => {
            if error == StoreError::Panicked {
                tx.give_up();
            }
            Err(error.into())
        }
    };
    if outcome.is_err() {
        tx.rollback().await;
    }
    outcome
}

/// Polls work until it ends, panics, or waits for something that is not the store.
pub(super) async fn watched<F: Future>(work: F, asking: &AtomicBool) -> Result<F::Output, StoreError> {
    let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(Ok(ended)) => Poll::Ready(Ok(ended)),
        Poll::Ready(Err(_)) => Poll::Ready(Err(StoreError::Panicked)),
        Poll::Pending if asking.load(Ordering::Acquire) => Poll::Pending,
        Poll::Pending => Poll::Ready(Err(StoreError::ForeignAwait)),
    })
    .await
}

impl Tx {
    pub(super) fn give_up(&mut self) {
        if let Self::Postgres(tx) = self {
            tx.give_up();
        }
    }
}
