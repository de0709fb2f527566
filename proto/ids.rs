//! Identifiers: bare 26-character ULIDs, monotonic per process, public, never secrets.
//!
//! Order is told by `seq` on the record, never by an id.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use ulid::{Generator, Ulid};

/// A text that is no identifier of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier")]
pub struct InvalidId;

fn mint() -> Ulid {
    static GENERATOR: Mutex<Generator> = Mutex::new(Generator::new());
    let mut generator = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    // Fails only when 2^80 ids were minted within one millisecond.
    generator.generate().unwrap_or_else(|_| Ulid::generate())
}

macro_rules! ulid_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Ulid);

        impl $name {
            /// Mints a new id, greater than every one this process minted before.
            #[must_use]
            pub fn mint() -> Self {
                Self(mint())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            // Only the canonical spelling: an id has one text, so texts may be compared.
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let id = Self(Ulid::from_string(text).map_err(|_| InvalidId)?);
                if id.to_string() == text { Ok(id) } else { Err(InvalidId) }
            }
        }
    )+};
}

ulid_ids! {
    /// One call, from admission to settlement.
    CallId,
    /// One event or intent of the record, made by its writer, so that a repeated write is recognised.
    EventId,
    /// One configured target.
    TargetId,
    /// One API token or session.
    TokenId,
}

/// The isolation unit. A ULID, or one of the two reserved names.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Mints the id of a new tenant.
    #[must_use]
    pub fn mint() -> Self {
        Self(mint().to_string().into())
    }

    /// The tenant that takes refusals which have no tenant yet.
    #[must_use]
    pub fn system() -> Self {
        Self("system".into())
    }

    /// The tenant of a core that lives for one process, where no gateway made one.
    #[must_use]
    pub fn local() -> Self {
        Self("local".into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TenantId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let reserved = matches!(text, "system" | "local");
        if reserved || Ulid::from_string(text).is_ok_and(|id| id.to_string() == text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidId)
        }
    }
}

#[cfg(test)]
mod tests;
