//! The kinds of targets that are read over HTTP.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Validation, gitea, github, proxmox, settings::Defaults, withheld::Withheld};
use crate::{
    error::Error,
    journal::Contact,
    secrets::SecretValue,
    upstream::{Upstream, UpstreamError},
};

/// One target as its adapter reads it: bound to its settings and to one credential, connections kept warm.
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
}

impl Kind {
    /// The kind of this adapter type, if its targets are dialled.
    #[must_use]
    pub fn of(adapter: &str) -> Option<Self> {
        match adapter {
            "proxmox" => Some(Self::Proxmox),
            "github" => Some(Self::Github),
            "gitea" => Some(Self::Gitea),
            _ => None,
        }
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
        }
    }

    /// The adapter of one target, out of its stored settings, the facts of its last validation and its credential.
    ///
    /// # Errors
    /// When the settings cannot be used by this version.
    pub fn open(
        self,
        settings: &Value,
        facts: &Value,
        credential: &SecretValue,
    ) -> Result<Arc<dyn Adapter>, UpstreamError> {
        let adapter = match self {
            Self::Proxmox => proxmox::open(settings, facts, credential),
            Self::Github => github::open(settings, facts, credential),
            Self::Gitea => gitea::open(settings, facts, credential),
        }?;
        Ok(Withheld::around(adapter, credential))
    }
}
