//! The lists of what may fail: `- SCENARIO # why` or `- SCENARIO:CHECK # why`, read by the suite as YAML and here for the
//! reasons.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Why each entry of a list may fail.
pub(super) type Reasons = BTreeMap<String, String>;

/// The list of a revision, for the fixture tools or for those of everyone.
pub(super) fn path(tools: &str, revision: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("conformance/expected-{tools}-{revision}.yml"))
}

/// Reads a list.
pub(super) fn reasons(path: &Path) -> Reasons {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix("- "))
        .map(|entry| {
            let (entry, why) = entry
                .split_once(" # ")
                .unwrap_or_else(|| panic!("{}: {entry} has no reason", path.display()));
            (entry.trim().to_owned(), why.trim().to_owned())
        })
        .collect()
}
