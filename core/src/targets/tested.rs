//! What the last test of each target found.
//!
//! In memory, one entry a target and bounded in all: it tells an admin how a target did, and decides nothing. The verdict
//! on a credential is kept by the store; a restart loses the rest.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolgate_contract::{ids::TargetId, v1::Stage};

use super::{Target, Targets};

/// Entries of all tenants; the oldest makes room.
const MOST: usize = 10_000;

/// What a test found.
#[derive(Debug, Clone, PartialEq)]
pub struct LastTest {
    /// When it ended, microseconds UTC.
    pub at_us: i64,
    /// Every stage passed.
    pub ok: bool,
    /// The stages in the order they ran.
    pub stages: Vec<Stage>,
}

/// The last tests, by target. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Tested(Arc<Mutex<HashMap<TargetId, LastTest>>>);

impl Targets {
    /// Remembers what a test of a target found that was just made.
    pub fn tested(&self, target: TargetId, ok: bool, stages: Vec<Stage>) {
        let at_us = self.dialling.clock.wall_us();
        self.tested.note(target, LastTest { at_us, ok, stages });
    }

    /// What the last test of a target found; `None` where there was none since the gateway started.
    #[must_use]
    pub fn last_test(&self, target: &Target) -> Option<LastTest> {
        self.tested.tests().get(&target.id).cloned()
    }
}

impl Tested {
    pub(super) fn forget(&self, target: TargetId) {
        self.tests().remove(&target);
    }

    fn note(&self, target: TargetId, test: LastTest) {
        let mut tests = self.tests();
        if tests.len() >= MOST && !tests.contains_key(&target) {
            let oldest = tests.iter().min_by_key(|(_, test)| test.at_us);
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                tests.remove(&oldest);
            }
        }
        tests.insert(target, test);
    }

    fn tests(&self) -> MutexGuard<'_, HashMap<TargetId, LastTest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tested({} targets)", self.tests().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_tests_are_remembered_and_no_more_than_so_many() {
        let tested = Tested::default();
        let note = |at_us| {
            let target = TargetId::mint();
            let (ok, stages) = (true, vec![]);
            tested.note(target, LastTest { at_us, ok, stages });
            target
        };
        let first = note(0);
        let second = note(1);
        let most = i64::try_from(MOST).unwrap();
        for at_us in 2..=most {
            note(at_us);
        }
        assert_eq!(tested.tests().len(), MOST);
        assert!(!tested.tests().contains_key(&first) && tested.tests().contains_key(&second));
        tested.forget(second);
        assert!(!tested.tests().contains_key(&second));
    }
}
