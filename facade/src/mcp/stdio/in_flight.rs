//! The requests of one pipe that are under way: bounded, and each can be taken back.

use std::collections::HashMap;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::mcp::envelope::IdKey;

/// More at once are refused, so that what takes one back is always read.
const ROOM: usize = 128;
/// So many more of those that must get through: they are short, and say that something is wrong.
const KEPT_FREE: usize = 16;

/// Whether a request may take a place that is kept free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// It waits its turn.
    Usual,
    /// It must get through when nothing else does.
    Urgent,
}

/// The requests. Dropping this ends them all.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    tasks: JoinSet<IdKey>,
    cancels: HashMap<IdKey, CancellationToken>,
}

/// Why a request does not begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// Too many are under way.
    Full,
    /// One of the same id is under way.
    SameId,
}

impl InFlight {
    /// Begins a request; it is dropped when it is taken back.
    pub(super) fn begin(
        &mut self,
        id: IdKey,
        urgency: Urgency,
        request: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), NoRoom> {
        self.tidy();
        if self.cancels.contains_key(&id) {
            return Err(NoRoom::SameId);
        }
        let room = match urgency {
            Urgency::Usual => ROOM,
            Urgency::Urgent => ROOM + KEPT_FREE,
        };
        if self.cancels.len() >= room {
            return Err(NoRoom::Full);
        }
        let cancelled = CancellationToken::new();
        self.cancels.insert(id.clone(), cancelled.clone());
        self.tasks.spawn(async move {
            // Dropped whatever it waits for: nothing is said of it any more.
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {}
                () = request => {}
            }
            id
        });
        Ok(())
    }

    /// Takes a request back. Unknown and late ids are nobody's (row C1).
    pub(super) fn cancel(&self, id: &IdKey) {
        if let Some(cancelled) = self.cancels.get(id) {
            cancelled.cancel();
        }
    }

    /// Waits for one to end; never where there is none. Cancel safe.
    pub(super) async fn ended(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => self.forget(ended),
            None => std::future::pending().await,
        }
    }

    /// Waits for all of them.
    pub(super) async fn all_ended(&mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            self.forget(ended);
        }
    }

    fn tidy(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            self.forget(ended);
        }
    }

    fn forget(&mut self, ended: Result<IdKey, tokio::task::JoinError>) {
        match ended {
            Ok(id) => drop(self.cancels.remove(&id)),
            // Its id is not known any more. It does not take part, and its place is given back with the pipe.
            Err(error) => tracing::error!(%error, "a request ended by itself"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn id(number: i64) -> IdKey {
        IdKey::Number(number)
    }

    #[tokio::test]
    async fn a_request_that_is_taken_back_is_dropped_at_once_and_others_go_on() {
        let mut requests = InFlight::default();
        let (dropped, mut gone) = oneshot::channel::<()>();
        let begun = requests.begin(id(1), Urgency::Usual, async move {
            let _held = dropped;
            std::future::pending().await
        });
        assert_eq!(begun, Ok(()));
        assert_eq!(
            requests.begin(id(2), Urgency::Usual, std::future::pending()),
            Ok(())
        );
        requests.cancel(&id(3));
        requests.cancel(&id(1));
        requests.ended().await;
        assert!(
            gone.try_recv()
                .is_err_and(|error| error == oneshot::error::TryRecvError::Closed)
        );
        assert_eq!(
            requests.begin(id(1), Urgency::Usual, std::future::pending()),
            Ok(()),
            "its id is free again"
        );
        assert_eq!(
            requests.begin(id(2), Urgency::Usual, std::future::pending()),
            Err(NoRoom::SameId)
        );
    }

    #[tokio::test]
    async fn so_many_are_under_way_at_once_and_no_more() {
        let mut requests = InFlight::default();
        for number in 0..ROOM as i64 {
            assert_eq!(
                requests.begin(id(number), Urgency::Usual, std::future::pending()),
                Ok(())
            );
        }
        assert_eq!(
            requests.begin(id(-1), Urgency::Usual, async {}),
            Err(NoRoom::Full)
        );
        for number in 0..KEPT_FREE as i64 {
            let urgent = requests.begin(id(-2 - number), Urgency::Urgent, std::future::pending());
            assert_eq!(urgent, Ok(()));
        }
        assert_eq!(
            requests.begin(id(-1), Urgency::Urgent, async {}),
            Err(NoRoom::Full)
        );
        for number in 0..KEPT_FREE as i64 {
            requests.cancel(&id(-2 - number));
            requests.ended().await;
        }
        requests.cancel(&id(7));
        requests.ended().await;
        assert_eq!(requests.begin(id(-1), Urgency::Usual, async {}), Ok(()));
    }
}
