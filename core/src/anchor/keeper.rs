//! The keeper: one task that signs checkpoints at a steady beat, also when nothing happens, and at once when much does.
//!
//! It reads all heads in one statement, signs and writes on a blocking thread, and never stands in the path of a call.
//! When it fails it tries again soon; meanwhile the age of the newest round grows, which is what alarms go by.

mod alarm;
mod desk;
mod pulse;

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    task,
    time::{self, Instant},
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::TenantId;

pub use self::alarm::Alarm;
pub(super) use self::{
    desk::{Desk, DeskError, Wish},
    pulse::Pulse,
};
use super::{Progress, progress::Wanted};
use crate::{
    clock::Clock,
    store::{Store, StoreError, StoredHead},
};

/// Between two rounds that much was written, so that a tenant under load costs a few signatures a second at most.
const BREATH: Duration = Duration::from_secs(1);
/// How soon a round that failed is tried again.
const AGAIN: Duration = Duration::from_secs(5);
/// The last round of all has this long, within the little that is left of a shutdown.
const LAST_ROUND: Duration = Duration::from_secs(1);

/// Signs checkpoints of one data directory.
#[derive(Debug)]
pub(super) struct Keeper {
    store: Store,
    clock: Clock,
    progress: Arc<Progress>,
    pulse: Arc<Pulse>,
    // Taken while it works on a blocking thread; one that was lost there is opened anew.
    desk: Option<Desk>,
    data_dir: PathBuf,
    alarms: mpsc::Sender<Alarm>,
    /// A round failed, and none has ended well since.
    is_failing: bool,
}

/// Why a round was not signed.
#[derive(Debug, thiserror::Error)]
pub(super) enum RoundError {
    #[error("the heads of the record cannot be read: {0}")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Desk(#[from] DeskError),
    #[error("signing ended without an outcome")]
    Lost(#[from] task::JoinError),
}

impl Keeper {
    pub(super) fn new(
        desk: Desk,
        data_dir: PathBuf,
        store: Store,
        clock: Clock,
        progress: Arc<Progress>,
        pulse: Arc<Pulse>,
        alarms: mpsc::Sender<Alarm>,
    ) -> Self {
        progress.signed(desk.newest());
        Self {
            store,
            clock,
            progress,
            pulse,
            desk: Some(desk),
            data_dir,
            alarms,
            is_failing: false,
        }
    }

    /// Keeps signing until `stop`, and once more then.
    pub(super) async fn keep(mut self, interval: Duration, stop: CancellationToken) {
        let mut next = Instant::now();
        let mut earliest = next;
        loop {
            // All three may be dropped half way: a tenant with many rows is in the next round of all as well.
            let mut wish = tokio::select! {
                () = stop.cancelled() => break,
                () = time::sleep_until(next) => Wish::All,
                () = self.many(earliest) => Wish::Many(self.progress.take_many()),
            };
            // Before the heads are read, so that what is signed is what they asked about.
            let wanted = self.progress.take_wanted();
            if let Wish::Many(many) = &mut wish {
                many.extend(wanted.iter().map(|wanted| wanted.tenant.clone()));
            }
            let now = Instant::now();
            if wish == Wish::All {
                next = now + interval;
            }
            earliest = now + BREATH;
            match self.told_round(wish).await {
                Ok(()) => wanted.into_iter().for_each(Wanted::tell),
                Err(()) => next = next.min(now + AGAIN),
            }
        }
        if time::timeout(LAST_ROUND, self.told_round(Wish::All))
            .await
            .is_err()
        {
            tracing::error!("the last checkpoints were not signed in time");
        }
    }

    async fn many(&self, earliest: Instant) {
        self.progress.many().await;
        time::sleep_until(earliest).await;
    }

    async fn told_round(&mut self, wish: Wish) -> Result<(), ()> {
        let ended = self.round(wish).await;
        let was_failing = std::mem::replace(&mut self.is_failing, ended.is_err());
        ended.map_err(|error| {
            if !was_failing {
                self.alarm(Alarm::NotSigned {
                    why: error.to_string(),
                });
            }
            if let RoundError::Desk(DeskError::Append { .. }) = &error {
                metrics::counter!("toolgate_checkpoint_sink_failures_total", "sink" => "file").increment(1);
            }
            metrics::counter!("toolgate_checkpoint_failed_rounds_total").increment(1);
            tracing::error!(%error, "checkpoints were not signed");
        })
    }

    /// One round.
    pub(super) async fn round(&mut self, wish: Wish) -> Result<(), RoundError> {
        if wish == Wish::All {
            self.progress.clear();
        }
        let mut desk = match self.desk.take() {
            Some(desk) => desk,
            None => {
                let (data_dir, clock) = (self.data_dir.clone(), self.clock.clone());
                task::spawn_blocking(move || Desk::open(&data_dir, clock, false)).await??
            }
        };
        let told = self.heads(&mut desk).await;
        let (desk, signed) = match told {
            Ok((heads, broken)) => {
                let work = move || {
                    let signed = desk.round(heads, &broken, &wish);
                    (desk, signed)
                };
                task::spawn_blocking(work).await?
            }
            Err(error) => {
                self.desk = Some(desk);
                return Err(error.into());
            }
        };
        self.desk = Some(desk);
        let signed = signed?;
        for alarm in signed.alarms {
            self.alarm(alarm);
        }
        self.progress.signed(signed.newest.into_iter());
        self.pulse.beat(self.clock.monotonic());
        metrics::counter!("toolgate_checkpoints_signed_total").increment(signed.checkpoints);
        Ok(())
    }

    // An alarm that finds no room is in the log and counted all the same.
    fn alarm(&self, alarm: Alarm) {
        let _ = self.alarms.try_send(alarm);
    }

    /// All heads, and the tenants whose row at the place that was signed last is not the one that was signed.
    async fn heads(&self, desk: &mut Desk) -> Result<(Vec<StoredHead>, BTreeSet<String>), StoreError> {
        let heads = self.store.heads().await?;
        let mut broken = BTreeSet::new();
        for (tenant_id, seq, hash) in desk.to_be_looked_at(&heads) {
            let Ok(tenant) = tenant_id.parse::<TenantId>() else {
                continue;
            };
            if self.store.hash_at(&tenant, seq).await? == Some(hash) {
                desk.looked_at(tenant_id);
            } else {
                broken.insert(tenant_id);
            }
        }
        broken.extend(self.progress.distrusted());
        Ok((heads, broken))
    }
}

#[cfg(test)]
mod tests;
