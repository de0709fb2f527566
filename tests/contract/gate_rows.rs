//! Every row of the gate has its scenario, and every scenario that claims a row names it.
//!
//! `tests/golden/gate.txt` holds one row a line: `ROW file …`, or `ROW later: why` for rows whose ground is not built
//! yet. This test fails when a named file is gone, does not say the row in its doc comment, or when a row is missing.

use std::collections::BTreeSet;

use super::repository::texts;

/// All rows of the gate of the gateway, B1 to B16 of the tools of agents, and C1 to C14 of projects.
const ROWS: &str = "J1-1 J1-2 J1-3 J1-4 J2-1 J2-2 J2-3 J2-4 E1 E2 E3 E4 E5 E6 E7 E8 015 016 017 018 019 020-023 024 \
    025-027 INV-1 INV-2 INV-3 INV-4 LLM INV-6 COV LIVE MCP SEC NFR UI \
    B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 B11 B12 B13 B14 B15 B16 \
    C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 C11 C12 C13 C14";

#[test]
fn every_row_of_the_gate_names_its_scenarios() {
    let told: BTreeSet<&str> = lines().map(|(row, _)| row).collect();
    let asked: BTreeSet<&str> = ROWS.split_whitespace().collect();
    assert_eq!(told, asked);
}

#[test]
fn every_scenario_of_the_gate_exists_and_says_its_row() {
    for (row, rest) in lines().filter(|(_, rest)| !rest.starts_with("later:")) {
        for file in rest.split_whitespace() {
            let found = texts().iter().find(|(path, _)| path == file);
            let Some((_, text)) = found else {
                panic!("gate row {row}: {file} does not exist")
            };
            let comment: String = text.lines().filter(|line| line.starts_with("//!")).collect();
            assert!(
                comment.contains(row),
                "{file} does not say {row} in its doc comment"
            );
        }
    }
}

#[test]
fn every_scenario_file_is_part_of_the_binary() {
    let (_, modules) = texts()
        .iter()
        .find(|(path, _)| path == "tests/scenarios.rs")
        .expect("scenarios.rs");
    for (path, _) in texts() {
        if let Some(name) = path
            .strip_prefix("tests/scenarios/")
            .and_then(|name| name.strip_suffix(".rs"))
        {
            assert!(
                modules.contains(&format!("mod {name};")),
                "{path} is not named in tests/scenarios.rs"
            );
        }
    }
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, text) = texts()
        .iter()
        .find(|(path, _)| path == "tests/golden/gate.txt")
        .expect("gate.txt");
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once(' ').expect("row and scenario"))
}
