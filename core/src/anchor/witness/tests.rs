use std::{fs, path::Path};

use toolgate_contract::ids::TenantId;

use super::*;
use crate::{anchor::SigningKeys, clock::Clock};

const NOON_US: i64 = 1_767_225_600_000_000;

struct Files {
    dir: tempfile::TempDir,
    keys: SigningKeys,
    tenant: TenantId,
}

impl Files {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keys = SigningKeys::open(dir.path(), &Clock::manual(NOON_US), false).unwrap();
        Self {
            dir,
            keys,
            tenant: TenantId::mint(),
        }
    }

    fn folder(&self) -> &Path {
        self.dir.path()
    }

    fn line(&self, tenant: &TenantId, seq: i64, hash: u8, minute: i64) -> String {
        let time_us = NOON_US + minute * 60_000_000;
        Checkpoint::sign(self.keys.newest(), tenant, seq, [hash; 32], time_us).to_line()
    }

    fn write(&self, name: &str, lines: &[String]) {
        fs::write(self.folder().join(name), lines.join("\n") + "\n").unwrap();
    }

    fn read(&self) -> Vec<Result<i64, String>> {
        let keys = Arc::new(self.keys.public().clone());
        Witness::open(self.folder(), keys, self.tenant.as_str())
            .unwrap()
            .map(|read| {
                read.map(|checkpoint| checkpoint.seq)
                    .map_err(|fault| fault.to_string())
            })
            .collect()
    }
}

#[test]
fn the_checkpoints_of_one_tenant_come_in_the_order_of_their_places_over_all_files() {
    let files = Files::new();
    let (ours, other) = (&files.tenant, TenantId::mint());
    files.write(
        "2026-01-02.ndjson",
        &[files.line(ours, 5, 5, 2000), files.line(&other, 9, 9, 2000)],
    );
    files.write(
        "2026-01-01.ndjson",
        &[
            files.line(ours, 1, 1, 0),
            files.line(&other, 7, 7, 0),
            files.line(ours, 1, 1, 1),
            files.line(ours, 3, 3, 2),
        ],
    );
    assert_eq!(files.read(), [Ok(1), Ok(3), Ok(5)]);
}

#[test]
fn lines_that_a_sink_was_told_twice_say_nothing_new() {
    let files = Files::new();
    let lines: Vec<_> = (1..=4)
        .map(|seq| files.line(&files.tenant, seq, 1, seq))
        .collect();
    let twice = [&lines[..3], &lines[1..]].concat();
    files.write("2026-01-01.ndjson", &twice);
    assert_eq!(files.read(), [Ok(1), Ok(2), Ok(3), Ok(4)]);
}

#[test]
fn two_checkpoints_of_one_place_that_differ_are_both_told() {
    let files = Files::new();
    let lines = [
        files.line(&files.tenant, 1, 1, 0),
        files.line(&files.tenant, 1, 2, 1),
    ];
    files.write("2026-01-01.ndjson", &lines);
    assert_eq!(
        files.read(),
        [Ok(1), Ok(1)],
        "each is told, and no row can be both"
    );
}

#[test]
fn a_later_checkpoint_of_an_earlier_place_is_refused() {
    let files = Files::new();
    let lines = [
        files.line(&files.tenant, 4, 4, 0),
        files.line(&files.tenant, 3, 3, 1),
    ];
    files.write("2026-01-01.ndjson", &lines);
    let read = files.read();
    assert!(
        read[1]
            .as_ref()
            .unwrap_err()
            .contains("row 3 comes after that of row 4"),
        "{read:?}"
    );
}

#[test]
fn a_changed_line_ends_the_stream_with_its_place() {
    let files = Files::new();
    let lines = [
        files.line(&files.tenant, 1, 1, 0),
        files
            .line(&files.tenant, 2, 2, 1)
            .replace("\"seq\":2", "\"seq\":3"),
        files.line(&files.tenant, 4, 4, 2),
    ];
    files.write("2026-01-01.ndjson", &lines);
    let read = files.read();
    assert_eq!(read.len(), 2);
    let fault = read[1].as_ref().unwrap_err();
    assert!(fault.contains("line 2 of 2026-01-01.ndjson"), "{fault}");
}

#[test]
fn what_is_appended_after_the_witness_was_opened_is_not_seen() {
    let files = Files::new();
    let first = files.line(&files.tenant, 1, 1, 0);
    files.write("2026-01-01.ndjson", std::slice::from_ref(&first));
    let keys = Arc::new(files.keys.public().clone());
    let witness = Witness::open(files.folder(), keys, files.tenant.as_str()).unwrap();
    files.write("2026-01-01.ndjson", &[first, files.line(&files.tenant, 2, 2, 1)]);
    files.write("2026-01-02.ndjson", &[files.line(&files.tenant, 3, 3, 2000)]);
    assert_eq!(witness.count(), 1);
}
