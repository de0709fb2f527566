//! One question to a cluster, and its answer sorted: the data, a no of the cluster's own, or a reason for none.
//!
//! What went wrong stands in the body since 2025, before that behind the status alone. Texts are for sorting and are
//! never passed on: they name files of the server.

use std::time::Duration;

use http::{StatusCode, header};
use serde_json::Value;

use super::Cluster;
use crate::{
    adapters::said::shown,
    journal::Contact,
    upstream::{
        UpstreamError,
        reader::{Answer, ReadPath},
    },
};

/// How long a proxy in front of the cluster that limits and says no time is left alone.
const PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: u64 = 3600;
/// Fields named in a refusal.
const MOST_FIELDS: usize = 8;

/// What a cluster said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// The data of its answer, which may be null.
    Yes(Value),
    No(No),
}

/// A no, as it matters to whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum No {
    /// The node that this is about gives no answer to the node that was asked.
    NodeAway,
    /// There is no such thing.
    Missing,
    /// The token may not; what it lacks, where the cluster says so: `VM.Audit on /vms/100`.
    Forbidden(Option<String>),
    /// The cluster does not take these arguments.
    Arguments(Vec<String>),
    /// The cluster does not know the question.
    Unknown,
    /// Something else, with this status.
    Refused(u16),
}

impl Cluster {
    /// Asks, for a call.
    pub(super) async fn ask(&self, contact: &Contact, path: &ReadPath) -> Result<Said, UpstreamError> {
        sort(&self.reader.get(contact, path).await?)
    }

    /// The same of what any node can tell: where it speaks of another, it is not well itself.
    pub(super) async fn ask_of_all(&self, contact: &Contact, path: &ReadPath) -> Result<Said, UpstreamError> {
        match self.ask(contact, path).await? {
            Said::No(No::NodeAway) => Err(UpstreamError::Failed),
            said => Ok(said),
        }
    }
}

/// Sorts an answer.
pub(super) fn sort(answer: &Answer) -> Result<Said, UpstreamError> {
    let no = match answer.status.as_u16() {
        200..=299 => return data(answer).map(Said::Yes),
        401 => return Err(UpstreamError::CredentialRejected),
        429 => return Err(UpstreamError::RateLimited(pause(answer))),
        400 => No::Arguments(fields(answer)),
        403 => No::Forbidden(lacking(&message(answer))),
        status @ 404..=499 | status @ 402 => No::Refused(status),
        500 => failed(&message(answer)).ok_or(UpstreamError::Failed)?,
        501 => No::Unknown,
        // Not of HTTP: how the node that was asked fared with the node that this is about.
        595..=599 => No::NodeAway,
        502..=594 => return Err(UpstreamError::Failed),
        _ => return Err(UpstreamError::Invalid),
    };
    Ok(Said::No(no))
}

/// What an answer holds in its envelope.
fn data(answer: &Answer) -> Result<Value, UpstreamError> {
    let mut told: Value = answer.json()?;
    let data = told.as_object_mut().and_then(|told| told.get_mut("data"));
    data.map(Value::take).ok_or(UpstreamError::Invalid)
}

/// What an answer says of itself: in the body, or else behind the status.
fn message(answer: &Answer) -> String {
    let told: Value = answer.json().unwrap_or_default();
    let message = told.get("message").and_then(Value::as_str).map(str::trim);
    let message = message.filter(|message| !message.is_empty());
    message
        .or(answer.status_text.as_deref())
        .unwrap_or_default()
        .to_owned()
}

/// The faults of a server that are none: there is no 404 here.
fn failed(message: &str) -> Option<No> {
    let message = message.to_ascii_lowercase();
    let says = |part: &str| message.contains(part);
    if says("hostname lookup") || says("no route to host") || says("connection refused") {
        return Some(No::NodeAway);
    }
    let missing = says("does not exist") || says("no such") || says("unable to find configuration file");
    missing.then_some(No::Missing)
}

/// `Permission check failed (/vms/100, VM.Audit)`: the place and the privilege.
fn lacking(message: &str) -> Option<String> {
    let (_, rest) = message.split_once('(')?;
    let (path, privileges) = rest.split_once(')')?.0.split_once(", ")?;
    let is_path = path.starts_with('/')
        && path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-@!".contains(&byte));
    let is_privilege = !privileges.is_empty()
        && privileges
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".|, ".contains(&byte));
    (is_path && is_privilege && message.len() <= 300).then(|| format!("{privileges} on {path}"))
}

/// The names of the arguments that were not taken.
fn fields(answer: &Answer) -> Vec<String> {
    let told: Value = answer.json().unwrap_or_default();
    let errors = told.get("errors").and_then(Value::as_object);
    let names = errors.into_iter().flat_map(|errors| errors.keys());
    names.take(MOST_FIELDS).map(|name| shown(name)).collect()
}

fn pause(answer: &Answer) -> Duration {
    let told = answer.headers.get(header::RETRY_AFTER);
    let seconds = told.and_then(|told| told.to_str().ok()?.trim().parse::<u64>().ok());
    seconds.map_or(PAUSE, |seconds| {
        Duration::from_secs(seconds.clamp(1, LONGEST_PAUSE))
    })
}

impl No {
    /// What a caller hears of it, when nothing better is known.
    pub(super) fn told(&self, what: &str) -> String {
        match self {
            Self::NodeAway => format!("{what}: its node gives no answer to the cluster"),
            Self::Missing => format!("{what}: not found"),
            Self::Forbidden(Some(lacking)) => {
                format!("{what}: the token of this target lacks {lacking}; ask an admin to test the target")
            }
            Self::Forbidden(None) => {
                format!("{what}: the token of this target may not read it; ask an admin to test the target")
            }
            Self::Arguments(fields) if fields.is_empty() => {
                format!("{what}: the cluster does not take the arguments")
            }
            Self::Arguments(fields) => {
                format!(
                    "{what}: the cluster does not take these arguments: {}",
                    fields.join(", ")
                )
            }
            Self::Unknown => format!("{what}: this version of Proxmox VE cannot tell it"),
            Self::Refused(status) => format!("{what}: the cluster refused to tell it (HTTP {status})"),
        }
    }
}

/// Whether an answer is one of Proxmox VE at all, for whoever asks for the first time.
pub(super) fn is_of_another(answer: &Answer) -> bool {
    let status = answer.status;
    let elsewhere = matches!(status, StatusCode::NOT_FOUND | StatusCode::NOT_IMPLEMENTED);
    elsewhere || (status.is_success() && data(answer).is_err())
}

#[cfg(test)]
mod tests;
