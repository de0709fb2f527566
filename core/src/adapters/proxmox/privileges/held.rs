//! What a token may do on which path, as the server works it out. That a privilege is named is what counts; its value
//! says only whether it goes on to what lies below.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::auditor::Auditor;
use crate::adapters::{proxmox::row, said::shown};

const ROOT: &str = "/";
/// What is told of a surplus in one text.
const MOST_TOLD: usize = 10;
/// What is told of it at all.
const MOST: usize = 100;

/// Privileges by path, and whether they go on.
#[derive(Debug)]
pub(super) struct Held(BTreeMap<String, BTreeMap<String, bool>>);

impl Held {
    /// `None` for what is no map of maps: nothing is held to be harmless that cannot be read.
    pub(super) fn read(permissions: &Value) -> Option<Self> {
        let paths = permissions.as_object()?.iter();
        let held = paths.map(|(path, privileges)| {
            let privileges = privileges.as_object()?.iter();
            let goes_on = |value: &Value| row::as_flag(value).unwrap_or(false);
            let privileges = privileges.map(|(name, value)| (name.clone(), goes_on(value)));
            Some((path.clone(), privileges.collect()))
        });
        held.collect::<Option<_>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.values().all(BTreeMap::is_empty)
    }

    /// What is held beyond the role: `VM.PowerMgmt on /vms/100`. What holds above a path is not said of it again.
    pub(super) fn beyond(&self, auditor: &Auditor) -> Vec<String> {
        let is_above = |path: &str, other: &str| {
            other != path
                && (other == ROOT || path.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
        };
        let said_above = |path: &str, name: &str| {
            let mut above = self.0.iter().filter(|(other, _)| is_above(path, other));
            above.any(|(_, held)| held.contains_key(name))
        };
        let all = self
            .0
            .iter()
            .flat_map(|(path, held)| held.keys().map(move |name| (path, name)));
        let beyond = all.filter(|(path, name)| !auditor.holds(name) && !said_above(path, name));
        beyond
            .take(MOST)
            .map(|(path, name)| format!("{} on {}", shown(name), shown(path)))
            .collect()
    }

    /// What is not held everywhere though the role holds it.
    pub(super) fn lack(&self, auditor: &Auditor) -> Vec<String> {
        let held = self.0.get(ROOT);
        let lacking = auditor.all().filter_map(|name| {
            let goes_on = held.and_then(|held| held.get(name));
            match goes_on {
                Some(true) => None,
                Some(false) => Some(format!("{} below / (propagate is off)", shown(name))),
                None => Some(format!("{} on /", shown(name))),
            }
        });
        lacking.collect()
    }

    /// What the role holds and the token holds everywhere.
    pub(super) fn proven(&self, auditor: &Auditor) -> Vec<String> {
        let empty = BTreeMap::new();
        let held = self.0.get(ROOT).unwrap_or(&empty);
        let names: BTreeSet<&String> = auditor
            .all()
            .filter(|name| held.get(*name) == Some(&true))
            .collect();
        names.into_iter().map(|name| shown(name)).collect()
    }
}

/// A surplus in one text.
pub(super) fn told(surplus: &[String]) -> String {
    let beyond = surplus.len().saturating_sub(MOST_TOLD);
    let mut told = surplus[..surplus.len() - beyond].join(", ");
    if beyond > 0 {
        told.push_str(&format!(" and {beyond} more"));
    }
    told
}
