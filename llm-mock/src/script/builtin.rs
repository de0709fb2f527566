//! The scripts that every mock plays, each under the name of its model: one that behaves, and one per misbehaviour.

use super::{Script, ScriptError};

const FILES: [&str; 6] = [
    include_str!("../../scenarios/mock.json"),
    include_str!("../../scenarios/mock-bad-json.json"),
    include_str!("../../scenarios/mock-unknown-tool.json"),
    include_str!("../../scenarios/mock-parallel.json"),
    include_str!("../../scenarios/mock-ten-rounds.json"),
    include_str!("../../scenarios/mock-never-ends.json"),
];

impl Script {
    /// All of them. The first is `mock`, which calls the tool that the user names and quotes its answer.
    ///
    /// # Errors
    /// Never, as a test reads each.
    pub fn builtin() -> Result<Vec<Self>, ScriptError> {
        FILES.into_iter().map(Self::parse).collect()
    }

    /// The one of this name.
    #[must_use]
    pub fn named(model: &str) -> Option<Self> {
        let all = Self::builtin().ok()?;
        all.into_iter().find(|script| script.model == model)
    }
}
