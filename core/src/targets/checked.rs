//! A credential that was held again against what it may be: on demand, and while it is in use.
//!
//! The finding replaces the former one where the target is still the one that was checked. It is no change of the
//! target itself: its version stays, so nothing that was read from it or opened for it is dropped.

use serde_json::Value;
use toolgate_contract::ids::TargetId;

use super::{Targets, configured, findings, rows, rows::Change};
use crate::{
    adapters::{Validation, Verdict},
    changes::By,
    error::Error,
};

impl Targets {
    /// Stores what a re-check found, on the record as `by`: `passed`, `drifted` where the credential can do more than
    /// it should, or `failed` where it can do too little. Nothing is stored where the target gave no answer, since that
    /// says nothing of its credential, nor where the target has changed since it had this version.
    ///
    /// # Errors
    /// When the finding cannot be put on the record.
    pub async fn checked(
        &self,
        by: By,
        id: TargetId,
        version: i64,
        validation: &Validation,
    ) -> Result<(), Error> {
        let Some(verdict) = verdict(validation) else {
            return Ok(());
        };
        let (tenant, now_us) = (by.tenant.clone(), self.changes.now_us());
        let found = validation.clone();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let Some(mut target) = rows::find(tx, &tenant, id).await? else {
                        return Ok(((), vec![]));
                    };
                    let mut stored = findings::stored(&found, target.validation.get("facts"), now_us);
                    stored["verdict"] = verdict.into();
                    if !rows::set_validation_of(tx, &tenant, id, version, &stored).await? {
                        return Ok(((), vec![]));
                    }
                    target.validation = stored;
                    let detail = findings::on_record(&target.validation);
                    Ok((
                        (),
                        vec![configured(&target, Change::Updated, Value::Object(detail))],
                    ))
                })
            })
            .await
    }
}

fn verdict(validation: &Validation) -> Option<&'static str> {
    match &validation.verdict {
        Verdict::Passed => Some("passed"),
        Verdict::Violation(violation) if violation.wider => Some("drifted"),
        Verdict::Violation(_) => Some("failed"),
        Verdict::Unknown(_) => None,
    }
}
