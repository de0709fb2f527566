//! Why something is not on the record. The cause is in the log; callers learn only what they can do.

use super::append::AppendError;
use crate::store::StoreError;

/// Why something is not, or not known to be, on the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The record cannot be written now. Nothing may be released.
    #[error("the record cannot be written now")]
    Unavailable,
    /// Too much waits for the record; try again shortly.
    #[error("too much waits for the record")]
    Overloaded,
    /// Another event stands on the record under this event's id.
    #[error("another event stands on the record under this id")]
    Conflict,
    /// What writes the record has ended; only another start mends that.
    #[error("what writes the record has ended; the next start closes the calls it left open")]
    Ended,
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Overloaded {
            return Self::Overloaded;
        }
        tracing::error!(%error, "the record cannot be written");
        Self::Unavailable
    }
}

impl From<AppendError> for JournalError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Store(error) => error.into(),
            AppendError::HeadLost => {
                tracing::error!("the head of a record was moved by somebody else");
                Self::Unavailable
            }
        }
    }
}

/// How a change with its event failed: by itself, or by the journal.
pub(super) enum Failed<E> {
    Work(E),
    Journal(JournalError),
}

impl<E: From<JournalError>> Failed<E> {
    pub(super) fn into_error(self) -> E {
        match self {
            Self::Work(error) => error,
            Self::Journal(error) => error.into(),
        }
    }
}

impl<E> From<StoreError> for Failed<E> {
    fn from(error: StoreError) -> Self {
        Self::Journal(error.into())
    }
}

impl<E> From<JournalError> for Failed<E> {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}
