//! What a failure tells beside its text, as every dialect writes it: where the request is wrong, and what to choose from.

use serde::Serialize;
use toolgate_contract::v1::Failure;

/// A place where the request is wrong.
#[derive(Debug, Serialize)]
pub(crate) struct Violation<'a> {
    pointer: &'a str,
    keyword: &'a str,
    message: &'a str,
}

/// A target to choose.
#[derive(Debug, Serialize)]
pub(crate) struct Choice<'a> {
    id: &'a str,
    name: &'a str,
}

/// Where the request is wrong.
pub(crate) fn violations(failure: &Failure) -> Vec<Violation<'_>> {
    let violations = failure.violations.iter();
    violations
        .map(|each| Violation {
            pointer: &each.pointer,
            keyword: &each.keyword,
            message: &each.message,
        })
        .collect()
}

/// The targets to choose from.
pub(crate) fn targets(failure: &Failure) -> Vec<Choice<'_>> {
    let targets = failure.targets.iter();
    targets
        .map(|each| Choice {
            id: &each.id,
            name: &each.name,
        })
        .collect()
}
