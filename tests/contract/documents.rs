//! What the documents say of tests and files is true.

use super::repository::{sources, texts};

#[test]
fn every_scenario_that_a_document_names_exists() {
    let named = |text: &'static str| {
        text.split('`')
            .skip(1)
            .step_by(2)
            .filter_map(|word| word.strip_prefix("tests/scenarios/")?.strip_suffix(".rs"))
    };
    for (path, text) in texts().iter().filter(|(path, _)| path.ends_with(".md")) {
        for scenario in named(text) {
            let file = format!("tests/scenarios/{scenario}.rs");
            assert!(exists(&file), "{path} names {file}, which does not exist");
        }
    }
}

#[test]
fn every_invariant_names_the_test_that_holds_it() {
    let (_, text) = texts()
        .iter()
        .find(|(path, _)| path == "docs/architecture.md")
        .unwrap();
    let rows = text
        .lines()
        .skip_while(|line| *line != "| absent | held by |")
        .skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 10, "the table of invariants is found");
    for row in rows {
        let holders: Vec<&str> = row
            .rsplit('|')
            .nth(1)
            .unwrap_or_default()
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        let compiles = row.contains("does not compile");
        assert!(compiles || !holders.is_empty(), "{row} names no test");
        for holder in holders {
            let found = exists(&format!("tests/scenarios/{holder}.rs"))
                || exists(&format!("tests/contract/{holder}.rs"))
                || is_a_test_of_the_facade(holder);
            assert!(
                found,
                "{holder} is no scenario, no contract test and no test of the facade"
            );
        }
    }
}

fn exists(file: &str) -> bool {
    texts().iter().any(|(path, _)| path == file)
}

/// Whether a function of this name stands in `facade/tests/` right below the attribute of a test.
fn is_a_test_of_the_facade(name: &str) -> bool {
    sources("facade/tests/").any(|(_, text)| {
        let lines: Vec<&str> = text.lines().collect();
        lines.windows(2).any(|pair| {
            let is_test = pair[0].starts_with("#[test]") || pair[0].starts_with("#[tokio::test");
            is_test && pair[1].contains(&format!("fn {name}("))
        })
    })
}

#[test]
fn settled_questions_have_one_number_each_and_stand_in_the_index() {
    let pages = || texts().iter().filter(|(path, _)| path.starts_with("docs/adr/0"));
    let mut told = String::new();
    let mut last = None;
    for (path, text) in pages() {
        let file = path.trim_start_matches("docs/adr/");
        let number: u32 = file[..4].parse().unwrap();
        assert_ne!(last.replace(number), Some(number), "{path}: its number is taken");
        let title = text.lines().next().unwrap_or_default();
        let title = title.strip_prefix(&format!("# {number}. "));
        let title = title.unwrap_or_else(|| panic!("{path} does not begin with `# {number}. `"));
        for part in ["Status: ", "## Context", "## Decision", "## What we gave up"] {
            assert!(text.contains(part), "{path} lacks {part:?}");
        }
        told.push_str(&format!("- [{number}. {title}]({file})\n"));
    }
    let (_, index) = texts()
        .iter()
        .find(|(path, _)| path == "docs/adr/README.md")
        .unwrap();
    let listed: String = index
        .lines()
        .filter(|line| line.starts_with("- ["))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        listed, told,
        "docs/adr/README.md lists other pages than there are"
    );
}
