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

    /// Waits until `told` fires or a door falls shut, then tells all of them and waits for the last one.
    pub(super) async fn serve(
        mut self,
        told: &CancellationToken,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        // Cancel safe: a task that has ended stays in the set until it is taken.
        let first = tokio::select! {
            () = told.cancelled() => Ok(()),
            Some(ended) = self.open.join_next() => result(ended),
        };
        stop.cancel();
        let mut outcome = first;
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
    async fn a_door_that_falls_shut_stops_the_others_and_is_named() {
        let (told, stop) = (CancellationToken::new(), CancellationToken::new());
        let mut doors = Doors::default();
        let waits = stop.clone();
        doors.open("grpc", async move {
            waits.cancelled().await;
            Ok::<_, String>(())
        });
        doors.open("http", async { Err("broken") });
        let failure = doors.serve(&told, &stop).await.unwrap_err();
        assert_eq!(failure.message, "http: broken");
    }

    #[tokio::test]
    async fn all_doors_are_closed_when_told() {
        let (told, stop) = (CancellationToken::new(), CancellationToken::new());
        let mut doors = Doors::default();
        let waits = stop.clone();
        doors.open("http", async move {
            waits.cancelled().await;
            Ok::<_, String>(())
        });
        told.cancel();
        assert_eq!(doors.serve(&told, &stop).await, Ok(()));
    }
}
