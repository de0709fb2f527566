//! Names that tell nothing, words that tell too much.

use super::repository::{sources, texts};

#[test]
fn no_file_is_named_after_nothing() {
    for (path, _) in texts() {
        for part in path.split('/') {
            let name = part.split('.').next().unwrap_or_default();
            let empty = [
                "util", "utils", "common", "helper", "helpers", "types", "manager", "misc",
            ];
            assert!(
                !empty.contains(&name),
                "{path}: a name that does not tell what lives there"
            );
        }
    }
}

#[test]
fn modules_are_files_beside_their_folder() {
    for (path, _) in sources("") {
        assert!(
            !path.ends_with("/mod.rs"),
            "{path}: name it after the folder and put it beside it"
        );
    }
}

#[test]
fn every_module_says_what_lives_there() {
    for (path, text) in sources("") {
        let own = path.ends_with("/tests.rs") || path.contains("/tests/") || text.lines().count() < 3;
        assert!(own || text.starts_with("//!"), "{path} begins without //!");
    }
}

#[test]
fn no_code_is_unsafe() {
    let word = ["un", "safe"].concat();
    for (path, text) in sources("") {
        let used = |form: &str| text.contains(&format!("{word} {form}"));
        assert!(
            !used("{") && !used("fn") && !used("impl"),
            "{path} holds {word} code"
        );
    }
}

/// Whether a line holds a word; a folder's only where a path begins with it, not in the middle of another.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !(word.starts_with('/') && before.is_some_and(|before| before.is_alphanumeric()))
    })
}

#[test]
fn no_file_names_a_machine_or_a_package_host() {
    let words = [
        ["/wo", "rk/"].concat(),
        ["/ro", "ot/"].concat(),
        ["/home", "/"].concat(),
        ["pypi", ".org"].concat(),
        ["pythonhosted", ".org"].concat(),
        ["static.crates", ".io"].concat(),
        ["index.crates", ".io"].concat(),
        ["registry.npm", "js.org"].concat(),
        ["deb.debian", ".org"].concat(),
    ];
    for (path, text) in texts() {
        for word in words.iter().filter(|_| path != "Cargo.lock") {
            let place = text.lines().position(|line| names(line, word));
            assert_eq!(place, None, "{path} names {word}");
        }
    }
}

#[test]
fn time_and_environment_are_read_in_one_place_each() {
    let production = [
        "core/src/",
        "facade/src/",
        "relay/src/",
        "transcript/src/",
        "cli/src/",
    ];
    for (path, text) in production.into_iter().flat_map(sources) {
        let tests = path.ends_with("tests.rs") || path.contains("/tests/");
        let clock = path == "core/src/clock.rs" || tests;
        assert!(
            clock || !text.contains("SystemTime::now()") || text.contains("allow(clippy::disallowed_methods"),
            "{path} reads wall time"
        );
        let configuration = path.starts_with("cli/src/config") || tests;
        assert!(
            configuration || !text.contains("env::var("),
            "{path} reads the environment"
        );
    }
}
