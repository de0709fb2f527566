//! What is remembered of statements: whether they name their tenant. The key is the address of the text, which is
//! static.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use crate::store::scope::names_its_tenant;

/// What is remembered of statements, for all connections.
#[derive(Debug, Default)]
pub(super) struct Known(RwLock<HashMap<(usize, usize), bool>>);

impl Known {
    /// Whether this statement names its tenant.
    pub(super) fn names_its_tenant(&self, sql: &'static str) -> bool {
        let key = (sql.as_ptr() as usize, sql.len());
        // No code that could panic runs under this lock.
        let found = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .copied();
        found.unwrap_or_else(|| {
            let named = names_its_tenant(sql);
            self.0
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key, named);
            named
        })
    }
}
