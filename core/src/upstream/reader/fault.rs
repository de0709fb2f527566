//! Why there is no answer.

use crate::upstream::UpstreamError;

/// Why there is no answer: the reason for callers and a text for the admin who configures the target. Neither holds
/// anything of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub error: UpstreamError,
    /// What happened and what to do next, for an admin.
    pub detail: String,
}

impl Fault {
    pub(crate) fn new(error: UpstreamError, detail: impl Into<String>) -> Self {
        Self {
            error,
            detail: detail.into(),
        }
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(UpstreamError::Forbidden, detail)
    }

    pub(crate) fn unreachable(detail: impl Into<String>) -> Self {
        Self::new(UpstreamError::Unreachable, detail)
    }

    pub(crate) fn tls(detail: impl Into<String>) -> Self {
        Self::new(UpstreamError::Tls, detail)
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(UpstreamError::Invalid, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(UpstreamError::TooLarge, detail)
    }
}

impl From<Fault> for UpstreamError {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}
