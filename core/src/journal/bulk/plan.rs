//! What one call is to write, and how it is spelt as columns.

use std::collections::BTreeMap;

use toolgate_contract::ids::{EventId, TenantId};

use crate::{
    audit::{Event, Head, SealedRow},
    journal::refusals::{Count, Minute},
    store::{
        StoreError,
        postgres::journal::{CountKeys, Entries, Rows},
    },
};

/// What one call is to write.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    pub(super) rows: Vec<(usize, &'a TenantId, SealedRow)>,
    pub(super) moves: BTreeMap<&'a TenantId, (Head, Head)>,
    pub(super) known: BTreeMap<&'a TenantId, Option<Head>>,
    pub(super) intents: Vec<(&'a TenantId, &'a Event, Vec<u8>)>,
    pub(super) ended: Vec<(&'a TenantId, EventId)>,
    pub(super) closed: Vec<(&'a TenantId, EventId, Vec<u8>)>,
    pub(super) counts: Vec<(&'a Minute, &'a Count)>,
    pub(super) probe: bool,
    pub(super) now_us: i64,
}

impl<'a> Plan<'a> {
    pub(super) fn add_row(&mut self, op: usize, tenant: &'a TenantId, after: Head, row: SealedRow) {
        let now = row.head();
        self.moves
            .entry(tenant)
            .and_modify(|(_, head)| *head = now)
            .or_insert((after, now));
        self.rows.push((op, tenant, row));
    }

    pub(super) fn entries<'p>(&'p self, instance: &'p str) -> Result<Entries<'p>, StoreError> {
        let mut entries = Entries::default();
        for (tenant, (was, now)) in &self.moves {
            entries.moves.tenant.push(tenant.as_str());
            entries.moves.was_seq.push(was.seq);
            entries.moves.was_hash.push(&was.hash);
            entries.moves.now_seq.push(now.seq);
            entries.moves.now_hash.push(&now.hash);
        }
        for (_, tenant, row) in &self.rows {
            add_row(&mut entries.rows, tenant, row)?;
        }
        for (tenant, known) in &self.known {
            entries.known.tenant.push(tenant.as_str());
            entries.known.seq.push(known.map_or(0, |head| head.seq));
            entries
                .known
                .hash
                .push(known.as_ref().map_or(&[], |head| head.hash.as_slice()));
        }
        entries.intents.instance = instance;
        for (tenant, event, facts) in &self.intents {
            entries.intents.tenant.push(tenant.as_str());
            entries.intents.event.push(event.id.to_string());
            entries.intents.time.push(event.time_us);
            entries.intents.facts.push(facts);
        }
        for (tenant, event) in &self.ended {
            entries.ended.tenant.push(tenant.as_str());
            entries.ended.event.push(event.to_string());
        }
        entries.closed.at_us = self.now_us;
        for (tenant, event, facts) in &self.closed {
            entries.closed.tenant.push(tenant.as_str());
            entries.closed.event.push(event.to_string());
            entries.closed.facts.push(facts);
        }
        entries.counts.key = count_keys(self.counts.iter().map(|(minute, _)| *minute));
        for (_, count) in &self.counts {
            entries.counts.role.push(&count.role);
            entries.counts.facade.push(&count.facade);
            entries.counts.capability.push(&count.capability);
            entries.counts.many.push(count.count);
        }
        entries.probe_us = self.probe.then_some(self.now_us);
        Ok(entries)
    }
}

fn add_row<'p>(rows: &mut Rows<'p>, tenant: &'p TenantId, row: &'p SealedRow) -> Result<(), StoreError> {
    // Never fails for a row that was just sealed.
    let columns = row.columns().map_err(|_| StoreError::Column(4))?;
    rows.tenant.push(tenant.as_str());
    rows.seq.push(row.seq);
    rows.event.push(columns.event_id);
    rows.prev.push(&row.prev);
    rows.bytes.push(&row.bytes);
    rows.hash.push(&row.hash);
    rows.mac.push(&row.mac);
    rows.algorithm.push(row.algorithm);
    rows.key.push(&row.key_id);
    rows.time.push(columns.time_us);
    rows.kind.push(columns.kind);
    rows.principal.push(columns.principal);
    rows.capability.push(columns.capability);
    rows.target.push(columns.target_id);
    rows.result.push(columns.result);
    rows.correlation.push(columns.correlation_id);
    Ok(())
}

pub(super) fn count_keys<'p>(minutes: impl Iterator<Item = &'p Minute>) -> CountKeys<'p> {
    let mut keys = CountKeys::default();
    for minute in minutes {
        keys.tenant.push(minute.tenant.as_str());
        keys.minute.push(minute.minute_us);
        keys.kind.push(minute.kind.as_str());
        keys.principal.push(&minute.principal);
        keys.reason.push(&minute.reason);
    }
    keys
}
