//! Which crate may know which: the table of docs/architecture.md, read from cargo.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use super::repository::{cargo_metadata, root};
use crate::golden;

/// Package → (kind of dependency → packages of ours).
type Arrows = BTreeMap<String, BTreeMap<&'static str, Vec<String>>>;

#[test]
fn crates_know_each_other_only_as_the_golden_list_says() {
    let mut told = String::from(
        "# crate -> crates of ours; (build) and (test) apart. UPDATE=1 cargo test rewrites this file.\n",
    );
    for (package, kinds) in arrows() {
        for (kind, others) in kinds {
            let mark = if kind.is_empty() {
                String::new()
            } else {
                format!(" ({kind})")
            };
            told.push_str(&format!("{package}{mark} -> {}\n", others.join(", ")));
        }
    }
    golden::check("crate_arrows.txt", &told);
}

#[test]
fn the_rooms_know_the_contract_and_nothing_else_of_ours() {
    for package in [
        "toolgate-core",
        "toolgate-facade",
        "toolgate-relay",
        "toolgate-transcript",
    ] {
        let kinds = arrows().remove(package).unwrap_or_default();
        assert_eq!(
            kinds.get("").cloned().unwrap_or_default(),
            ["toolgate-contract"],
            "{package}"
        );
    }
    assert_eq!(arrows().get("toolgate-contract"), None);
}

#[test]
fn nothing_in_production_knows_the_mock_or_the_tests() {
    let production = [
        "toolgate",
        "toolgate-contract",
        "toolgate-core",
        "toolgate-facade",
        "toolgate-relay",
        "toolgate-transcript",
    ];
    for package in production {
        let kinds = arrows().remove(package).unwrap_or_default();
        // Their own tests may stand on what other tests do.
        for (_, others) in kinds.iter().filter(|(kind, _)| **kind != "test") {
            let foreign =
                |name: &String| name.contains("mock") || name.contains("test") || name.contains("load");
            assert!(!others.iter().any(foreign), "{package} knows {others:?}");
        }
    }
}

#[test]
fn what_the_binary_is_built_of_holds_no_crate_for_tests() {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "-p",
            "toolgate",
            "-e",
            "normal",
            "--locked",
            "--all-features",
        ])
        .args(["--prefix", "none", "--format", "{p}"])
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    // `toolgate-core v0.1.0 (/folder/core)`: ours have a folder.
    let mut ours: Vec<&str> = tree
        .lines()
        .filter(|line| line.contains(" (/"))
        .filter_map(|line| line.split(' ').next())
        .collect();
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(
        ours,
        [
            "toolgate",
            "toolgate-contract",
            "toolgate-core",
            "toolgate-facade",
            "toolgate-relay",
            "toolgate-transcript"
        ]
    );
}

#[test]
fn a_release_has_no_fixtures() {
    let features = |package: &str| {
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["tree", "-e", "features", "--locked", "-p", package])
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{package}");
        String::from_utf8(output.stdout).expect("cargo prints UTF-8")
    };
    let fixtures = r#"toolgate-core feature "conformance""#;
    assert!(!features("toolgate").contains("conformance"));
    // Where they are on, they would be seen.
    assert!(features("toolgate-test-support").contains(fixtures));
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    // Fuzz targets are a workspace of their own.
    let members = super::repository::texts()
        .iter()
        .filter(|(path, _)| !path.starts_with("fuzz/"));
    for (path, text) in members {
        if path.ends_with("Cargo.toml") {
            assert!(
                text.contains("[lints]\nworkspace = true"),
                "{path} lacks [lints] workspace = true"
            );
        }
    }
}

fn arrows() -> Arrows {
    let metadata = cargo_metadata(false);
    let packages = metadata["packages"].as_array().expect("packages");
    packages.iter().filter_map(of_package).collect()
}

fn of_package(package: &Value) -> Option<(String, BTreeMap<&'static str, Vec<String>>)> {
    let mut kinds: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for dependency in package["dependencies"].as_array()? {
        if dependency["path"].is_string() {
            let kind = match dependency["kind"].as_str() {
                Some("dev") => "test",
                Some("build") => "build",
                _ => "",
            };
            kinds
                .entry(kind)
                .or_default()
                .push(dependency["name"].as_str()?.to_owned());
        }
    }
    for others in kinds.values_mut() {
        others.sort();
    }
    (!kinds.is_empty()).then(|| (package["name"].as_str().unwrap_or_default().to_owned(), kinds))
}
