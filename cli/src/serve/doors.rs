//! The open doors of a server: tasks that serve until told to stop, each with a name for the log.

use std::{fmt::Display, future::Future};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// Tasks that should run until they are told to stop.
#[derive(Debug, Default)]
pub(super) struct Doors {
    open: JoinSet<Result<(), Failure>>,
}

impl Doors {
    /// Opens one. When it falls shut by itself, the whole server stops.
    pub(super) fn open<E: Display>(
        &mut self,
        name: &'static str,
        serving: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        self.open.spawn(async move {
            serving
                .await
                .map_err(|error| Failure::failed(format!("{name}: {error}")))
        });
    }

    /// Waits until `told` fires or a door falls shut, which is a failure.
    pub(super) async fn stand(&mut self, told: &CancellationToken) -> Result<(), Failure> {
        // Cancel safe: a task that has ended stays in the set until it is taken.
        tokio::select! {
            () = told.cancelled() => Ok(()),
            Some(ended) = self.open.join_next() => result(ended),
        }
    }

    /// Waits for the last one. Whoever calls this has told them to close; dropping the future cuts them.
    pub(super) async fn close(mut self) -> Result<(), Failure> {
        let mut outcome = Ok(());
        while let Some(ended) = self.open.join_next().await {
            outcome = outcome.and(result(ended));
        }
        outcome
    }
}

fn result(ended: Result<Result<(), Failure>, tokio::task::JoinError>) -> Result<(), Failure> {
    ended.unwrap_or_else(|error| Err(Failure::failed(format!("a task ended by itself: {error}"))))
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::Doors;

    #[tokio::test]
    async fn a_door_that_falls_shut_is_named_while_the_others_stand() {
        let (told, stop) = (CancellationToken::new(), CancellationToken::new());
        let mut doors = Doors::default();
        let waits = stop.clone();
        doors.open("grpc", async move {
            waits.cancelled().await;
            Ok::<_, String>(())
        });
        doors.open("http", async { Err("broken") });
        let failure = doors.stand(&told).await.unwrap_err();
        assert_eq!(failure.message, "http: broken");
        stop.cancel();
        assert_eq!(doors.close().await, Ok(()));
    }

    #[tokio::test]
    async fn told_to_stop_the_doors_close_when_they_are_closed() {
        let (told, stop) = (CancellationToken::new(), CancellationToken::new());
        let mut doors = Doors::default();
        let waits = stop.clone();
        doors.open("http", async move {
            waits.cancelled().await;
            Ok::<_, String>(())
        });
        told.cancel();
        assert_eq!(doors.stand(&told).await, Ok(()));
        stop.cancel();
        assert_eq!(doors.close().await, Ok(()));
    }
}
