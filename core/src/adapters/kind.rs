//! The kinds of targets that are dialled over HTTP.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{
    Validation, agent, gitea, github, mends::Mends, proxmox, settings::Defaults, withheld::Withheld,
};
use crate::{
    error::Error,
    journal::Contact,
    secrets::{SecretValue, Traces},
    upstream::{Upstream, UpstreamError},
};

/// One target as its adapter asks it: bound to its settings and to one credential, connections kept warm.
pub trait Adapter: Upstream + fmt::Debug {
    /// Finds out what the credential can do, by reading only. Ends within its own bounds; dropping it cancels it.
    fn validate<'a>(&'a self, contact: &'a Contact) -> BoxFuture<'a, Validation>;
}

/// The adapter types whose targets are dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Proxmox VE.
    Proxmox,
    /// GitHub.
    Github,
    /// Gitea and Forgejo.
    Gitea,
    /// What agents remember, and the graph of the code.
    AgentMemory,
    /// Projects, tasks and their outcomes, for agents.
    AgentOperator,
    /// Rooms in which agents talk.
    AgentChat,
}

impl Kind {
    /// The kind of this adapter type, if its targets are dialled.
    #[must_use]
    pub fn of(adapter: &str) -> Option<Self> {
        match adapter {
            "proxmox" => Some(Self::Proxmox),
            "github" => Some(Self::Github),
            "gitea" => Some(Self::Gitea),
            "agent-memory" => Some(Self::AgentMemory),
            "agent-operator" => Some(Self::AgentOperator),
            "agent-chat" => Some(Self::AgentChat),
            _ => None,
        }
    }

    /// Whether its targets are back ends of agents, which may be written to.
    #[must_use]
    pub fn is_back_end(self) -> bool {
        match self {
            Self::Proxmox | Self::Github | Self::Gitea => false,
            Self::AgentMemory | Self::AgentOperator | Self::AgentChat => true,
        }
    }

    /// Whether a credential that can do more than it should is found out again and again. What a credential may do at a
    /// back end of agents nobody can read there, so a second look would show what the first one did.
    #[must_use]
    pub fn drifts(self) -> bool {
        !self.is_back_end()
    }

    /// The settings of a target as they are stored: closed, bounded, in canonical spelling, without any credential.
    ///
    /// # Errors
    /// The first place that is wrong.
    pub fn settings(
        self,
        given: Map<String, Value>,
        defaults: Defaults,
    ) -> Result<Map<String, Value>, Error> {
        match self {
            Self::Proxmox => proxmox::settings(given, defaults),
            Self::Github => github::settings(given, defaults),
            Self::Gitea => gitea::settings(given, defaults),
            Self::AgentMemory | Self::AgentOperator | Self::AgentChat => agent::settings(given, defaults),
        }
    }

    /// The credential as it is kept, out of the object that was given.
    ///
    /// # Errors
    /// The first place that is wrong; a token of a kind that is never accepted is a scope violation.
    pub fn credential(self, given: &Map<String, Value>) -> Result<SecretValue, Error> {
        match self {
            Self::Proxmox => proxmox::credential(given),
            Self::Github => github::credential(given),
            Self::Gitea => gitea::credential(given),
            Self::AgentMemory | Self::AgentOperator | Self::AgentChat => agent::credential(given),
        }
    }

    /// What stands for no credential where a back end of agents wants none; `None` for what always wants one.
    #[must_use]
    pub fn nobody(self) -> Option<SecretValue> {
        self.is_back_end().then(agent::nobody).flatten()
    }

    /// The adapter of one target, out of its stored settings, the facts of its last validation and its credential: as
    /// it is kept, or as whoever keeps it elsewhere has it, which may be the object that would have been given here.
    ///
    /// # Errors
    /// When settings or credential cannot be used.
    pub fn open(
        self,
        settings: &Value,
        facts: &Value,
        credential: &SecretValue,
    ) -> Result<Arc<dyn Adapter>, UpstreamError> {
        let object = self.kept_as_object(credential)?;
        let credential = object.as_ref().unwrap_or(credential);
        let adapter = match self {
            Self::Proxmox => proxmox::open(settings, facts, credential),
            Self::Github => github::open(settings, facts, credential),
            Self::Gitea => gitea::open(settings, facts, credential),
            Self::AgentMemory => agent::open(settings, credential, "/entities?q=toolgate"),
            Self::AgentOperator => agent::open(settings, credential, "/projects"),
            Self::AgentChat => agent::open(settings, credential, "/rooms"),
        }?;
        // Of a token of Proxmox VE the beginning says whose it is; of others all is secret.
        let traces = match self {
            Self::Proxmox => Traces::of_named(credential),
            _ => Traces::of(credential),
        };
        Ok(Withheld::around(adapter, traces, Mends::of(self, settings)))
    }

    fn kept_as_object(self, credential: &SecretValue) -> Result<Option<SecretValue>, UpstreamError> {
        let bytes = credential.reveal().trim_ascii();
        if !bytes.starts_with(b"{") {
            return Ok(None);
        }
        let object: Map<String, Value> =
            serde_json::from_slice(bytes).map_err(|_| UpstreamError::CredentialRejected)?;
        let kept = self.credential(&object);
        kept.map(Some).map_err(|_| UpstreamError::CredentialRejected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_that_another_keeps_is_its_text_or_the_object_that_would_be_given() {
        let check = |kept: &str, expected: Option<&str>| {
            let kept = SecretValue::new(kept.as_bytes()).unwrap();
            let read = Kind::Gitea.kept_as_object(&kept).unwrap();
            let read = read.map(|value| String::from_utf8_lossy(value.reveal()).into_owned());
            assert_eq!(read.as_deref(), expected);
        };
        check("0123abc", None);
        check(r#"{"token":"0123abc"}"#, Some("0123abc"));
        check("\n {\"token\": \"0123abc\"}\n", Some("0123abc"));
        for unfit in ["{", "{}", r#"{"token":"a","more":1}"#, r#"{"password":"a"}"#] {
            let kept = SecretValue::new(unfit.as_bytes()).unwrap();
            let refused = Kind::Gitea.kept_as_object(&kept).unwrap_err();
            assert_eq!(refused, UpstreamError::CredentialRejected, "{unfit}");
        }
    }
}
