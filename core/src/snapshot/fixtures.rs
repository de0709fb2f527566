//! Which fixtures of conformance runs a tenant sees, and the stand-in that their calls go to. Only with the feature
//! `conformance`.

use std::sync::{Arc, LazyLock};

use toolgate_contract::{ids::TargetId, registry::ToolDef};

use super::{RelayStanding, Snapshot, Snapshots, Target};
use crate::fixtures::{self, Fixtures};

/// Where calls of fixtures go: no tenant has it, and no host needs to be added.
static STAND_IN: LazyLock<Arc<Target>> = LazyLock::new(|| {
    Arc::new(Target {
        id: TargetId::mint(),
        adapter: "ssh",
        name: "fixtures".into(),
        disabled: false,
        relay: RelayStanding::Enrolled,
        relay_key: None,
        secret: None,
        settings: serde_json::Value::Null,
        validation: serde_json::Value::Null,
        version: 0,
    })
});

impl Snapshots {
    /// With fixtures in every tenant's list.
    #[must_use]
    pub fn with_fixtures(self, fixtures: Option<Fixtures>) -> Self {
        Self { fixtures, ..self }
    }

    pub(super) fn mark(&self, snapshot: Snapshot) -> Snapshot {
        let shown = self
            .fixtures
            .as_ref()
            .map(|fixtures| fixtures.shown(&snapshot.tenant));
        Snapshot {
            fixtures: shown.unwrap_or_default(),
            ..snapshot
        }
    }
}

impl Snapshot {
    /// True for what is no fixture.
    pub(super) fn shows_fixture(&self, tool: &ToolDef) -> bool {
        fixtures::tool(tool.name).is_none() || self.fixtures.has(tool)
    }

    /// The stand-in that calls of this tool go to, if it is a fixture that is shown.
    #[must_use]
    pub fn stand_in_of(&self, tool: &ToolDef) -> Option<Arc<Target>> {
        (fixtures::tool(tool.name).is_some() && self.fixtures.has(tool)).then(|| Arc::clone(&STAND_IN))
    }
}

impl Target {
    /// Whether it is the stand-in for fixtures.
    #[must_use]
    pub fn is_stand_in(&self) -> bool {
        self.id == STAND_IN.id
    }
}
