//! A connection test of a target that is dialled: its adapter finds out what the credential can do, by reading only.
//!
//! Whatever is found is the answer; only what keeps it from being found out here is an error. A credential that was
//! found wider marks the target as drifted, one that passes clears the mark.

use std::time::Duration;

use super::{answer::Answer, errand::Errand, recheck};
use crate::{
    adapters::{Stage, Validation, Verdict},
    changes::By,
    error::Error,
    upstream::UpstreamError,
};

pub(super) async fn prove(errand: Errand, by: By, within: Duration) -> Result<Answer, Error> {
    let validation = found(&errand, within).await;
    if is_news(&errand, &validation) {
        let (target, targets) = (&errand.target, &errand.rooms.targets);
        targets
            .checked(by, target.id, target.version, &validation)
            .await?;
    }
    Ok(Answer::tested(validation))
}

/// What is told of a target that could not be asked at all.
pub(super) fn unanswered(error: UpstreamError, why: String, took: Duration) -> Validation {
    Validation {
        stages: vec![Stage {
            name: "reach",
            took,
            failed: Some(why),
            mends: None,
        }],
        ..Validation::of(Verdict::Unknown(error))
    }
}

async fn found(errand: &Errand, within: Duration) -> Validation {
    let Some(lease) = &errand.call.secret else {
        let error = UpstreamError::CredentialRejected;
        return unanswered(
            error,
            "the target has no credential; give it one".into(),
            Duration::ZERO,
        );
    };
    let clock = &errand.rooms.clock;
    let began = clock.monotonic();
    let left = || within.saturating_sub(clock.monotonic().saturating_sub(began));
    let mut validation = errand.validate(lease, within).await;
    // Rotated elsewhere, and the former one is still cached here.
    if validation.as_ref().is_some_and(is_rejected)
        && let Ok(Some(renewed)) = tokio::time::timeout(left(), errand.renewed(lease)).await
    {
        validation = errand.validate(&renewed, left()).await;
    }
    validation.unwrap_or_else(|| {
        let why = format!(
            "no answer within {} ms; look at the target, then try again",
            within.as_millis()
        );
        unanswered(UpstreamError::Timeout, why, within)
    })
}

fn is_rejected(validation: &Validation) -> bool {
    let last = validation.stages.last();
    last.is_some_and(|stage| stage.name == "authenticate" && stage.failed.is_some())
}

// A test that finds what is known already leaves no second row beside its own.
fn is_news(errand: &Errand, validation: &Validation) -> bool {
    let known = &errand.target.validation;
    let verdict = match &validation.verdict {
        Verdict::Passed => "passed",
        Verdict::Violation(violation) if violation.wider => "drifted",
        Verdict::Violation(_) => "failed",
        Verdict::Unknown(_) => return false,
    };
    known["verdict"] != verdict || recheck::is_due(&errand.target, errand.rooms.clock.wall_us())
}
