//! Finds out whether a back end can be used, by reading only: that it is reached, that a token is handed out where one
//! is asked for, that it knows the credential, and that it has the path which all of its kind have.
//!
//! What the credential may do beyond that is not asked: nothing is written to find out.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use toolgate_contract::registry::HttpMethod;

use super::{Answer, BackEnd, Bound, Who, answers::is_unknown_path};
use crate::{
    adapters::{Grants, Stage, Validation, Verdict, Violation},
    journal::Contact,
    upstream::{UpstreamError, reader::Fault},
};

/// All stages together.
const LONGEST: Duration = Duration::from_secs(10);

pub(super) async fn validate(back_end: &BackEnd, contact: &Contact) -> Validation {
    let mut run = Run {
        back_end,
        began: Instant::now(),
        found: Validation::of(Verdict::Passed),
    };
    let deadline = Instant::now() + LONGEST;
    if timeout_at(deadline, run.stages(contact)).await.is_err() {
        let why = "no answer within 10 s; look at the back end, then try again".to_owned();
        run.failed("sample", why, Verdict::Unknown(UpstreamError::Timeout));
    }
    run.found
}

/// A validation on its way.
struct Run<'a> {
    back_end: &'a BackEnd,
    began: Instant,
    found: Validation,
}

impl Run<'_> {
    async fn stages(&mut self, contact: &Contact) {
        // Tokens are asked for first, so that what keeps them away is not told as the back end's fault.
        let asked = match &self.back_end.who {
            Who::Bearer { .. } | Who::Anyone => Ok(()),
            Who::Client(tokens) => tokens.current().await.map(drop),
            Who::Nobody(fault) => Err(fault.clone()),
        };
        if let Err(fault) = asked {
            return self.fault("authenticate", fault);
        }
        let bound = Bound {
            method: HttpMethod::Get,
            target: self.back_end.sample.to_owned(),
            body: None,
        };
        match self.back_end.ask(contact, &bound).await {
            Ok((answer, _)) => self.answered(&answer),
            Err(fault) => {
                let stage = match fault.error {
                    UpstreamError::Tls => "tls",
                    UpstreamError::TokenUnavailable | UpstreamError::CredentialRejected => "authenticate",
                    _ => "reach",
                };
                self.fault(stage, fault);
            }
        }
    }

    fn answered(&mut self, answer: &Answer) {
        self.passed("reach");
        if !self.back_end.client.base().is_plain_http() {
            self.passed("tls");
        }
        let (status, sample) = (answer.status, self.back_end.sample);
        match status.as_u16() {
            200..=299 => {
                self.passed("authenticate");
                self.passed("sample");
                self.found.proven.push(format!("GET {sample}"));
                if self.back_end.read_write {
                    self.found.not_provable.push("write".into());
                }
            }
            401 => {
                let why = "the back end does not accept the credential (401); give one that is valid there";
                self.failed(
                    "authenticate",
                    why.into(),
                    Verdict::Unknown(UpstreamError::CredentialRejected),
                );
            }
            403 => {
                let why = format!(
                    "the back end refuses GET {sample} to the credential (403); give one that may read there"
                );
                let violation = Violation {
                    of: Grants::Scopes,
                    what: why.clone(),
                    wider: false,
                };
                self.failed("authenticate", why, Verdict::Violation(violation));
            }
            429 => {
                let why = "the back end limits how often it is asked (429); try again later".to_owned();
                let error = UpstreamError::RateLimited(Duration::from_secs(30));
                self.failed("sample", why, Verdict::Unknown(error));
            }
            500..=599 => {
                let why = format!("the back end answered {status} to GET {sample}; its log tells more");
                self.failed("sample", why, Verdict::Unknown(UpstreamError::Failed));
            }
            _ if is_unknown_path(status) => {
                let why = format!(
                    "there is nothing at GET {sample} ({status}), which every back end of this type has; is baseUrl right?"
                );
                self.failed("sample", why, Verdict::Unknown(UpstreamError::Invalid));
            }
            _ => {
                let why = format!("the back end answered {status} to GET {sample}; is baseUrl right?");
                self.failed("sample", why, Verdict::Unknown(UpstreamError::Invalid));
            }
        }
    }

    fn fault(&mut self, stage: &'static str, fault: Fault) {
        self.failed(stage, fault.detail, Verdict::Unknown(fault.error));
    }

    fn passed(&mut self, name: &'static str) {
        self.stage(name, None);
    }

    fn failed(&mut self, name: &'static str, why: String, verdict: Verdict) {
        self.stage(name, Some(why));
        self.found.verdict = verdict;
    }

    fn stage(&mut self, name: &'static str, failed: Option<String>) {
        let took = self.began.elapsed();
        self.began = Instant::now();
        self.found.stages.push(Stage {
            name,
            took,
            failed,
            mends: None,
        });
    }
}
