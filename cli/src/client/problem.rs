//! Problem details (RFC 9457) of the gateway as a failure: what happened, every violation, the next step.

use serde_json::{Map, Value};
use toolgate_contract::v1::ErrorReason;

use crate::failure::{Exit, Failure};

const TYPE: &str = "urn:toolgate:error:";
const PROJECT_AWAY: &str = "`toolgate fleet list` tells how each project does: start its relay where it is offline, \
                            `toolgate fleet enrol NAME` where it is waiting, revoked or locked";

/// The failure of an answer with this status and body.
pub(crate) fn failure(status: u16, retry_after: Option<u64>, body: &[u8], had_token: bool) -> Failure {
    let problem: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let reason = reason(&problem);
    let exit = match (reason, status) {
        (Some(ErrorReason::Internal | ErrorReason::AuditUnavailable), _) => Exit::Failed,
        (_, 400..=499) => Exit::Refused,
        _ => Exit::Failed,
    };
    let mut failure = Failure::new(exit, message(status, &problem));
    failure.details = details(&problem);
    let retry_after = retry_after.or_else(|| wait(&problem));
    failure.next = match (retry_after, reason) {
        (None, Some(ErrorReason::RelayOffline | ErrorReason::RelayLost)) if is_about_a_project(&failure) => {
            Some(PROJECT_AWAY.into())
        }
        _ => next(reason, retry_after, had_token),
    };
    failure.problem = (!problem.is_empty()).then(|| Box::new(problem));
    failure
}

// One reason stands for hosts and projects alike; only the text tells which it is.
fn is_about_a_project(failure: &Failure) -> bool {
    failure.message.contains("project ")
}

fn reason(problem: &Map<String, Value>) -> Option<ErrorReason> {
    let slug = problem.get("type")?.as_str()?.strip_prefix(TYPE)?;
    ErrorReason::from_name(&slug.replace('-', "_").to_uppercase())
}

// Streams have no header to say it in.
fn wait(problem: &Map<String, Value>) -> Option<u64> {
    problem
        .get("retryAfterMs")?
        .as_u64()
        .map(|ms| ms.div_ceil(1000).max(1))
}

fn message(status: u16, problem: &Map<String, Value>) -> String {
    let text = |name: &str| {
        problem
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    match (text("title"), text("detail")) {
        (Some(title), Some(detail)) if !detail.starts_with(title) => format!("{title}: {detail}"),
        (_, Some(text)) | (Some(text), None) => text.into(),
        (None, None) => format!("the gateway answered with status {status} and no reason"),
    }
}

fn details(problem: &Map<String, Value>) -> Vec<String> {
    let list = |name: &str| problem.get(name).and_then(Value::as_array).into_iter().flatten();
    let violations = list("violations").map(|violation| {
        let text = |name: &str| violation[name].as_str().unwrap_or_default();
        // The empty pointer is the whole; it has no place to name.
        match text("pointer") {
            "" => text("message").into(),
            pointer => format!("{pointer}: {}", text("message")),
        }
    });
    let targets = list("targets").map(|target| {
        let text = |name: &str| target[name].as_str().unwrap_or_default();
        format!("target {} ({})", text("name"), text("id"))
    });
    violations.chain(targets).collect()
}

/// What to do next about a refusal for this reason.
pub(crate) fn next(reason: Option<ErrorReason>, retry_after: Option<u64>, had_token: bool) -> Option<String> {
    if let Some(seconds) = retry_after {
        return Some(format!("try again in {seconds} s"));
    }
    let next = match reason? {
        ErrorReason::CredentialInvalid if had_token => {
            "the token is unknown, expired or revoked; set another in TOOLGATE_TOKEN"
        }
        ErrorReason::CredentialInvalid => {
            "set TOOLGATE_TOKEN, or give --data-dir where the gateway's admin-token can be read"
        }
        ErrorReason::RoleForbidden => "use a token of a role that may do this; `toolgate self` tells yours",
        ErrorReason::WriteRejected => {
            "what this gateway does not let anyone write can only be read; `toolgate tools` lists what there is"
        }
        ErrorReason::ToolNotFound => "`toolgate tools` lists the tools this token may see",
        ErrorReason::TargetNotFound => "`toolgate target list` lists the targets",
        ErrorReason::TargetRequired => "name one of them with --target",
        ErrorReason::RelayOffline | ErrorReason::RelayLost => {
            "`toolgate target list` tells how each relay does: start it where it is offline, `toolgate target enrol NAME` \
             where it is waiting, revoked or locked"
        }
        ErrorReason::ProjectOffline => PROJECT_AWAY,
        ErrorReason::AuditUnavailable | ErrorReason::Internal => {
            "the gateway's log tells more; see `toolgate doctor`"
        }
        _ => return None,
    };
    Some(next.into())
}

#[cfg(test)]
mod tests;
