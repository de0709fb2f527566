//! Golden files: what people read in review. `UPDATE=1` rewrites them.

use std::{fs, path::Path};

/// Compares `actual` with `tests/golden/<name>`, or rewrites the file when `UPDATE` is set.
#[track_caller]
pub(crate) fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    #[allow(
        clippy::disallowed_methods,
        reason = "the switch of the golden files is no configuration"
    )]
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = first_difference(&expected, actual) {
        panic!(
            "tests/golden/{name} no longer tells the truth; if the change is meant, run UPDATE=1 cargo test\n{difference}"
        );
    }
}

fn first_difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let gone = expected
        .lines()
        .filter(|line| !actual.lines().any(|other| other == *line));
    let new = actual
        .lines()
        .filter(|line| !expected.lines().any(|other| other == *line));
    let mut told: Vec<String> = gone.map(|line| format!("- {line}")).collect();
    told.extend(new.map(|line| format!("+ {line}")));
    told.truncate(40);
    if told.is_empty() {
        told.push("the lines are the same, their order or count is not".into());
    }
    Some(told.join("\n"))
}
