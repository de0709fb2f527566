//! How what was read is told: records of the log, and one counter.

use std::borrow::Cow;

use metrics::{Unit, counter, describe_counter};
use toolgate_contract::scrub::scrub_to;

use crate::{
    line::{Block, Issue},
    report::{CATEGORIES, Labels, Malformed, Report, SEVERITIES},
};

/// The counter of issues. Dashboards know it by this name.
pub const COUNTER: &str = "tatara_wrapper_internal_issue_total";

const ACTION: &str = "internal_issue_report";
/// Bytes of a description that are logged: as many as of one that the gateway was told.
const LONGEST_TEXT: usize = 12 * 1024;
/// Bytes of an input that could not be read.
const LONGEST_INPUT: usize = 1024;
/// Bytes of everything else.
const LONGEST_WORD: usize = 256;

/// What the agent works on, as far as whoever follows it knows; empty where that is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// The project.
    pub project: String,
    /// The task.
    pub task: String,
    /// The repository.
    pub repo: String,
    /// The kind of the task.
    pub kind: String,
}

/// Says what the counter counts.
pub fn describe() {
    describe_counter!(
        COUNTER,
        Unit::Count,
        "Internal issues that an agent reported, as its transcript tells, by category and severity"
    );
}

/// Lets every series begin at zero, so that the first issue is an increase.
pub fn begin() {
    describe();
    for category in CATEGORIES {
        for severity in SEVERITIES {
            counter!(COUNTER, "category" => category, "severity" => severity).absolute(0);
        }
    }
}

/// Tells of a block, and of the issue in it.
pub(crate) fn tell(work: &Work, block: &Block<'_>, issue: Option<&Issue<'_>>) {
    // A broken line holds no block that could be told of, only the sight of a report.
    if !matches!(issue, Some(Err(Malformed::LineNotJson))) {
        stream(block);
    }
    match issue {
        None => {}
        Some(Ok(report)) => {
            let labels = report.labels();
            count(labels);
            reported(work, block, report, labels);
        }
        Some(Err(why)) => {
            count(Labels::UNKNOWN);
            malformed(work, block, *why);
        }
    }
}

// First, and apart from the log: a level that lets nothing through changes no count.
fn count(labels: Labels) {
    counter!(COUNTER, "category" => labels.category, "severity" => labels.severity).increment(1);
}

fn stream(block: &Block<'_>) {
    tracing::info!(
        action = "agent_stream",
        block_type = "tool_use",
        tool = &*word(&block.tool),
        tool_use_id = known(&block.tool_use_id).as_deref(),
        turn_id = known(&block.turn_id).as_deref(),
        session_id = known(&block.session_id).as_deref(),
        message_id = known(&block.message_id).as_deref(),
        "agent stream"
    );
}

fn reported(work: &Work, block: &Block<'_>, report: &Report<'_>, labels: Labels) {
    // Only what is missing is filled in: a word that is not known is told as it was written.
    let or = |text, otherwise| match word(text) {
        empty if empty.is_empty() => Cow::Borrowed(otherwise),
        told => told,
    };
    let category = or(&report.category, Labels::UNKNOWN.category);
    let severity = or(&report.severity, Labels::UNKNOWN.severity);
    let description = scrub_to(&report.description, LONGEST_TEXT);
    macro_rules! told {
        ($level:ident) => {
            tracing::$level!(
                action = ACTION,
                category = &*category,
                severity = &*severity,
                description = &*description,
                offending_tool = &*word(&report.offending_tool),
                resource_id = &*word(&report.resource_id),
                project = &*word(&work.project),
                task = &*word(&work.task),
                repo = &*word(&work.repo),
                kind = &*word(&work.kind),
                turn_id = known(&block.turn_id).as_deref(),
                session_id = known(&block.session_id).as_deref(),
                message_id = known(&block.message_id).as_deref(),
                tool_use_id = known(&block.tool_use_id).as_deref(),
                "internal issue reported"
            )
        };
    }
    match labels.severity {
        "warn" => told!(warn),
        _ => told!(error),
    }
}

fn malformed(work: &Work, block: &Block<'_>, why: Malformed) {
    tracing::error!(
        action = ACTION,
        category = Labels::UNKNOWN.category,
        severity = Labels::UNKNOWN.severity,
        parse_error = %why,
        input = &*scrub_to(&block.input, LONGEST_INPUT),
        project = &*word(&work.project),
        task = &*word(&work.task),
        repo = &*word(&work.repo),
        kind = &*word(&work.kind),
        turn_id = known(&block.turn_id).as_deref(),
        session_id = known(&block.session_id).as_deref(),
        message_id = known(&block.message_id).as_deref(),
        tool_use_id = known(&block.tool_use_id).as_deref(),
        "internal issue reported"
    );
}

fn word(text: &str) -> Cow<'_, str> {
    scrub_to(text, LONGEST_WORD)
}

fn known<'a>(text: &'a Option<Cow<'_, str>>) -> Option<Cow<'a, str>> {
    text.as_deref().map(word)
}

#[cfg(test)]
mod tests;
