//! Tools for conformance runs and for our own tests, which no gateway of anybody else has.
//!
//! Compiled with the feature `conformance` only, and shown only by a core that was started with [`Fixtures`]: a test's
//! other cores do not know them. Their calls take the whole path of any other; only their target is a stand-in. What they
//! answer is in `adapters/fixtures`. Knows the contract and nothing else of ours.

mod tools;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::watch;
use toolgate_contract::{ids::TenantId, registry::ToolDef};

pub use self::tools::TOOLS;

/// The tool that comes and goes.
pub const DYNAMIC: &str = "test_dynamic_tool";

/// That a core has the fixtures, and what is seen of them. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Fixtures(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Tenants who see the tool that comes and goes.
    dynamic: Mutex<HashSet<TenantId>>,
    slow_begun: watch::Sender<usize>,
    slow_left: watch::Sender<usize>,
}

/// Which fixtures a tenant sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shown {
    /// None.
    #[default]
    None,
    /// All but the one that comes and goes.
    Fixed,
    /// All.
    All,
}

/// A call of `test_slow` that goes on.
#[derive(Debug)]
pub struct Slow {
    state: Arc<State>,
    ended: bool,
}

/// The fixture of this name.
#[must_use]
pub fn tool(name: &str) -> Option<&'static ToolDef> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Shown {
    /// Whether a fixture is among them.
    #[must_use]
    pub fn has(self, tool: &ToolDef) -> bool {
        match self {
            Self::None => false,
            Self::Fixed => tool.name != DYNAMIC,
            Self::All => true,
        }
    }
}

impl Fixtures {
    /// What a tenant sees now.
    #[must_use]
    pub fn shown(&self, tenant: &TenantId) -> Shown {
        match self.dynamic().contains(tenant) {
            true => Shown::All,
            false => Shown::Fixed,
        }
    }

    /// Shows a tenant the tool that comes and goes, or hides it.
    pub fn toggle(&self, tenant: &TenantId) {
        let mut dynamic = self.dynamic();
        if !dynamic.remove(tenant) {
            dynamic.insert(tenant.clone());
        }
    }

    /// A call of `test_slow` begins.
    #[must_use]
    pub fn slow(&self) -> Slow {
        self.0.slow_begun.send_modify(|begun| *begun += 1);
        Slow {
            state: Arc::clone(&self.0),
            ended: false,
        }
    }

    /// Waits until so many calls of `test_slow` began, from the start of the core on.
    pub async fn slow_begun(&self, count: usize) {
        reaches(&self.0.slow_begun, count).await;
    }

    /// Waits until so many calls of `test_slow` were cancelled at their target.
    pub async fn slow_left(&self, count: usize) {
        reaches(&self.0.slow_left, count).await;
    }

    fn dynamic(&self) -> std::sync::MutexGuard<'_, HashSet<TenantId>> {
        self.0.dynamic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slow {
    /// It ends by itself.
    pub fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        if !self.ended {
            self.state.slow_left.send_modify(|left| *left += 1);
        }
    }
}

async fn reaches(counter: &watch::Sender<usize>, count: usize) {
    // The sender is alive as long as this borrows it.
    let _ = counter.subscribe().wait_for(|at| *at >= count).await;
}
