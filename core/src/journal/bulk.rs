//! Writing one batch where the store takes it whole: everything in one call, and what did not go is told.
//!
//! The twin of `batch`, which goes op by op. A tenant whose head somebody else moved, or of whose events one stands
//! already, is tried again with what was learnt; all others are durable after the first call. A call that the store
//! refuses for one row's sake is cut: by tenant, then by op, so that the row that cannot stand is alone.

mod plan;
mod rolls;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use toolgate_contract::ids::TenantId;

use self::{plan::Plan, verdicts::Verdicts};
use super::{
    JournalError, Receipt, Room,
    append::{AppendError, Heads},
    batch::Done,
    waiting::{Batch, Op, Work},
};
use crate::{
    audit::{Event, Head, encode},
    store::{
        StoreError,
        postgres::{PostgresTx, journal::Remark},
    },
};

/// How often an op is tried whose tenant's head somebody else keeps moving.
const TRIES: usize = 4;

impl Room {
    /// Writes a batch and says what became of each op, in order.
    pub(super) async fn write_at_once(
        &self,
        tx: &mut PostgresTx,
        batch: &Batch,
    ) -> Result<Vec<Done>, AppendError> {
        let mut bulk = Bulk::new(self, batch);
        let ended = bulk.carry_out(tx).await;
        if ended.is_err() {
            tx.rollback().await;
            bulk.forget_heads();
        }
        let Bulk { heads, done, .. } = bulk;
        self.keep_heads(heads);
        ended?;
        let lost = || {
            tracing::error!("the head of a record was moved by somebody else, again and again");
            Done::Refused(JournalError::Unavailable)
        };
        Ok(done.into_iter().map(|done| done.unwrap_or_else(lost)).collect())
    }

    /// Appends one event within somebody else's transaction, as its last statements.
    pub(super) async fn append_alone_at_once(
        &self,
        tx: &mut PostgresTx,
        tenant: &TenantId,
        event: &Event,
    ) -> Result<Receipt, JournalError> {
        let genesis = Head::genesis(tenant);
        let end = tx.hold_head(tenant, &genesis.hash).await?;
        let end = end.ok_or(JournalError::Unavailable)?;
        let (seq, hash) = end.head.ok_or(JournalError::Unavailable)?;
        let head = Head { seq, hash };
        if end.last.unwrap_or((0, genesis.hash)) != (seq, hash) {
            self.distrust(tenant);
        }
        let row = self.sealer.seal(tenant, &head, event);
        let mut plan = Plan::default();
        plan.add_row(0, tenant, head, row);
        match tx.journal(&plan.entries(&self.instance)?).await {
            Ok(remarks) => match remarks.into_iter().next() {
                None => Ok(Receipt::new(head.seq + 1, event.id)),
                Some(Remark::Standing { seq, same: true, .. }) => Ok(Receipt::new(seq, event.id)),
                Some(Remark::Standing { .. }) => Err(JournalError::Conflict),
                Some(_) => Err(JournalError::Unavailable),
            },
            Err(error) if error.is_of_one_row() => {
                tell_refused(tenant, &error);
                Err(JournalError::Unavailable)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A batch on its way into the store.
struct Bulk<'a> {
    room: &'a Room,
    batch: &'a Batch,
    heads: Heads,
    /// What became of each op, in order; nothing while it is open.
    done: Vec<Option<Done>>,
    /// Whether the batch's counts are written.
    counted: bool,
    /// Ops whose event stood on the record already: where, and whether it is the same.
    standing: HashMap<usize, (i64, bool)>,
}

/// What goes into one call: some ops of the batch, and its counts.
#[derive(Debug)]
struct Group {
    ops: Vec<usize>,
    with_counts: bool,
}

impl<'a> Bulk<'a> {
    fn new(room: &'a Room, batch: &'a Batch) -> Self {
        Self {
            room,
            batch,
            heads: std::mem::take(&mut *room.heads()),
            done: batch
                .ops
                .iter()
                .map(|op| match &op.work {
                    _ if op.is_moot() => Some(Done::Moot),
                    Work::Intend(facts) if room.is_distrusted(&facts.tenant) => {
                        Some(Done::Refused(JournalError::Unavailable))
                    }
                    _ => None,
                })
                .collect(),
            counted: batch.counts.is_empty(),
            standing: HashMap::new(),
        }
    }

    async fn carry_out(&mut self, tx: &mut PostgresTx) -> Result<(), StoreError> {
        let open = (0..self.batch.ops.len()).filter(|index| self.done[*index].is_none());
        let (rolls, ops): (Vec<_>, Vec<_>) =
            open.partition(|index| matches!(self.batch.ops[*index].work, Work::Roll(_)));
        let with_counts = true;
        let mut groups = VecDeque::from([Group { ops, with_counts }]);
        while let Some(group) = groups.pop_front() {
            match self.write(tx, &group).await {
                Ok(()) => {}
                Err(error) if error.is_of_one_row() => match self.cut(&group) {
                    Some(parts) => groups.extend(parts),
                    None => self.refuse(&group.ops, error)?,
                },
                Err(error) => return Err(error),
            }
        }
        for rolls in self.by_tenant(&rolls) {
            self.roll(tx, &rolls).await?;
        }
        Ok(())
    }

    /// Writes a group, again while heads are lost.
    async fn write(&mut self, tx: &mut PostgresTx, group: &Group) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            let open: Vec<_> = group
                .ops
                .iter()
                .copied()
                .filter(|index| self.done[*index].is_none())
                .collect();
            let with_counts = group.with_counts && !self.counted;
            if open.is_empty() && !with_counts {
                return Ok(());
            }
            let owners = open
                .iter()
                .filter_map(|index| row_of(&self.batch.ops[*index]).map(|(tenant, _)| tenant));
            self.read_heads(tx, owners).await?;
            let plan = self.plan(&open, with_counts);
            let remarks = tx.journal(&plan.entries(&self.room.instance)?).await?;
            self.counted |= with_counts;
            self.judge(&open, &plan, remarks);
        }
        Ok(())
    }

    /// Reads the heads of these tenants' chains that are not at hand.
    async fn read_heads(
        &mut self,
        tx: &mut PostgresTx,
        tenants: impl Iterator<Item = &'a TenantId>,
    ) -> Result<(), StoreError> {
        let unknown: BTreeSet<_> = tenants
            .filter(|tenant| !self.heads.contains_key(*tenant))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let asked: Vec<_> = unknown.iter().map(|tenant| tenant.as_str()).collect();
        for end in tx.ends_of(&asked).await? {
            let Some(tenant) = unknown.iter().find(|tenant| tenant.as_str() == end.tenant) else {
                continue;
            };
            let head = end
                .head
                .map_or_else(|| Head::genesis(tenant), |(seq, hash)| Head { seq, hash });
            self.heads.insert((*tenant).clone(), head);
        }
        Ok(())
    }

    fn plan(&self, ops: &[usize], with_counts: bool) -> Plan<'a> {
        let mut plan = Plan::default();
        for &index in ops {
            let op = &self.batch.ops[index];
            if let Some((tenant, event)) = row_of(op)
                && !self.standing.contains_key(&index)
            {
                self.know(&mut plan, tenant);
                self.seal(&mut plan, index, tenant, event);
            }
            match &op.work {
                Work::Intend(facts) => {
                    self.know(&mut plan, &facts.tenant);
                    let bytes = encode(&facts.event);
                    plan.intents.push((&facts.tenant, &facts.event, bytes));
                }
                Work::Cancel(facts) => {
                    let bytes = encode(&facts.event);
                    plan.closed.push((&facts.tenant, facts.id(), bytes));
                    plan.ended.push((&facts.tenant, facts.id()));
                }
                Work::Settle(facts, _) | Work::Lapse(facts) | Work::Withdraw(facts) => {
                    plan.ended.push((&facts.tenant, facts.id()));
                }
                Work::Probe => plan.probe = true,
                Work::Record(..) | Work::Roll(_) => {}
            }
        }
        if with_counts {
            plan.counts.extend(&self.batch.counts);
        }
        plan.now_us = self.room.clock.wall_us();
        plan
    }

    /// Has the store hold the chain of this tenant against what is known of it.
    fn know(&self, plan: &mut Plan<'a>, tenant: &'a TenantId) {
        let known = self.heads.get(tenant).copied();
        plan.known.entry(tenant).or_insert(known);
    }

    fn seal(&self, plan: &mut Plan<'a>, op: usize, tenant: &'a TenantId, event: &Event) {
        let head = plan
            .moves
            .get(tenant)
            .map(|(_, now)| *now)
            .or_else(|| self.heads.get(tenant).copied())
            .unwrap_or_else(|| Head::genesis(tenant));
        let row = self.room.sealer.seal(tenant, &head, event);
        plan.add_row(op, tenant, head, row);
    }

    /// Notes what became of each op after a call that committed.
    fn judge(&mut self, ops: &[usize], plan: &Plan<'a>, remarks: Vec<Remark>) {
        let verdicts = Verdicts::of(remarks, &plan.rows, &mut self.standing);
        self.note_heads(plan, &verdicts);
        self.note_unsound(plan, &verdicts);
        let places: HashMap<usize, i64> = plan.rows.iter().map(|(op, _, row)| (*op, row.seq)).collect();
        for &index in ops {
            let op = &self.batch.ops[index];
            let Some(tenant) = tenant_of(op) else {
                self.done[index] = Some(Done::Written);
                continue;
            };
            if verdicts.skipped.contains(tenant.as_str()) {
                continue;
            }
            self.done[index] = match (&op.work, row_of(op)) {
                (Work::Intend(facts), _) => Some(verdicts.of_intent(tenant, facts.id())),
                (_, None) => Some(Done::Written),
                (_, Some((_, event))) => match (places.get(&index), self.standing.get(&index)) {
                    (Some(seq), _) | (None, Some((seq, true))) => {
                        Some(Done::Row(Receipt::new(*seq, event.id)))
                    }
                    (None, Some((_, false))) => Some(Done::Refused(JournalError::Conflict)),
                    (None, None) => None,
                },
            };
        }
    }

    fn note_unsound(&self, plan: &Plan<'a>, verdicts: &Verdicts) {
        let unsound = |tenant: &&TenantId| verdicts.unsound.contains(tenant.as_str());
        for tenant in plan.known.keys().copied().filter(|tenant| unsound(tenant)) {
            self.room.distrust(tenant);
        }
    }

    fn note_heads(&mut self, plan: &Plan<'a>, verdicts: &Verdicts) {
        for (tenant, (_, now)) in &plan.moves {
            if verdicts.skipped.contains(tenant.as_str()) {
                self.heads.remove(*tenant);
            } else {
                self.heads.insert((*tenant).clone(), *now);
            }
        }
    }

    /// Smaller groups in which the row that cannot stand harms fewer others; nothing for a single op.
    fn cut(&self, group: &Group) -> Option<Vec<Group>> {
        let mut parts = self.by_tenant(&group.ops);
        if parts.len() == 1 {
            parts = group.ops.iter().map(|op| vec![*op]).collect();
        }
        if parts.len() + usize::from(group.with_counts && !self.counted) < 2 {
            return None;
        }
        let counts = Group {
            ops: Vec::new(),
            with_counts: true,
        };
        let ops = parts.into_iter().map(|ops| Group {
            ops,
            with_counts: false,
        });
        Some(std::iter::once(counts).chain(ops).collect())
    }

    fn by_tenant(&self, ops: &[usize]) -> Vec<Vec<usize>> {
        let mut parts: BTreeMap<Option<&TenantId>, Vec<usize>> = BTreeMap::new();
        for &index in ops {
            let tenant = tenant_of(&self.batch.ops[index]);
            parts.entry(tenant).or_default().push(index);
        }
        parts.into_values().collect()
    }

    /// Refuses what the store refuses for its own sake. Counts can only fail with their whole batch.
    fn refuse(&mut self, ops: &[usize], error: StoreError) -> Result<(), StoreError> {
        if ops.is_empty() {
            return Err(error);
        }
        for &index in ops {
            let op = &self.batch.ops[index];
            if let Some(tenant) = tenant_of(op) {
                self.heads.remove(tenant);
                tell_refused(tenant, &error);
            }
            self.done[index] = Some(Done::Refused(JournalError::Unavailable));
        }
        Ok(())
    }

    /// After a failure: which heads moved is not known.
    fn forget_heads(&mut self) {
        for tenant in self.batch.ops.iter().filter_map(tenant_of) {
            self.heads.remove(tenant);
        }
    }
}

/// The row that an op appends; rolls find theirs in the store.
fn row_of(op: &Op) -> Option<(&TenantId, &Event)> {
    match &op.work {
        Work::Settle(facts, event) => Some((&facts.tenant, event)),
        Work::Record(tenant, event) => Some((tenant, event)),
        Work::Lapse(facts) => Some((&facts.tenant, &facts.event)),
        Work::Intend(_) | Work::Cancel(_) | Work::Withdraw(_) | Work::Roll(_) | Work::Probe => None,
    }
}

pub(super) fn tenant_of(op: &Op) -> Option<&TenantId> {
    match &op.work {
        Work::Intend(facts)
        | Work::Settle(facts, _)
        | Work::Cancel(facts)
        | Work::Withdraw(facts)
        | Work::Lapse(facts) => Some(&facts.tenant),
        Work::Record(tenant, _) => Some(tenant),
        Work::Roll(minute) => Some(&minute.tenant),
        Work::Probe => None,
    }
}

fn tell_refused(tenant: &TenantId, error: &StoreError) {
    if *error == StoreError::Duplicate {
        tracing::error!(%tenant, "the head of the record is behind its rows; run `toolgate audit verify`");
    } else {
        tracing::error!(%tenant, %error, "a row was refused by the store");
    }
}
