//! Writing one batch where the store takes it whole: everything in one call, and what did not go is told.
//!
//! The twin of `batch`, which goes op by op. A tenant whose head somebody else moved, or of whose events one stands
//! already, is tried again with what was learnt; all others are durable after the first call. A call that the store
//! refuses for one row's sake is cut: by tenant, then by op, so that the row that cannot stand is alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use toolgate_contract::ids::{EventId, TenantId};

use super::{
    JournalError, Receipt, Room,
    append::{AppendError, Heads},
    batch::Done,
    refusals::{Count, Minute, event_of},
    waiting::{Batch, Op, Work},
};
use crate::{
    audit::{Event, Head, SealedRow, encode},
    store::{
        StoreError,
        postgres::{
            PostgresTx,
            journal::{CountKeys, Entries, Remark, Rows},
        },
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
        let head = end.and_then(|end| end.head).ok_or(JournalError::Unavailable)?;
        let head = Head {
            seq: head.0,
            hash: head.1,
        };
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
                .map(|op| op.is_moot().then_some(Done::Moot))
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
            if end.head != end.last {
                // An alarm, but not the end: rows that follow are evidence, and the verifier finds the break.
                tracing::error!(%tenant, "the head of the record does not fit its last row; run `toolgate audit verify`");
            }
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
                self.seal(&mut plan, index, tenant, event);
            }
            match &op.work {
                Work::Intend(facts) => {
                    let known = self.heads.get(&facts.tenant).copied();
                    plan.known.entry(&facts.tenant).or_insert(known);
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

    /// Turns finished minutes of one tenant's counters into rows, in one transaction: a count outlives its refused row.
    async fn roll(&mut self, tx: &mut PostgresTx, ops: &[usize]) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            tx.begin().await?;
            match self.try_to_roll(tx, ops).await {
                Ok(Some(plan)) => {
                    tx.commit().await?;
                    self.judge_rolls(ops, &plan);
                    return Ok(());
                }
                Ok(None) => tx.rollback().await,
                Err(error) if error.is_of_one_row() => {
                    tx.rollback().await;
                    return self.refuse(ops, error);
                }
                Err(error) => return Err(error),
            }
            for tenant in ops.iter().filter_map(|index| tenant_of(&self.batch.ops[*index])) {
                self.heads.remove(tenant);
            }
        }
        Ok(())
    }

    /// Nothing where the head was lost.
    async fn try_to_roll(
        &mut self,
        tx: &mut PostgresTx,
        ops: &[usize],
    ) -> Result<Option<Plan<'a>>, StoreError> {
        let minutes: Vec<_> = ops
            .iter()
            .filter_map(|&index| match &self.batch.ops[index].work {
                Work::Roll(minute) => Some((index, minute)),
                _ => None,
            })
            .collect();
        self.read_heads(tx, minutes.iter().map(|(_, minute)| &minute.tenant))
            .await?;
        let keys = count_keys(minutes.iter().map(|(_, minute)| *minute));
        let mut plan = Plan::default();
        for taken in tx.take_counts(&keys).await? {
            let Some((index, minute)) = minutes.get(taken.place) else {
                return Err(StoreError::Column(0));
            };
            let count = Count {
                role: taken.role,
                facade: taken.facade,
                capability: taken.capability,
                count: taken.count,
            };
            self.seal(&mut plan, *index, &minute.tenant, &event_of(minute, &count));
        }
        if plan.rows.is_empty() {
            return Ok(Some(plan));
        }
        let remarks = tx.journal(&plan.entries(&self.room.instance)?).await?;
        Ok(remarks.is_empty().then_some(plan))
    }

    fn judge_rolls(&mut self, ops: &[usize], plan: &Plan<'a>) {
        self.note_heads(plan, &Verdicts::default());
        for &index in ops {
            self.done[index] = Some(Done::Moot);
        }
        for (index, _, row) in &plan.rows {
            // The id is in the bytes; nobody waits for a roll's receipt.
            self.done[*index] = Some(Done::Row(Receipt::new(row.seq, EventId::mint())));
        }
    }

    /// After a failure: which heads moved is not known.
    fn forget_heads(&mut self) {
        for tenant in self.batch.ops.iter().filter_map(tenant_of) {
            self.heads.remove(tenant);
        }
    }
}

/// What one call is to write.
#[derive(Debug, Default)]
struct Plan<'a> {
    rows: Vec<(usize, &'a TenantId, SealedRow)>,
    moves: BTreeMap<&'a TenantId, (Head, Head)>,
    known: BTreeMap<&'a TenantId, Option<Head>>,
    intents: Vec<(&'a TenantId, &'a Event, Vec<u8>)>,
    ended: Vec<(&'a TenantId, EventId)>,
    closed: Vec<(&'a TenantId, EventId, Vec<u8>)>,
    counts: Vec<(&'a Minute, &'a Count)>,
    probe: bool,
    now_us: i64,
}

impl<'a> Plan<'a> {
    fn add_row(&mut self, op: usize, tenant: &'a TenantId, after: Head, row: SealedRow) {
        let now = row.head();
        self.moves
            .entry(tenant)
            .and_modify(|(_, head)| *head = now)
            .or_insert((after, now));
        self.rows.push((op, tenant, row));
    }

    fn entries<'p>(&'p self, instance: &'p str) -> Result<Entries<'p>, StoreError> {
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

fn count_keys<'p>(minutes: impl Iterator<Item = &'p Minute>) -> CountKeys<'p> {
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

/// What a call said did not go.
#[derive(Debug, Default)]
struct Verdicts {
    /// Tenants of whom nothing was written.
    skipped: HashSet<String>,
    unsound: HashSet<String>,
    duplicates: HashSet<String>,
}

impl Verdicts {
    fn of(
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
                    tracing::error!(%tenant, "the head of the record does not fit its last row, so no call can be carried; run `toolgate audit verify`");
                    verdicts.unsound.insert(tenant);
                }
                Remark::Duplicate { event, .. } => {
                    verdicts.duplicates.insert(event);
                }
            }
        }
        verdicts
    }

    fn of_intent(&self, tenant: &TenantId, id: EventId) -> Done {
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
