//! Which secret a target uses: stands in the target's row, and holds no value.
//!
//! A local reference also holds the version it was written with. The store may hold a newer one, never an older: the
//! version is bound into what is sealed, so a row that was put back from a backup is found out here.
//!
//! Names of external secrets are relative to a folder of the tenant's own, so no tenant can name another's.

use std::fmt;

use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::ProviderKind;

/// The longest name at an external provider.
const LONGEST_NAME: usize = 256;

/// Which secret a target uses. Shows its provider and nothing else.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SecretRef(Kind);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Kind {
    Local {
        id: Ulid,
        version: i64,
    },
    External {
        provider: ProviderKind,
        name: String,
        version: Option<u32>,
    },
    Process {
        id: Ulid,
    },
}

/// As it stands in the target's row.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    provider: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
}

impl SecretRef {
    pub(super) fn local(id: Ulid, version: i64) -> Self {
        Self(Kind::Local { id, version })
    }

    /// A secret that the process was given for itself. It stands in no row.
    pub(super) fn process(id: Ulid) -> Self {
        Self(Kind::Process { id })
    }

    /// A secret at AWS Secrets Manager, always in its current version, by its name below the tenant's folder.
    #[must_use]
    pub fn aws(name: &str) -> Option<Self> {
        Self::external(ProviderKind::Aws, name, None)
    }

    /// A secret of Vault's KV engine by its path below the tenant's folder, in its newest or in one fixed version.
    #[must_use]
    pub fn vault(path: &str, version: Option<u32>) -> Option<Self> {
        if version == Some(0) {
            return None;
        }
        Self::external(ProviderKind::Vault, path, version)
    }

    fn external(provider: ProviderKind, name: &str, version: Option<u32>) -> Option<Self> {
        is_name(name).then(|| {
            Self(Kind::External {
                provider,
                name: name.to_owned(),
                version,
            })
        })
    }

    /// Who has it.
    #[must_use]
    pub fn provider(&self) -> ProviderKind {
        match &self.0 {
            Kind::Local { .. } => ProviderKind::Local,
            Kind::External { provider, .. } => *provider,
            Kind::Process { .. } => ProviderKind::Process,
        }
    }

    /// Reads what stands in a target's row; `None` for what this version cannot read.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let stored: Stored = serde_json::from_str(text).ok()?;
        match (ProviderKind::parse(&stored.provider)?, stored) {
            (
                ProviderKind::Local,
                Stored {
                    id: Some(id),
                    name: None,
                    version: Some(version),
                    ..
                },
            ) => {
                let known = Ulid::from_string(&id).ok().filter(|ulid| ulid.to_string() == id);
                known.filter(|_| version >= 1).map(|id| Self::local(id, version))
            }
            (
                ProviderKind::Aws,
                Stored {
                    id: None,
                    name: Some(name),
                    version: None,
                    ..
                },
            ) => Self::aws(&name),
            (
                ProviderKind::Vault,
                Stored {
                    id: None,
                    name: Some(name),
                    version,
                    ..
                },
            ) => {
                let version = version.map(u32::try_from).transpose().ok()?;
                Self::vault(&name, version)
            }
            _ => None,
        }
    }

    /// What stands in a target's row.
    #[must_use]
    pub fn stored(&self) -> String {
        let (id, name, version) = match &self.0 {
            Kind::Local { id, version } => (Some(id.to_string()), None, Some(*version)),
            Kind::External { name, version, .. } => (None, Some(name.clone()), version.map(i64::from)),
            Kind::Process { id } => (Some(id.to_string()), None, None),
        };
        let stored = Stored {
            provider: self.provider().as_str().to_owned(),
            id,
            name,
            version,
        };
        // Strings and numbers only: there is nothing in it that could fail.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Id and least version, where the gateway's own store has it.
    pub(super) fn in_store(&self) -> Option<(Ulid, i64)> {
        match &self.0 {
            Kind::Local { id, version } => Some((*id, *version)),
            Kind::External { .. } | Kind::Process { .. } => None,
        }
    }

    /// Id, where the process was given it.
    pub(super) fn in_process(&self) -> Option<Ulid> {
        match &self.0 {
            Kind::Process { id } => Some(*id),
            Kind::Local { .. } | Kind::External { .. } => None,
        }
    }

    /// Name and fixed version, where another has it.
    #[cfg(any(feature = "aws", feature = "vault"))]
    pub(super) fn elsewhere(&self) -> Option<(&str, Option<u32>)> {
        match &self.0 {
            Kind::Local { .. } | Kind::Process { .. } => None,
            Kind::External { name, version, .. } => Some((name, *version)),
        }
    }

    /// What names the secret whatever its version: provider, a NUL, identifier. For keyed hashes only.
    pub(super) fn identity(&self) -> Vec<u8> {
        let identifier = match &self.0 {
            Kind::Local { id, .. } | Kind::Process { id } => id.to_string(),
            Kind::External { name, .. } => name.clone(),
        };
        [self.provider().as_str().as_bytes(), &[0], identifier.as_bytes()].concat()
    }
}

impl fmt::Debug for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretRef({}, ***)", self.provider().as_str())
    }
}

// What every provider takes literally, in a path too: no empty, no dotted segment.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+' | '@' | '/');
    let segment = |s: &str| !s.is_empty() && !s.chars().all(|c| c == '.');
    name.len() <= LONGEST_NAME && name.chars().all(plain) && name.split('/').all(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_back_and_shows_nothing() {
        for reference in [
            SecretRef::local(Ulid::generate(), 7),
            SecretRef::aws("prod/proxmox").unwrap(),
            SecretRef::vault("prod/proxmox", None).unwrap(),
            SecretRef::vault("prod/proxmox", Some(3)).unwrap(),
        ] {
            assert_eq!(SecretRef::read(&reference.stored()), Some(reference.clone()));
            let shown = format!("{reference:?}");
            assert!(shown.contains("***") && !shown.contains("proxmox"), "{shown}");
        }
    }

    #[test]
    fn what_is_no_reference_is_none_rather_than_another() {
        let id = Ulid::generate();
        for text in [
            "",
            "null",
            "{}",
            r#"{"provider":"local"}"#,
            r#"{"provider":"nobody","name":"a"}"#,
            r#"{"provider":"aws","name":"a","version":1}"#,
            r#"{"provider":"aws","name":"../other"}"#,
            r#"{"provider":"vault","name":"a","version":0}"#,
            r#"{"provider":"vault","name":"a","version":-1}"#,
            r#"{"provider":"vault","name":"a","more":1}"#,
            &format!(r#"{{"provider":"local","id":"{id}","version":0}}"#),
            &format!(
                r#"{{"provider":"local","id":"{}","version":1}}"#,
                id.to_string().to_lowercase()
            ),
            &format!(r#"{{"provider":"local","id":"{id}","name":"a","version":1}}"#),
        ] {
            assert_eq!(SecretRef::read(text), None, "{text}");
        }
    }

    #[test]
    fn names_stay_below_the_folder_of_their_tenant() {
        for good in [
            "a",
            "prod/proxmox",
            "A-1_b.c",
            "x@y=z+1",
            ".hidden",
            &"a".repeat(256),
        ] {
            assert!(SecretRef::aws(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "a/./b",
            "...",
            "a b",
            "a?b",
            "a#b",
            "a%2fb",
            "ä",
            "a\\b",
            "a:b",
            "a\n",
            &"a".repeat(257),
        ] {
            assert!(SecretRef::aws(bad).is_none(), "{bad:?}");
            assert!(SecretRef::vault(bad, None).is_none(), "{bad:?}");
        }
    }
}
