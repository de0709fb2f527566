//! Why a secret could not be had. No text holds an identifier, a path or anything a provider said.

use crate::store::StoreError;

/// Who was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// The gateway's own store.
    Local,
    /// AWS Secrets Manager.
    Aws,
    /// Vault's KV engine, version 2.
    Vault,
    /// The process itself, where it stands alone.
    Process,
}

impl ProviderKind {
    /// Every provider, in this build or not.
    pub const ALL: [Self; 4] = [Self::Local, Self::Aws, Self::Vault, Self::Process];

    /// The name in references and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Aws => "aws",
            Self::Vault => "vault",
            Self::Process => "process",
        }
    }

    /// The provider of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Why it could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// There is none of this name.
    NotFound,
    /// It was deleted, or is about to be.
    Deleted,
    /// The provider does not let the gateway read it.
    Denied,
    /// It is not what it should be: wrong shape, empty, over the limit.
    Unfit,
    /// Sealed for another place, or changed since it was sealed.
    Damaged,
    /// An older version than the target refers to.
    RolledBack,
    /// Wrapped with a root key that is not there.
    KeyMissing,
    /// The gateway has no such provider set up.
    NotConfigured,
    /// The provider asks us to slow down, or its quota is spent.
    Throttled,
    /// The provider is sealed.
    Sealed,
    /// The provider failed or cannot be reached.
    Unavailable,
    /// No answer in time.
    Timeout,
    /// Too many secrets are being asked for.
    Overloaded,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 13] = [
        Self::NotFound,
        Self::Deleted,
        Self::Denied,
        Self::Unfit,
        Self::Damaged,
        Self::RolledBack,
        Self::KeyMissing,
        Self::NotConfigured,
        Self::Throttled,
        Self::Sealed,
        Self::Unavailable,
        Self::Timeout,
        Self::Overloaded,
    ];

    /// The name in metrics and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Deleted => "deleted",
            Self::Denied => "denied",
            Self::Unfit => "unfit",
            Self::Damaged => "damaged",
            Self::RolledBack => "rolled_back",
            Self::KeyMissing => "key_missing",
            Self::NotConfigured => "not_configured",
            Self::Throttled => "throttled",
            Self::Sealed => "sealed",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
        }
    }

    /// True where the provider gave a definite no, and asking again would not help before somebody mends it.
    #[must_use]
    pub fn is_broken(self) -> bool {
        match self {
            Self::NotFound
            | Self::Deleted
            | Self::Denied
            | Self::Unfit
            | Self::Damaged
            | Self::RolledBack
            | Self::KeyMissing
            | Self::NotConfigured => true,
            Self::Throttled | Self::Sealed | Self::Unavailable | Self::Timeout | Self::Overloaded => false,
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::NotFound => "there is no secret of this name; store it, or give the target another",
            Self::Deleted => "the secret was deleted; restore it at the provider, or give the target another",
            Self::Denied => "the provider refuses the gateway; look at the policy of its credential",
            Self::Unfit => {
                "the secret is empty, over 64 KiB or of a kind this gateway cannot read; store it anew"
            }
            Self::Damaged => "the sealed secret was changed or moved; give the target its credential anew",
            Self::RolledBack => "an older version stands in its place; give the target its credential anew",
            Self::KeyMissing => "the root key that wrapped it is missing; restore keys/ from its backup",
            Self::NotConfigured => "this gateway has no such provider; look at its settings",
            Self::Throttled => "the provider limits the gateway; look at its quota",
            Self::Sealed => "the provider is sealed; unseal it",
            Self::Unavailable => {
                "the provider failed or cannot be reached; look at it and at the network between"
            }
            Self::Timeout => "no answer in time; look at the provider",
            Self::Overloaded => "too many secrets are being fetched at once; try again",
        }
    }
}

/// A secret could not be had. The text is the operator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", provider.as_str(), fault.advice())]
pub struct SecretError {
    /// Who was asked.
    pub provider: ProviderKind,
    /// Why not.
    pub fault: Fault,
}

/// A secret could not be put into the store.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such target.
    #[error("no such target")]
    NoTarget,
    /// A reference into the gateway's own store was given; those are made by storing a value.
    #[error("a reference must name a secret at another provider")]
    NotElsewhere,
    /// The system gave no random bytes, or the cipher refused.
    #[error("the secret cannot be sealed")]
    CannotSeal,
}
