//! Witnesses outside the database: signed checkpoints of every tenant's head, and one signed root over all of them.
//!
//! A chain cannot show that its own tail was cut, that it was rewritten by whoever holds the record key, or that it is
//! gone. A checkpoint can: it says what the head was at a time, under a key that no database holds. This room makes,
//! keeps and checks them. It reads heads and nothing else of the record, and never stands in the path of a call.

mod checkpoint;
mod files;
mod keeper;
mod key;
mod known;
mod last;
mod line;
mod progress;
mod root;
mod sink;
mod witness;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

pub use self::{
    checkpoint::{Checkpoint, CheckpointFault},
    keeper::Alarm,
    key::{CheckpointKey, PublicKey, PublicKeys, PublicKeysError, SigningKeys, SigningKeysError, TrustRoot},
    last::LastRound,
    progress::{Newest, Progress},
    root::{Inclusion, Root, Tree},
    sink::{Sink, SinkError, Webhook, WebhookError, is_webhook},
    witness::{Place, Survey, Witness, WitnessFault, survey, survey_of},
};
use self::{
    keeper::{Desk, DeskError, Keeper, Pulse},
    sink::{Courier, Pace},
};
use crate::{clock::Clock, store::Store};

/// What an operator can set about checkpoints.
#[derive(Debug, Clone)]
pub struct AnchorConfig {
    /// Time between two rounds.
    pub interval: Duration,
    /// Where checkpoints are posted.
    pub webhook: Option<String>,
    /// File with the bearer token of the webhook.
    pub webhook_token_file: Option<PathBuf>,
    /// Sinks of those who build the gateway into something of their own; each has a name of its own.
    pub sinks: Vec<Arc<dyn Sink>>,
}

impl Default for AnchorConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(60),
            webhook: None,
            webhook_token_file: None,
            sinks: Vec::new(),
        }
    }
}

/// Why checkpoints cannot be signed or sent.
#[derive(Debug, thiserror::Error)]
pub enum AnchorError {
    /// Keys or files of checkpoints.
    #[error("checkpoints cannot be signed: {0}")]
    Desk(String),
    /// The webhook.
    #[error("checkpoint.webhook: {0}")]
    Webhook(#[from] WebhookError),
}

impl From<DeskError> for AnchorError {
    fn from(error: DeskError) -> Self {
        Self::Desk(error.to_string())
    }
}

/// The keeper and the couriers of one data directory.
#[derive(Debug)]
pub struct Anchor {
    keeper: Option<JoinHandle<()>>,
    couriers: Vec<JoinHandle<()>>,
    stop_keeper: CancellationToken,
    stop_couriers: CancellationToken,
    pulse: Arc<Pulse>,
    clock: Clock,
    alarms: Option<mpsc::Receiver<Alarm>>,
}

/// Alarms that wait to be put on the record; one more is in the log alone.
const MOST_ALARMS: usize = 64;

impl Anchor {
    /// Opens keys and files, makes them at the first start, and begins to sign. Wants a tokio runtime.
    ///
    /// # Errors
    /// When keys or files are not as they should be, or the webhook is none.
    pub async fn start(
        data_dir: &Path,
        config: &AnchorConfig,
        accept_lost_keys: bool,
        store: Store,
        progress: Arc<Progress>,
        clock: Clock,
    ) -> Result<Self, AnchorError> {
        describe();
        let sinks = sinks(config)?;
        let (dir, time) = (data_dir.to_owned(), clock.clone());
        let desk = tokio::task::spawn_blocking(move || Desk::open(&dir, time, accept_lost_keys))
            .await
            .map_err(|error| AnchorError::Desk(error.to_string()))??;
        let (stop_keeper, stop_couriers) = (CancellationToken::new(), CancellationToken::new());
        let folder = data_dir.join(key::FOLDER);
        let couriers = sinks.into_iter().map(|(sink, peer)| {
            let courier = Courier::new(sink, &peer, &folder, desk.durable(), Pace::default());
            tokio::spawn(courier.bring(stop_couriers.clone()))
        });
        let couriers = couriers.collect();
        let pulse = Arc::new(Pulse::new(clock.monotonic(), config.interval));
        let (alarm, alarms) = mpsc::channel(MOST_ALARMS);
        let keeper = Keeper::new(
            desk,
            data_dir.to_owned(),
            store,
            clock.clone(),
            progress,
            Arc::clone(&pulse),
            alarm,
        );
        let keeper = tokio::spawn(keeper.keep(config.interval, stop_keeper.clone()));
        Ok(Self {
            keeper: Some(keeper),
            couriers,
            stop_keeper,
            stop_couriers,
            pulse,
            clock,
            alarms: Some(alarms),
        })
    }

    /// What should be put on the record about its checkpoints. Given once.
    pub fn alarms(&mut self) -> Option<mpsc::Receiver<Alarm>> {
        self.alarms.take()
    }

    /// A handle that tells the age of the newest round.
    #[must_use]
    pub fn watch(&self) -> AnchorWatch {
        AnchorWatch {
            pulse: Arc::clone(&self.pulse),
            clock: self.clock.clone(),
        }
    }

    /// Signs a last round, brings it to the sinks where they take it at once, and ends.
    pub async fn close(mut self) {
        self.stop_keeper.cancel();
        if let Some(keeper) = self.keeper.take()
            && let Err(error) = keeper.await
        {
            tracing::error!(%error, "the keeper of checkpoints did not end well");
        }
        self.stop_couriers.cancel();
        for courier in std::mem::take(&mut self.couriers) {
            if let Err(error) = courier.await {
                tracing::error!(%error, "a courier of checkpoints did not end well");
            }
        }
    }
}

impl Drop for Anchor {
    fn drop(&mut self) {
        for task in self.keeper.iter().chain(&self.couriers) {
            task.abort();
        }
    }
}

/// Tells the age of checkpoints.
#[derive(Debug, Clone)]
pub struct AnchorWatch {
    pulse: Arc<Pulse>,
    clock: Clock,
}

impl AnchorWatch {
    /// Tells how old the newest round is, and once when it is late. Cheap: called every second.
    pub fn tell_age(&self) {
        self.pulse.tell(self.clock.monotonic());
    }
}

/// The folder of checkpoint files in a data directory.
#[must_use]
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(key::FOLDER)
}

/// The public keys in a folder of checkpoint files.
///
/// # Errors
/// When they are not there or not accepted.
pub fn public_keys(folder: &Path) -> Result<PublicKeys, PublicKeysError> {
    PublicKeys::read(&folder.join(key::LIST))
}

/// A sink, and what tells its receiver from another.
type Peered = (Arc<dyn Sink>, String);

/// Every sink beside the files.
fn sinks(config: &AnchorConfig) -> Result<Vec<Peered>, AnchorError> {
    let mut sinks: Vec<Peered> = Vec::new();
    if let Some(url) = &config.webhook {
        let webhook = Webhook::new(url, config.webhook_token_file.clone())?;
        sinks.push((Arc::new(webhook), peer(url)));
    }
    for sink in &config.sinks {
        sinks.push((Arc::clone(sink), sink.name().to_owned()));
    }
    Ok(sinks)
}

/// Tells one receiver from another without naming it: its address may hold a credential.
fn peer(url: &str) -> String {
    line::hex(&line::sha256(url.as_bytes())[..8])
}

fn describe() {
    use metrics::{Unit, counter, describe_counter, describe_gauge};
    describe_gauge!(
        "toolgate_checkpoint_age_seconds",
        Unit::Seconds,
        "Time since a round of checkpoints was last signed"
    );
    describe_counter!(
        "toolgate_checkpoints_signed_total",
        "Checkpoints of tenants that were signed and written"
    );
    describe_counter!(
        "toolgate_checkpoint_failed_rounds_total",
        "Rounds of checkpoints that were not signed"
    );
    describe_counter!(
        "toolgate_checkpoint_regressions_total",
        "Tenants whose record was found not to hold the row that was signed last"
    );
    describe_counter!(
        "toolgate_checkpoint_losses_total",
        "Starts at which checkpoint files were found to lack rounds that were signed"
    );
    describe_counter!(
        "toolgate_checkpoint_sink_failures_total",
        "Attempts at which a sink did not take checkpoints, by sink"
    );
    counter!("toolgate_checkpoints_signed_total").absolute(0);
    counter!("toolgate_checkpoint_failed_rounds_total").absolute(0);
    counter!("toolgate_checkpoint_regressions_total").absolute(0);
    counter!("toolgate_checkpoint_losses_total").absolute(0);
    for sink in ["file", "webhook"] {
        counter!("toolgate_checkpoint_sink_failures_total", "sink" => sink).absolute(0);
    }
}

#[cfg(test)]
mod tests;
