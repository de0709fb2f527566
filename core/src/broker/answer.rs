//! What a call brought back: the tool's answer, fresh or kept, or the findings of a connection test.

use std::sync::Arc;

use serde_json::{json, value::RawValue};

use crate::{
    adapters,
    cache::Hit,
    error::Error,
    rests::Capped,
    upstream::{Level, Reports, ToolResult},
};

/// Who says the log lines that the gateway itself tells of a call.
pub(super) const GATEWAY: &str = "toolgate";

/// What a call brought back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(super) result: Arc<ToolResult>,
    pub(super) kept: Option<Kept>,
    pub(super) tested: Option<Arc<adapters::Validation>>,
    /// That it is a part of a rest, which is not cut again.
    pub(super) part: Option<Part>,
}

/// A part of what a capped result left.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The cursor of what follows, where something does.
    pub(super) next: Option<String>,
}

/// That an answer is not of now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub(super) at_us: i64,
    pub(super) age_seconds: u64,
}

impl Answer {
    /// Of now.
    pub(super) fn fresh(result: Arc<ToolResult>) -> Self {
        Self {
            result,
            kept: None,
            tested: None,
            part: None,
        }
    }

    /// Of what is held here of a former answer.
    pub(super) fn part(capped: Capped) -> Self {
        Self {
            part: Some(Part { next: capped.cursor }),
            ..Self::fresh(capped.result)
        }
    }

    /// That there is no such part. Cut, it would be one more rest that nobody holds.
    pub(super) fn no_part(result: Arc<ToolResult>) -> Self {
        Self {
            part: Some(Part { next: None }),
            ..Self::fresh(result)
        }
    }

    /// Out of the cache.
    pub(super) fn kept(hit: Hit) -> Self {
        Self {
            result: hit.result,
            kept: Some(Kept {
                at_us: hit.kept_us,
                age_seconds: hit.age.as_secs(),
            }),
            tested: None,
            part: None,
        }
    }

    /// Of a connection test; a target that did not pass is an answer.
    pub(super) fn tested(validation: adapters::Validation) -> Self {
        let result = ToolResult {
            content: RawValue::NULL.to_owned(),
            structured: None,
            is_error: validation.verdict != adapters::Verdict::Passed,
            raw: None,
        };
        Self {
            result: Arc::new(result),
            kept: None,
            tested: Some(Arc::new(validation)),
            part: None,
        }
    }

    /// Tells whoever debugs the call that the answer was kept.
    pub(super) fn tell_age(&self, reports: &Reports) {
        if let Some(kept) = self.kept {
            reports.log(
                Level::Debug,
                GATEWAY,
                || json!({"message": "answered out of the cache", "ageSeconds": kept.age_seconds}),
            );
        }
    }

    /// Why a connection test failed, for the record.
    pub(super) fn reason(&self) -> &'static str {
        let tested = self.tested.as_ref().map(|tested| &tested.verdict);
        match tested {
            None | Some(adapters::Verdict::Passed) => "",
            Some(adapters::Verdict::Unknown(error)) => Error::Upstream(error.clone()).reason().name(),
            Some(adapters::Verdict::Violation(violation)) => violated(violation).name(),
        }
    }
}

fn violated(violation: &adapters::Violation) -> toolgate_contract::v1::ErrorReason {
    use toolgate_contract::v1::ErrorReason;
    match (violation.wider, violation.of) {
        (true, _) => ErrorReason::CredentialDrifted,
        (false, adapters::Grants::Roles) => ErrorReason::RoleViolation,
        (false, adapters::Grants::Scopes) => ErrorReason::ScopeViolation,
    }
}
