//! The figures of one tenant: a row of cells for each tool, and one for refusals. A cell is there only where something
//! happened.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use toolgate_contract::v1::ErrorReason;

use super::{MOST_CELLS, STEP, times::Times};

/// Length of a step in microseconds.
pub(super) const STEP_US: i64 = STEP.as_micros() as i64;

/// Tools of a tenant that are told apart.
const MOST_TOOLS: usize = 64;
/// The name under which all further ones are counted.
pub const OTHER: &str = "other";

/// What is counted of one tenant.
#[derive(Debug)]
pub(super) struct OfTenant {
    /// Before, nobody counted, or it was forgotten.
    since_us: i64,
    tools: HashMap<Box<str>, VecDeque<Cell<OfTool>>>,
    refusals: VecDeque<Cell<Refusals>>,
    /// Of all tenants.
    cells: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Cell<T> {
    step: i64,
    what: T,
}

#[derive(Debug, Default)]
struct OfTool {
    calls: u32,
    failed: u32,
    times: Times,
}

/// By reason, of which there are few.
type Refusals = Vec<(ErrorReason, u32)>;

/// What was counted of a tenant. Lists have one entry a step, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// Since when it was counted, microseconds UTC.
    pub since_us: i64,
    /// When the first step began, microseconds UTC.
    pub start_us: i64,
    /// By tool, the most called first.
    pub tools: Vec<OverviewOfTool>,
    /// Calls of all tools.
    pub calls: Vec<i64>,
    /// Those that did not succeed.
    pub failed: Vec<i64>,
    /// Requests that were not carried out.
    pub refused: Vec<i64>,
    /// Why, over all steps, the most frequent first.
    pub refusals: Vec<(ErrorReason, i64)>,
}

/// One tool in the figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewOfTool {
    /// Its name, or [`OTHER`].
    pub name: String,
    /// Calls.
    pub calls: Vec<i64>,
    /// The time that 95 of 100 calls stayed within; `None` where there was none.
    pub p95: Vec<Option<Duration>>,
}

impl OfTenant {
    pub(super) fn new(since_us: i64, cells: Arc<AtomicUsize>) -> Self {
        Self {
            since_us,
            tools: HashMap::new(),
            refusals: VecDeque::new(),
            cells,
        }
    }

    pub(super) fn settled(&mut self, step: i64, tool: &str, failed: bool, took: Duration) {
        let name = match self.tools.contains_key(tool) || self.tools.len() < MOST_TOOLS {
            true => tool,
            false => OTHER,
        };
        let is_new = self
            .tools
            .get(name)
            .is_none_or(|row| row.back().is_none_or(|cell| cell.step != step));
        if is_new {
            self.make_room(step);
            self.cells.fetch_add(1, Ordering::Relaxed);
            let cell = Cell {
                step,
                what: OfTool::default(),
            };
            self.tools.entry(name.into()).or_default().push_back(cell);
        }
        if let Some(cell) = self.tools.get_mut(name).and_then(VecDeque::back_mut) {
            cell.what.calls = cell.what.calls.saturating_add(1);
            cell.what.failed = cell.what.failed.saturating_add(u32::from(failed));
            cell.what.times.add(took);
        }
    }

    pub(super) fn refused(&mut self, step: i64, reason: ErrorReason) {
        if self.refusals.back().is_none_or(|cell| cell.step != step) {
            self.make_room(step);
            self.cells.fetch_add(1, Ordering::Relaxed);
            self.refusals.push_back(Cell {
                step,
                what: Refusals::new(),
            });
        }
        let Some(cell) = self.refusals.back_mut() else {
            return;
        };
        match cell.what.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => cell.what.push((reason, 1)),
        }
    }

    /// Forgets every step before this one.
    pub(super) fn forget_before(&mut self, first: i64) {
        if self.oldest().is_none_or(|oldest| oldest >= first) {
            return;
        }
        let mut gone = cut(&mut self.refusals, first);
        self.tools.retain(|_, row| {
            gone += cut(row, first);
            !row.is_empty()
        });
        self.cells.fetch_sub(gone, Ordering::Relaxed);
        self.since_us = self.since_us.max(first.saturating_mul(STEP_US));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.refusals.is_empty()
    }

    pub(super) fn overview(&self, first: i64, steps: u32) -> Overview {
        let steps = usize::try_from(steps).unwrap_or(0);
        let nothing = || vec![0; steps];
        let mut told = Overview {
            since_us: self.since_us,
            start_us: first.saturating_mul(STEP_US),
            tools: Vec::new(),
            calls: nothing(),
            failed: nothing(),
            refused: nothing(),
            refusals: Vec::new(),
        };
        for (name, row) in &self.tools {
            let mut tool = OverviewOfTool {
                name: name.to_string(),
                calls: nothing(),
                p95: vec![None; steps],
            };
            for (at, what) in within(row, first, steps) {
                let calls = i64::from(what.calls);
                (tool.calls[at], tool.p95[at]) = (calls, what.times.percentile(95));
                told.calls[at] += calls;
                told.failed[at] += i64::from(what.failed);
            }
            if tool.calls.iter().any(|calls| *calls > 0) {
                told.tools.push(tool);
            }
        }
        for (at, what) in within(&self.refusals, first, steps) {
            for (reason, count) in what {
                let count = i64::from(*count);
                told.refused[at] += count;
                match told.refusals.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, sum)) => *sum += count,
                    None => told.refusals.push((*reason, count)),
                }
            }
        }
        told.tools
            .sort_by_cached_key(|tool| (-tool.calls.iter().sum::<i64>(), tool.name.clone()));
        told.refusals
            .sort_by_key(|(reason, count)| (-count, reason.name()));
        told
    }

    // Beyond the bound a tenant pays with its own past, never with somebody else's.
    fn make_room(&mut self, step: i64) {
        if self.cells.load(Ordering::Relaxed) < MOST_CELLS {
            return;
        }
        if let Some(oldest) = self.oldest().filter(|oldest| *oldest < step) {
            self.forget_before(oldest + 1);
        }
    }

    fn oldest(&self) -> Option<i64> {
        let of_tools = self.tools.values().filter_map(|row| Some(row.front()?.step));
        of_tools.chain(self.refusals.front().map(|cell| cell.step)).min()
    }
}

impl Drop for OfTenant {
    fn drop(&mut self) {
        let cells = self.refusals.len() + self.tools.values().map(VecDeque::len).sum::<usize>();
        self.cells.fetch_sub(cells, Ordering::Relaxed);
    }
}

fn cut<T>(row: &mut VecDeque<Cell<T>>, first: i64) -> usize {
    let gone = row.partition_point(|cell| cell.step < first);
    row.drain(..gone).count()
}

fn within<T>(row: &VecDeque<Cell<T>>, first: i64, steps: usize) -> impl Iterator<Item = (usize, &T)> {
    row.iter().filter_map(move |cell| {
        let at = usize::try_from(cell.step - first).ok()?;
        (at < steps).then_some((at, &cell.what))
    })
}
