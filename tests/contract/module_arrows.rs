//! Which room of the core may use which, read from `crate::` paths.
//!
//! A room is a module at the top of `core/src`. Test modules are not looked at: a test may arrange what it likes.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::sources;
use crate::golden;

const ROOT: &str = "core/src/";

/// Room → rooms it uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

#[test]
fn rooms_of_the_core_use_each_other_only_as_the_golden_list_says() {
    let mut told = String::from("# room of core -> rooms it uses. UPDATE=1 cargo test rewrites this file.\n");
    for (room, others) in arrows() {
        let others: Vec<_> = others.into_iter().collect();
        told.push_str(&format!("{room} -> {}\n", others.join(", ")));
    }
    golden::check("arrows.txt", &told);
}

#[test]
fn no_room_uses_the_broker() {
    for (room, others) in arrows() {
        // `rpc` is the door through which calls come in; the assembly starts the whole.
        let door = room == "rpc" || room == "broker" || is_assembly(&room);
        assert!(door || !others.contains("broker"), "{room} uses the broker");
    }
}

#[test]
fn nothing_that_reads_infrastructure_reaches_the_client_that_may_write() {
    let mut is_private = false;
    for (path, text) in sources("core/src/adapters") {
        if path.ends_with("adapters/agent.rs") {
            // Not even the rooms beside it can name it then.
            is_private = text.lines().any(|line| line == "mod client;");
        }
        if !path.contains("adapters/agent") {
            assert!(!text.contains("reqwest"), "{path} has a client of its own");
        }
    }
    assert!(is_private, "the client is private to the adapter of agents");
    for (path, text) in sources("core/src/upstream/reader") {
        assert!(!text.contains("Method::POST"), "{path} can do more than read");
    }
}

#[test]
fn rooms_of_the_core_form_no_circle() {
    let mut left = arrows();
    left.retain(|room, _| !is_assembly(room));
    for others in left.values_mut() {
        others.retain(|room| !is_assembly(room));
    }
    loop {
        let rooms: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, others| others.iter().any(|room| rooms.contains(room)));
        if left.is_empty() {
            return;
        }
        assert!(
            left.len() < before,
            "these rooms use each other in a circle, or use one that does: {left:?}"
        );
    }
}

#[test]
fn paths_are_found_alone_in_groups_and_inline() {
    let text = "use crate::audit::Row;\nuse crate::{clock::Clock, keys::{a, b}, store};\n// crate::comment\nlet x = crate::journal::open();\n#[cfg(test)]\nmod tests { use crate::broker; }";
    let rooms: Vec<String> = rooms_in(text).into_iter().collect();
    assert_eq!(rooms, ["audit", "clock", "journal", "keys", "store"]);
}

/// The modules that put the rooms together and may therefore know all of them.
fn is_assembly(room: &str) -> bool {
    matches!(room, "lib" | "start" | "core" | "service")
}

fn arrows() -> Arrows {
    let mut arrows = Arrows::new();
    for (path, text) in sources(ROOT) {
        let inner = path.strip_prefix(ROOT).unwrap_or(path);
        if inner.ends_with("tests.rs") || inner.contains("/tests/") {
            continue;
        }
        let room = inner.split(['/', '.']).next().unwrap_or_default().to_owned();
        let used = rooms_in(text);
        let others = arrows.entry(room.clone()).or_default();
        others.extend(used.into_iter().filter(|other| *other != room));
    }
    arrows.retain(|_, others| !others.is_empty());
    arrows
}

fn rooms_in(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: String = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut rooms = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            Some(group) => rooms.extend(group_heads(group)),
            None => rooms.extend(head(after)),
        }
    }
    // `crate::Error` and the like are re-exports of the root, not rooms.
    rooms.retain(|room| room.starts_with(|first: char| first.is_ascii_lowercase()));
    rooms
}

/// The first names of `a::b, c::{d, e}, f}`.
fn group_heads(group: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let (mut depth, mut start) = (1, 0);
    for (at, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (char == ',' && depth == 1) || depth == 0 {
            heads.extend(head(group[start..at].trim()));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

fn head(path: &str) -> Option<String> {
    let end = path
        .find(|char: char| !(char.is_ascii_alphanumeric() || char == '_'))
        .unwrap_or(path.len());
    (end > 0).then(|| path[..end].to_owned())
}
