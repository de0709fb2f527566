//! What `deny.toml` says of licences, bans and sources, held by a test on every machine.
//!
//! Advisories are not looked at here: they need a database from outside. `cargo deny check` does that where it is
//! installed, and `tests/run` says aloud when it is not.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::repository::{cargo_metadata, texts};
use crate::golden;

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let allowed = list_of("allow = [");
    for package in packages().iter().filter(|package| package["source"].is_string()) {
        let name = &package["name"];
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(
            is_allowed(licence, &allowed),
            "{name}: licence {licence:?} is not on the list in deny.toml"
        );
    }
}

#[test]
fn no_banned_crate_is_in_the_tree() {
    let banned = list_of("deny = [");
    assert!(banned.contains("openssl"), "the list in deny.toml is read");
    for package in packages() {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        assert!(!banned.contains(&name), "{name} is banned by deny.toml");
    }
}

#[test]
fn every_dependency_comes_from_the_one_registry() {
    let sources: BTreeSet<String> = packages()
        .iter()
        .filter_map(|package| package["source"].as_str().map(str::to_owned))
        .collect();
    assert!(
        sources.len() == 1 && sources.iter().all(|source| source.starts_with("registry+")),
        "{sources:?}"
    );
}

#[test]
fn crates_that_stand_twice_in_the_tree_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        versions
            .entry(name)
            .or_default()
            .insert(line_of(package["version"].as_str().unwrap_or_default()));
    }
    versions.retain(|_, versions| versions.len() > 1);
    let mut told = String::from("# crates in several versions. UPDATE=1 cargo test rewrites this file.\n");
    for (name, versions) in versions {
        let versions: Vec<String> = versions.into_iter().collect();
        told.push_str(&format!("{name} {}\n", versions.join(" ")));
    }
    golden::check("duplicates.txt", &told);
}

#[test]
fn licence_expressions_are_read() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    let cases = [
        ("MIT", true),
        ("Apache-2.0 OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0", false),
        ("MIT AND ISC", true),
        ("MIT AND GPL-3.0", false),
        ("(Apache-2.0 OR MIT) AND ISC", true),
        ("(Apache-2.0 OR GPL-3.0) AND ISC", false),
        ("MIT WITH LLVM-exception", true),
        ("", false),
    ];
    for (licence, expected) in cases {
        assert_eq!(is_allowed(licence, &allowed), expected, "{licence}");
    }
}

/// Packages of the whole tree on this machine.
fn packages() -> Vec<Value> {
    let metadata = cargo_metadata(true);
    let used: BTreeSet<&str> = metadata["resolve"]["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect();
    let all = metadata["packages"].as_array().expect("packages");
    all.iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| used.contains(id)))
        .cloned()
        .collect()
}

/// Versions that cargo treats as one line: up to the first number that is not zero.
fn line_of(version: &str) -> String {
    let parts: Vec<&str> = version.split(['.', '-', '+']).take(3).collect();
    let end = parts.iter().position(|part| *part != "0").unwrap_or(2);
    parts[..=end.min(parts.len() - 1)].join(".")
}

/// The first quoted word of every entry in a list of `deny.toml`.
fn list_of(start: &str) -> BTreeSet<String> {
    let (_, text) = texts()
        .iter()
        .find(|(path, _)| path == "deny.toml")
        .expect("deny.toml");
    let list = text
        .split(start)
        .nth(1)
        .expect("the list")
        .split("\n]")
        .next()
        .unwrap_or_default();
    let list = if start.starts_with("allow") {
        list.split(']').next().unwrap_or_default()
    } else {
        list
    };
    let entries: Vec<&str> = if start.starts_with("allow") {
        list.split(',').collect()
    } else {
        list.lines().collect()
    };
    entries
        .into_iter()
        .filter_map(|entry| entry.split('"').nth(1))
        .map(str::to_owned)
        .collect()
}

/// Evaluates an SPDX expression: `AND` binds closer than `OR`, parentheses closest.
fn is_allowed(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = licence
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let verdict = any_of(&words, &mut at, allowed);
    verdict && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut verdict = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        verdict |= all_of(words, at, allowed);
    }
    verdict
}

fn all_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut verdict = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        verdict &= one(words, at, allowed);
    }
    verdict
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let verdict = any_of(words, at, allowed);
        *at += 1;
        return verdict;
    }
    // An exception only ever allows more.
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    allowed.contains(*word)
}
