//! One connection, of the pool or on its own.

use std::{fmt, ops::Deref};

use deadpool_postgres::{ClientWrapper, Object};

/// One connection.
pub(super) enum Line {
    /// Goes back to its pool when dropped.
    Pooled(Object),
    /// Is closed when dropped.
    Own(ClientWrapper),
}

impl Line {
    /// Closes the connection, whoever it belongs to.
    pub(super) fn discard(self) {
        if let Self::Pooled(object) = self {
            drop(Object::take(object));
        }
    }
}

impl Deref for Line {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        match self {
            Self::Pooled(object) => object,
            Self::Own(client) => client,
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pooled(_) => "Line::Pooled",
            Self::Own(_) => "Line::Own",
        })
    }
}
