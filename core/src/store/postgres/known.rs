//! What is remembered of statements: whether they name their tenant. The key is the address of the text, which is
//! static.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use crate::store::scope::names_its_tenant;

/// What is remembered of statements, for all connections.
#[derive(Debug, Default)]
pub(super) struct Known {
    named: RwLock<HashMap<(usize, usize), bool>>,
    /// What every statement becomes, in the test that takes its predicate away.
    #[cfg(test)]
    stripped: Option<RwLock<HashMap<&'static str, &'static str>>>,
}

impl Known {
    /// Whether this statement names its tenant.
    pub(super) fn names_its_tenant(&self, sql: &'static str) -> bool {
        let key = (sql.as_ptr() as usize, sql.len());
        // No code that could panic runs under this lock.
        let found = self
            .named
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .copied();
        found.unwrap_or_else(|| {
            let named = names_its_tenant(sql);
            self.named
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key, named);
            named
        })
    }
}

#[cfg(not(test))]
impl Known {
    /// The statement as the server gets it.
    #[allow(clippy::unused_self, reason = "tests answer otherwise")]
    pub(super) fn text(&self, sql: &'static str) -> &'static str {
        sql
    }

    /// Never: every statement is held to its tenant.
    #[allow(clippy::unused_self, reason = "tests answer otherwise")]
    pub(super) fn strips(&self) -> bool {
        false
    }
}

#[cfg(test)]
impl Known {
    /// Takes the predicate of the tenant away from every statement, as if all had been forgotten.
    pub(super) fn stripping() -> Self {
        Self {
            stripped: Some(RwLock::default()),
            ..Self::default()
        }
    }

    pub(super) fn text(&self, sql: &'static str) -> &'static str {
        let Some(stripped) = &self.stripped else {
            return sql;
        };
        if let Some(found) = stripped.read().unwrap().get(sql) {
            return found;
        }
        // As many texts as there are statements.
        let text: &'static str = Box::leak(without_tenant(sql).into_boxed_str());
        stripped.write().unwrap().insert(sql, text);
        text
    }

    pub(super) fn strips(&self) -> bool {
        self.stripped.is_some()
    }
}

/// The statement with `tenant_id = $1` put out of force; `$1` stays bound.
#[cfg(test)]
pub(super) fn without_tenant(sql: &str) -> String {
    const PREDICATE: &str = "tenant_id = $1";
    let (mut out, mut rest) = (String::with_capacity(sql.len()), sql);
    while let Some(at) = rest.find(PREDICATE) {
        let (before, after) = (&rest[..at], &rest[at + PREDICATE.len()..]);
        if after.starts_with(|next: char| next.is_ascii_digit()) {
            out.push_str(&rest[..at + PREDICATE.len()]);
        } else {
            let whose = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
            out.push_str(before.trim_end_matches(whose));
            out.push_str("$1::text is not null");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
