//! What an agent says of the platform itself: one record in the log and one count, whatever becomes of the call.
//!
//! Independent of limits and of the store, so that a report of broken things is not lost to broken things. The text is the
//! one part of a call that reaches a log, which is its purpose (`agent-tools.md` §3), and it goes there without secrets. The
//! audit record, from which nothing can be taken again, gets what is short: no prose.

mod values;

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolgate_contract::{ids::CallId, scrub::scrub_to};

pub(crate) use self::values::begin;
use crate::{identity::Principal, secrets::Traces, telemetry};

/// The message of every record; dashboards look for it.
const MESSAGE: &str = "internal issue reported";
/// The `action` of every record; dashboards look for it.
const ACTION: &str = "internal_issue_report";
/// The longest description in a record, in bytes: container runtimes cut lines at 16 KiB. More than the schema lets in.
const LONGEST_TEXT: usize = 12 * 1024;
/// The longest name or id, likewise.
const LONGEST_NAME: usize = 256;

/// What this process adds to every report.
#[derive(Debug, Default)]
pub(crate) struct InternalIssues {
    /// The repository that the process works in.
    pub(crate) repo: String,
    /// The kind of its task.
    pub(crate) kind: String,
    /// Credentials that the process was given, and that an agent beside it may quote.
    pub(crate) known: Vec<Traces>,
}

/// Where a report comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) call: CallId,
    pub(crate) principal: &'a Principal,
    pub(crate) project: &'a str,
    pub(crate) task: &'a str,
}

/// One report, without secrets.
#[derive(Debug)]
struct Issue<'a> {
    category: &'a str,
    severity: &'a str,
    description: Cow<'a, str>,
    offending_tool: Cow<'a, str>,
    resource_id: Cow<'a, str>,
}

impl InternalIssues {
    /// Counts and logs a report, out of arguments that hold to the tool's schema. Gives what the audit record may say of
    /// it.
    pub(crate) fn report(&self, origin: Origin<'_>, arguments: &Value) -> Map<String, Value> {
        let issue = self.read(arguments);
        telemetry::internal_issue(issue.category, issue.severity);
        self.log(origin, &issue);
        issue.detail()
    }

    fn read<'a>(&self, arguments: &'a Value) -> Issue<'a> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        Issue {
            category: text("category"),
            severity: Some(text("severity"))
                .filter(|severity| !severity.is_empty())
                .unwrap_or_else(|| values::default_severity()),
            description: self.clean(text("description"), LONGEST_TEXT),
            offending_tool: self.clean(text("offending_tool"), LONGEST_NAME),
            resource_id: self.clean(text("resource_id"), LONGEST_NAME),
        }
    }

    fn clean<'a>(&self, text: &'a str, longest: usize) -> Cow<'a, str> {
        let struck = self.known.iter().fold(Cow::Borrowed(text), |text, traces| {
            traces.strike(&text).map_or(text, Cow::Owned)
        });
        match struck {
            Cow::Borrowed(text) => scrub_to(text, longest),
            Cow::Owned(text) => Cow::Owned(scrub_to(&text, longest).into_owned()),
        }
    }

    fn log(&self, origin: Origin<'_>, issue: &Issue<'_>) {
        let Origin {
            call,
            principal,
            project,
            task,
        } = origin;
        let (tenant, principal) = (&principal.tenant, &principal.name);
        let [project, task, repo, kind] =
            [project, task, &self.repo, &self.kind].map(|text| self.clean(text, LONGEST_NAME));
        let Issue {
            category,
            severity,
            description,
            offending_tool,
            resource_id,
        } = issue;
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    action = ACTION,
                    category,
                    severity,
                    description = description.as_ref(),
                    offending_tool = offending_tool.as_ref(),
                    resource_id = resource_id.as_ref(),
                    project = project.as_ref(),
                    task = task.as_ref(),
                    repo = repo.as_ref(),
                    kind = kind.as_ref(),
                    call_id = %call,
                    %tenant,
                    %principal,
                    "{MESSAGE}"
                )
            };
        }
        match *severity {
            "warn" => log!(warn),
            _ => log!(error),
        }
    }
}

impl Issue<'_> {
    /// The description stays out: prose of an agent on a record that is kept for good and shown to auditors. The keyed
    /// hash of the arguments, which every row has, proves it to whoever has the log. Names and ids are words; what is not
    /// one word is none.
    fn detail(&self) -> Map<String, Value> {
        let mut detail = Map::from_iter([
            ("category".to_owned(), self.category.into()),
            ("severity".to_owned(), self.severity.into()),
        ]);
        let names = [
            ("offending_tool", &self.offending_tool),
            ("resource_id", &self.resource_id),
        ];
        for (key, name) in names {
            if is_word(name) {
                detail.insert(key.to_owned(), name.as_ref().into());
            }
        }
        detail
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests;
