//! What a call said did not go.

use std::collections::{HashMap, HashSet};

use toolgate_contract::ids::{EventId, TenantId};

use crate::{
    audit::SealedRow,
    journal::{JournalError, batch::Done},
    store::postgres::journal::Remark,
};

/// What a call said did not go.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    /// Tenants of whom nothing was written.
    pub(super) skipped: HashSet<String>,
    pub(super) unsound: HashSet<String>,
    pub(super) duplicates: HashSet<String>,
}

impl Verdicts {
    pub(super) fn of(
        remarks: Vec<Remark>,
        rows: &[(usize, &TenantId, SealedRow)],
        standing: &mut HashMap<usize, (i64, bool)>,
    ) -> Self {
        let mut verdicts = Self::default();
        for remark in remarks {
            match remark {
                Remark::Lost(tenant) => {
                    verdicts.skipped.insert(tenant);
                }
                Remark::Standing {
                    tenant,
                    row,
                    seq,
                    same,
                } => {
                    if let Some((op, ..)) = rows.get(row) {
                        standing.insert(*op, (seq, same));
                    }
                    verdicts.skipped.insert(tenant);
                }
                Remark::Unsound(tenant) => {
                    verdicts.unsound.insert(tenant);
                }
                Remark::Duplicate { event, .. } => {
                    verdicts.duplicates.insert(event);
                }
            }
        }
        verdicts
    }

    pub(super) fn of_intent(&self, tenant: &TenantId, id: EventId) -> Done {
        if self.unsound.contains(tenant.as_str()) {
            // A call whose row could not follow must not make contact.
            return Done::Refused(JournalError::Unavailable);
        }
        if !self.duplicates.is_empty() && self.duplicates.contains(&id.to_string()) {
            return Done::Refused(JournalError::Conflict);
        }
        Done::Written
    }
}
