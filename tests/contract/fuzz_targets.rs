//! The workspace of fuzz targets is built by nobody in a normal run, so that a target could be forgotten.

use std::collections::BTreeSet;

use super::repository::texts;

#[test]
fn every_fuzz_target_is_declared_and_has_a_first_input() {
    let named = |start: &str| -> BTreeSet<&str> {
        let files = texts()
            .iter()
            .filter_map(move |(path, _)| path.strip_prefix(start));
        files.filter_map(|rest| rest.split(['/', '.']).next()).collect()
    };
    let (_, manifest) = texts()
        .iter()
        .find(|(path, _)| path == "fuzz/Cargo.toml")
        .unwrap();
    let bins = manifest.split("[[bin]]\n").skip(1);
    let declared: BTreeSet<&str> = bins
        .filter_map(|bin| bin.strip_prefix("name = \"")?.split('"').next())
        .collect();
    assert!(declared.len() >= 7, "{declared:?}");
    assert_eq!(declared, named("fuzz/fuzz_targets/"), "files");
    // Inputs that are no UTF-8 are not seen as texts, so each target has one that is.
    assert_eq!(declared, named("fuzz/seeds/"), "seeds");
}
