//! What an agent says of the platform itself: one record in the log and one count, whatever becomes of the call.
//!
//! Independent of limits and of the store, so that a report of broken things is not lost to broken things. The text is the
//! one part of a call that reaches a log, which is its purpose (`agent-tools.md` §3).

use serde_json::Value;
use toolgate_contract::ids::CallId;

use crate::{identity::Principal, telemetry};

/// The message of every record; dashboards look for it.
const MESSAGE: &str = "internal issue reported";
/// The `action` of every record; dashboards look for it.
const ACTION: &str = "internal_issue_report";

/// One report, as its caller wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Issue<'a> {
    category: &'a str,
    severity: &'a str,
    description: &'a str,
    offending_tool: &'a str,
    resource_id: &'a str,
}

impl<'a> Issue<'a> {
    /// Out of arguments that hold to the tool's schema.
    pub(crate) fn read(arguments: &'a Value) -> Self {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let severity = match text("severity") {
            "" => "error",
            given => given,
        };
        Self {
            category: text("category"),
            severity,
            description: text("description"),
            offending_tool: text("offending_tool"),
            resource_id: text("resource_id"),
        }
    }

    /// Logs and counts it.
    pub(crate) fn report(self, call: CallId, principal: &Principal) {
        let Self {
            category,
            severity,
            description,
            offending_tool,
            resource_id,
        } = self;
        telemetry::internal_issue(category, severity);
        let (tenant, principal) = (&principal.tenant, &principal.name);
        match severity {
            "warn" => tracing::warn!(
                action = ACTION, category, severity, description, offending_tool, resource_id,
                call_id = %call, %tenant, %principal, "{MESSAGE}"
            ),
            _ => tracing::error!(
                action = ACTION, category, severity, description, offending_tool, resource_id,
                call_id = %call, %tenant, %principal, "{MESSAGE}"
            ),
        }
    }
}
