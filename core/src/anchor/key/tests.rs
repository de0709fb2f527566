use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use toolgate_contract::ids::TenantId;

use super::*;
use crate::{
    anchor::{Checkpoint, CheckpointFault},
    clock::Clock,
};

const NOON_US: i64 = 1_767_225_600_000_000;
const HOUR: Duration = Duration::from_secs(3600);

fn list(dir: &Path) -> PathBuf {
    dir.join("checkpoints/keys.ndjson")
}

fn key_file(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("keys/checkpoint-{id}.ed25519"))
}

fn signed_by(keys: &SigningKeys, time_us: i64) -> Checkpoint {
    Checkpoint::sign(keys.newest(), &TenantId::system(), 1, [1; 32], time_us)
}

#[test]
fn the_first_open_makes_the_trust_root_and_the_next_finds_it() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    let first = SigningKeys::open(dir.path(), &clock, false).unwrap();
    let second = SigningKeys::open(dir.path(), &clock, false).unwrap();

    assert_eq!(first.public(), second.public());
    assert_eq!(first.public().trust_root().id, first.newest().id());
    assert_eq!(
        first.newest().origin(),
        format!("toolgate/{}", first.newest().id())
    );
    let pinned: TrustRoot = first.public().trust_root().to_string().parse().unwrap();
    let read = PublicKeys::read(&list(dir.path())).unwrap();
    assert_eq!(&read.pinned_to(&pinned).unwrap(), first.public());
    for path in [list(dir.path()), key_file(dir.path(), first.newest().id())] {
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    let keys = SigningKeys::open(dir.path(), &clock, false).unwrap();
    let path = key_file(dir.path(), keys.newest().id());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = SigningKeys::open(dir.path(), &clock, false)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("chmod 0600"), "{refused}");
}

#[test]
fn after_a_rotation_old_checkpoints_still_verify_and_the_new_key_signs() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    let old = SigningKeys::open(dir.path(), &clock, false).unwrap();
    let before = signed_by(&old, clock.wall_us());
    clock.advance(HOUR);

    let new = SigningKeys::rotate(dir.path(), &clock).unwrap();
    let after = signed_by(&new, clock.wall_us());

    assert_ne!(new.newest().id(), old.newest().id());
    let read = PublicKeys::read(&list(dir.path())).unwrap();
    assert_eq!(read.trust_root(), old.public().trust_root());
    assert_eq!(before.check(&read), Ok(()));
    assert_eq!(after.check(&read), Ok(()));
    assert!(matches!(
        after.check(old.public()),
        Err(CheckpointFault::UnknownKey(_))
    ));
}

#[test]
fn a_key_signs_nothing_more_two_hours_after_it_was_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    let old = SigningKeys::open(dir.path(), &clock, false).unwrap();
    let new = SigningKeys::rotate(dir.path(), &clock).unwrap();
    let check = |after: Duration, expected: bool| {
        let stolen = signed_by(&old, NOON_US + i64::try_from(after.as_micros()).unwrap());
        assert_eq!(stolen.check(new.public()).is_ok(), expected, "{after:?}");
    };
    check(HOUR, true);
    check(3 * HOUR, false);
}

#[test]
fn a_rotation_that_crashed_before_the_list_was_written_is_finished_by_the_next_open() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    SigningKeys::open(dir.path(), &clock, false).unwrap();
    let before = fs::read(list(dir.path())).unwrap();
    let rotated = SigningKeys::rotate(dir.path(), &clock).unwrap();
    fs::write(list(dir.path()), before).unwrap();

    let opened = SigningKeys::open(dir.path(), &clock, false).unwrap();

    assert_eq!(opened.public(), rotated.public());
    assert_eq!(opened.newest().id(), rotated.newest().id());
}

#[test]
fn an_instance_with_the_same_keys_finds_the_same_list() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let clock = Clock::manual(NOON_US);
    SigningKeys::open(dir.path(), &clock, false).unwrap();
    let keys = SigningKeys::rotate(dir.path(), &clock).unwrap();
    fs::rename(dir.path().join("keys"), other.path().join("keys")).unwrap();
    let shared = SigningKeys::open(other.path(), &clock, false).unwrap();
    assert_eq!(shared.public(), keys.public());
}

#[test]
fn a_lost_key_is_told_and_its_acceptance_begins_a_new_record_of_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    let old = SigningKeys::open(dir.path(), &clock, false).unwrap();
    fs::remove_file(key_file(dir.path(), old.newest().id())).unwrap();

    let refused = SigningKeys::open(dir.path(), &clock, false).unwrap_err();
    assert!(matches!(refused, SigningKeysError::Lost { .. }), "{refused}");

    let new = SigningKeys::open(dir.path(), &clock, true).unwrap();
    assert_ne!(new.public().trust_root(), old.public().trust_root());
    let aside = dir
        .path()
        .join(format!("checkpoints.lost-{}/keys.ndjson", old.newest().id()));
    assert_eq!(&PublicKeys::read(&aside).unwrap(), old.public());
}

#[test]
fn a_list_in_which_anything_was_changed_is_not_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(NOON_US);
    SigningKeys::open(dir.path(), &clock, false).unwrap();
    for _ in 0..2 {
        SigningKeys::rotate(dir.path(), &clock).unwrap();
    }
    let text = fs::read_to_string(list(dir.path())).unwrap();
    let pinned = PublicKeys::parse(&text).unwrap().trust_root();
    let accepted = |text: &str| {
        PublicKeys::parse(text).is_ok_and(|keys| keys.keys().len() == 3 && keys.pinned_to(&pinned).is_ok())
    };
    assert!(accepted(&text));
    for place in 0..text.trim_end().len() {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 0x01;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            assert!(!accepted(text), "byte {place}");
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    for order in [
        vec![1, 0, 2],
        vec![0, 2, 1],
        vec![0, 2],
        vec![1, 2],
        vec![0, 1, 1, 2],
        vec![],
    ] {
        let changed: Vec<&str> = order.iter().map(|at| lines[*at]).collect();
        assert!(!accepted(&changed.join("\n")), "{order:?}");
    }
}

#[test]
fn a_pin_is_read_as_it_is_printed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let keys = SigningKeys::open(dir.path(), &Clock::manual(NOON_US), false).unwrap();
    let text = keys.public().trust_root().to_string();
    let check =
        |text: &str, expected: bool| assert_eq!(text.parse::<TrustRoot>().is_ok(), expected, "{text}");
    check(&text, true);
    check(&text[..text.len() - 1], false);
    check(&text.replace(':', ""), false);
    check(&format!("x{text}"), false);
    check("", false);
}

#[test]
fn a_folder_that_is_no_data_directory_gets_no_key() {
    let dir = tempfile::tempdir().unwrap();
    let refused = SigningKeys::rotate(dir.path(), &Clock::manual(NOON_US)).unwrap_err();
    assert!(matches!(refused, SigningKeysError::None(_)), "{refused}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
