//! Finished minutes of refusal counters: taken out and told by a row each, in one transaction.

use toolgate_contract::ids::EventId;

use super::{
    Bulk, TRIES,
    plan::{Plan, count_keys},
    tenant_of,
    verdicts::Verdicts,
};
use crate::{
    journal::{
        Receipt,
        batch::Done,
        refusals::{Count, event_of},
        waiting::Work,
    },
    store::{StoreError, postgres::PostgresTx},
};

impl<'a> Bulk<'a> {
    /// Turns finished minutes of one tenant's counters into rows, in one transaction: a count outlives its refused row.
    pub(super) async fn roll(&mut self, tx: &mut PostgresTx, ops: &[usize]) -> Result<(), StoreError> {
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
            self.know(&mut plan, &minute.tenant);
            self.seal(&mut plan, *index, &minute.tenant, &event_of(minute, &count));
        }
        if plan.rows.is_empty() {
            return Ok(Some(plan));
        }
        let remarks = tx.journal(&plan.entries(&self.room.instance)?).await?;
        let verdicts = Verdicts::of(remarks, &plan.rows, &mut self.standing);
        self.note_unsound(&plan, &verdicts);
        Ok(verdicts.skipped.is_empty().then_some(plan))
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
}
