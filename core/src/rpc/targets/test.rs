//! A connection test as its stages: of a host the relay, then a sample read through it; of any other target what its
//! adapter found.
//!
//! A target that cannot be reached is an answer, not an error; a request that was refused is an error.

use std::time::Duration;

use toolgate_contract::v1::{Stage, TestTargetResponse};

use crate::{
    adapters::{self, Verdict},
    broker::{Failed, Settled},
    error::Error,
    targets::plain,
    upstream::UpstreamError,
};

pub(super) fn told(outcome: Result<Settled, Failed>, took: Duration) -> Result<TestTargetResponse, Failed> {
    if let Ok(Some(tested)) = outcome.as_ref().map(Settled::tested) {
        return Ok(TestTargetResponse {
            ok: tested.verdict == Verdict::Passed,
            stages: tested.stages.iter().map(stage).collect(),
        });
    }
    match outcome {
        Ok(settled) if settled.result().is_error => {
            Ok(sample_failed("the sample command failed on the host", took))
        }
        Ok(_) => Ok(stages(vec![
            passed("relay", Duration::ZERO),
            passed("sample", took),
        ])),
        Err(Failed {
            error: Error::Upstream(error),
            ..
        }) => Ok(unreachable(error, took)),
        Err(Failed {
            error: error @ Error::SecretUnavailable(_),
            ..
        }) => Ok(stages(vec![credential(error.to_string(), took)])),
        Err(refused) => Err(refused),
    }
}

fn unreachable(error: UpstreamError, took: Duration) -> TestTargetResponse {
    match error {
        UpstreamError::RelayOffline
        | UpstreamError::RelayNotEnrolled
        | UpstreamError::RelayRevoked
        | UpstreamError::RelayLocked
        | UpstreamError::Unreachable
        | UpstreamError::BrokenOff
        | UpstreamError::Forbidden
        | UpstreamError::ProjectOffline { .. }
        | UpstreamError::ProjectDown { .. }
        | UpstreamError::Tls => stages(vec![failed("relay", error.to_string(), took)]),
        UpstreamError::CredentialRejected | UpstreamError::TokenUnavailable => {
            stages(vec![credential(error.to_string(), took)])
        }
        UpstreamError::Timeout
        | UpstreamError::RateLimited(_)
        | UpstreamError::Invalid
        | UpstreamError::Failed
        | UpstreamError::FailedSaying(_)
        | UpstreamError::TooLarge
        | UpstreamError::WriteRejected
        | UpstreamError::RelayLost
        | UpstreamError::ProjectLost { .. }
        | UpstreamError::ConversationOver
        | UpstreamError::Overloaded
        | UpstreamError::Cancelled => sample_failed(&error.to_string(), took),
    }
}

fn sample_failed(reason: &str, took: Duration) -> TestTargetResponse {
    stages(vec![
        passed("relay", Duration::ZERO),
        failed("sample", reason.to_owned(), took),
    ])
}

fn credential(reason: String, took: Duration) -> Stage {
    Stage {
        pointer: Some("/credential".into()),
        ..failed("credential", reason, took)
    }
}

fn stages(stages: Vec<Stage>) -> TestTargetResponse {
    TestTargetResponse {
        ok: stages.iter().all(|stage| stage.ok),
        stages,
    }
}

fn stage(found: &adapters::Stage) -> Stage {
    match &found.failed {
        None => passed(found.name, found.took),
        Some(reason) => Stage {
            pointer: found.mends.map(str::to_owned),
            ..failed(found.name, plain(reason), found.took)
        },
    }
}

fn passed(name: &str, took: Duration) -> Stage {
    Stage {
        name: name.into(),
        ok: true,
        ms: ms(took),
        reason: None,
        pointer: None,
    }
}

fn failed(name: &str, reason: String, took: Duration) -> Stage {
    Stage {
        name: name.into(),
        ok: false,
        ms: ms(took),
        reason: Some(reason),
        pointer: None,
    }
}

fn ms(took: Duration) -> i64 {
    i64::try_from(took.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::Missing,
        secrets::{Fault, ProviderKind, SecretError},
    };

    #[test]
    fn an_unreachable_target_is_an_answer_and_a_refused_request_an_error() {
        let check = |error: Error, expected: Option<&[(&str, bool)]>| {
            let told = told(Err(Failed { call: None, error }), Duration::from_millis(7));
            let told = told.ok().map(|it| (it.ok, it.stages));
            match (told, expected) {
                (None, None) => {}
                (Some((false, stages)), Some(expected)) => {
                    let found: Vec<_> = stages
                        .iter()
                        .map(|stage| (stage.name.as_str(), stage.ok))
                        .collect();
                    assert_eq!(found, expected);
                    assert!(stages.iter().all(|stage| stage.ok == stage.reason.is_none()));
                }
                (told, _) => panic!("{told:?}"),
            }
        };
        check(
            Error::Upstream(UpstreamError::RelayOffline),
            Some(&[("relay", false)]),
        );
        check(
            Error::Upstream(UpstreamError::Timeout),
            Some(&[("relay", true), ("sample", false)]),
        );
        check(
            Error::Upstream(UpstreamError::RelayLost),
            Some(&[("relay", true), ("sample", false)]),
        );
        check(
            Error::Upstream(UpstreamError::CredentialRejected),
            Some(&[("credential", false)]),
        );
        let gone = SecretError {
            provider: ProviderKind::Local,
            fault: Fault::NotFound,
        };
        check(Error::SecretUnavailable(gone), Some(&[("credential", false)]));
        check(Error::NotFound(Missing::Target), None);
        check(Error::Unauthenticated, None);
        check(Error::Overloaded, None);
    }
}
