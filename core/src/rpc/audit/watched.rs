//! A verification that somebody watches: lines of how far it is, and last what it found.
//!
//! It goes on only while its lines are read, and ends unrecorded when its reader leaves: the work is part of the stream.

use std::{fmt, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tonic::Status;
use toolgate_contract::v1::VerifyAuditResponse;

use super::super::{Rpc, status};
use crate::{audit::verify::Far, broker::Failed, changes::By, limits::Place, proof::Extent};

/// Between two lines of how far it is.
const BEAT: Duration = Duration::from_millis(100);

/// A verification under way, with its place among its tenant's.
pub(super) struct Watched {
    work: Option<BoxFuture<'static, Result<VerifyAuditResponse, Status>>>,
    far: watch::Receiver<Option<Far>>,
    told: Option<Far>,
    next: Instant,
    _place: Place,
}

impl Watched {
    pub(super) fn begin(rpc: Rpc, by: By, extent: Extent, place: Place) -> Self {
        let (telling, far) = watch::channel(None);
        let work = async move {
            let found = rpc.verify(by, extent, Some(telling)).await;
            found.map_err(|error| status(Failed { call: None, error }))
        };
        Self {
            work: Some(Box::pin(work)),
            far,
            told: None,
            next: Instant::now(),
            _place: place,
        }
    }

    /// The next line; `None` after the verdict.
    pub(super) async fn next_line(&mut self) -> Result<Option<Bytes>, Status> {
        let Some(work) = &mut self.work else {
            return Ok(None);
        };
        loop {
            tokio::select! {
                found = &mut *work => {
                    self.work = None;
                    return Ok(Some(line(&verdict(&found?))));
                }
                () = sleep_until(self.next) => {}
            }
            self.next = Instant::now() + BEAT;
            let far = *self.far.borrow_and_update();
            if let Some(far) = far.filter(|_| far != self.told) {
                self.told = Some(far);
                // Rows that are written meanwhile are looked at as well.
                return Ok(Some(line(&json!({"rows": far.rows, "of": far.of.max(far.rows)}))));
            }
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watched({:?})", self.told)
    }
}

fn line(value: &Value) -> Bytes {
    format!("{value}\n").into()
}

// As REST writes the answer of VerifyAudit.
fn verdict(found: &VerifyAuditResponse) -> Value {
    json!({
        "verdict": found.verdict,
        "rows": found.rows,
        "seq": found.seq,
        "message": found.message,
        "headHash": found.head_hash,
        "fromSeq": found.from_seq,
        "throughSeq": found.through_seq,
        "checkpoints": found.checkpoints,
        "checkpointSeq": found.checkpoint_seq,
    })
}
