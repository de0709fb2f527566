//! The schema's history: numbered, applied once each, in order, and remembered with a checksum.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};

use super::StoreError;

/// One step of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    pub(super) version: i64,
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

/// The steps of the embedded store.
pub(super) const SQLITE: &[Migration] = &[
    Migration {
        version: 1,
        name: "record",
        sql: include_str!("../../migrations/sqlite/0001_record.sql"),
    },
    Migration {
        version: 2,
        name: "secret",
        sql: include_str!("../../migrations/sqlite/0002_secret.sql"),
    },
    Migration {
        version: 3,
        name: "profile",
        sql: include_str!("../../migrations/sqlite/0003_profile.sql"),
    },
    Migration {
        version: 4,
        name: "fleet",
        sql: include_str!("../../migrations/sqlite/0004_fleet.sql"),
    },
    Migration {
        version: 5,
        name: "session",
        sql: include_str!("../../migrations/sqlite/0005_session.sql"),
    },
    Migration {
        version: 6,
        name: "token_use",
        sql: include_str!("../../migrations/sqlite/0006_token_use.sql"),
    },
];

/// The steps on PostgreSQL, under the same numbers.
pub(super) const POSTGRES: &[Migration] = &[
    Migration {
        version: 1,
        name: "record",
        sql: include_str!("../../migrations/postgres/0001_record.sql"),
    },
    Migration {
        version: 2,
        name: "secret",
        sql: include_str!("../../migrations/postgres/0002_secret.sql"),
    },
    Migration {
        version: 3,
        name: "profile",
        sql: include_str!("../../migrations/postgres/0003_profile.sql"),
    },
    Migration {
        version: 4,
        name: "fleet",
        sql: include_str!("../../migrations/postgres/0004_fleet.sql"),
    },
    Migration {
        version: 5,
        name: "session",
        sql: include_str!("../../migrations/postgres/0005_session.sql"),
    },
    Migration {
        version: 6,
        name: "token_use",
        sql: include_str!("../../migrations/postgres/0006_token_use.sql"),
    },
];

impl Migration {
    /// SHA-256 of its text, in hexadecimal.
    pub(super) fn checksum(&self) -> String {
        let sum = digest(&SHA256, self.sql.as_bytes());
        sum.as_ref()
            .iter()
            .fold(String::with_capacity(64), |mut text, byte| {
                // Writing to a String cannot fail.
                let _ = write!(text, "{byte:02x}");
                text
            })
    }
}

/// What is still to be applied, given the (version, checksum) pairs that were.
pub(super) fn pending<'m>(
    known: &'m [Migration],
    applied: &[(i64, String)],
) -> Result<Vec<&'m Migration>, StoreError> {
    let newest = known.iter().map(|migration| migration.version).max().unwrap_or(0);
    for (version, checksum) in applied {
        match known.iter().find(|migration| migration.version == *version) {
            None => {
                return Err(StoreError::Newer {
                    found: *version,
                    known: newest,
                });
            }
            Some(migration) if migration.checksum() != *checksum => {
                return Err(StoreError::Altered(*version));
            }
            Some(_) => {}
        }
    }
    let done = |migration: &&Migration| applied.iter().any(|(version, _)| *version == migration.version);
    Ok(known.iter().filter(|migration| !done(migration)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Migration = Migration {
        version: 1,
        name: "one",
        sql: "create table a (x bigint)",
    };
    const TWO: Migration = Migration {
        version: 2,
        name: "two",
        sql: "create table b (x bigint)",
    };

    fn versions(known: &[Migration], applied: &[(i64, String)]) -> Result<Vec<i64>, StoreError> {
        pending(known, applied).map(|steps| steps.iter().map(|step| step.version).collect())
    }

    #[test]
    fn only_what_was_not_applied_is_pending() {
        assert_eq!(versions(&[ONE, TWO], &[]), Ok(vec![1, 2]));
        assert_eq!(versions(&[ONE, TWO], &[(1, ONE.checksum())]), Ok(vec![2]));
        assert_eq!(versions(&[ONE], &[(1, ONE.checksum())]), Ok(vec![]));
    }

    #[test]
    fn an_unknown_version_and_a_changed_text_are_refused() {
        assert_eq!(
            versions(&[ONE], &[(9, String::new())]),
            Err(StoreError::Newer { found: 9, known: 1 })
        );
        assert_eq!(
            versions(&[ONE], &[(1, TWO.checksum())]),
            Err(StoreError::Altered(1))
        );
    }

    #[test]
    fn versions_grow_by_one_and_both_back_ends_have_the_same() {
        let steps = |known: &[Migration]| -> Vec<(i64, &str)> {
            known.iter().map(|step| (step.version, step.name)).collect()
        };
        let found = steps(SQLITE);
        let numbers: Vec<i64> = found.iter().map(|(version, _)| *version).collect();
        assert_eq!(
            numbers,
            (1..=i64::try_from(SQLITE.len()).unwrap()).collect::<Vec<_>>()
        );
        assert_eq!(found, steps(POSTGRES));
    }
}
