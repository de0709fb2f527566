//! What somebody does who holds the checkpoint files and not the keys: rounds that were signed are missed.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::world::{Back, DAY, MINUTE, World};
use crate::anchor::{Alarm, LastRound, keeper::Wish, public_keys, survey_of};

/// Three rounds in one file, and a gateway that has ended.
async fn signed() -> World {
    let mut world = World::new(Back::Embedded, 2).await;
    for _ in 0..3 {
        world.round(Wish::All).await.unwrap();
        world.clock.advance(MINUTE);
    }
    drop(world.take_keeper());
    world
}

/// What a verification says of the files, as they are held against the last round.
fn told(dir: &Path) -> Result<(), String> {
    let last = LastRound::read(dir)?.ok_or("no last round")?;
    let folder = crate::anchor::folder(dir);
    let keys = public_keys(&folder).map_err(|fault| fault.to_string())?;
    let survey = survey_of(&folder, &keys, Some(&last)).map_err(|fault| fault.to_string())?;
    last.check(&survey, keys.origin())
}

/// Each is found by a verification and by the next start, which goes on from the number that was signed.
async fn check(what: &str, lose: fn(&Path), expected: &str) {
    let mut world = signed().await;
    assert_eq!(told(world.dir.path()), Ok(()), "{what}");
    lose(&world.files()[0]);
    let why = told(world.dir.path()).unwrap_err();
    assert!(why.contains(expected), "{what}: {why}");

    world.reopen();
    world.round(Wish::All).await.unwrap();
    let alarm = world.alarm();
    assert!(matches!(alarm, Some(Alarm::Lost { .. })), "{what}: {alarm:?}");
    let last = LastRound::read(world.dir.path()).unwrap().unwrap();
    assert_eq!(last.number, 4, "{what}");
    assert!(world.lines().last().unwrap().contains("\"number\":4,"), "{what}");
    assert!(told(world.dir.path()).is_err(), "{what}: and it stays so");
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(file).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    change(&mut lines);
    fs::write(file, lines.concat()).unwrap();
}

fn is_root(line: &str) -> bool {
    line.starts_with("{\"type\":\"root\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_that_are_missing_are_told_and_numbers_never_begin_anew() {
    const NONE: &str = "the rounds up to 3 are missing: the files hold no round at all";
    check("the file deleted", |file| fs::remove_file(file).unwrap(), NONE).await;
    check("the file emptied", |file| fs::write(file, "").unwrap(), NONE).await;
    check(
        "the file renamed",
        |file| fs::rename(file, file.with_file_name("moved.old")).unwrap(),
        NONE,
    )
    .await;
    check(
        "all roots taken out",
        |file| change(file, |lines| lines.retain(|line| !is_root(line))),
        NONE,
    )
    .await;
    check(
        "the last round cut",
        |file| {
            change(file, |lines| {
                let ends: Vec<_> = (0..lines.len()).filter(|at| is_root(&lines[*at])).collect();
                lines.truncate(ends[1] + 1);
            });
        },
        "the rounds 3 to 3 are missing: the files end with round 2",
    )
    .await;
    check(
        "the last line halved",
        |file| {
            let text = fs::read(file).unwrap();
            fs::write(file, &text[..text.len() - 100]).unwrap();
        },
        "the files end with round 2",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn first_rounds_that_are_cut_are_told_by_a_verification_and_at_the_start() {
    let cut = |file: &Path| {
        change(file, |lines| {
            let end = lines.iter().position(|line| is_root(line)).unwrap();
            drop(lines.drain(..=end));
        });
    };
    check("the first round cut", cut, "its first lines were cut").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_folder_is_told_and_the_trust_root_stays() {
    let mut world = signed().await;
    let trust_root = public_keys(&world.folder()).unwrap().trust_root();
    for file in fs::read_dir(world.folder()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert!(matches!(world.alarm(), Some(Alarm::Lost { .. })));
    assert_eq!(public_keys(&world.folder()).unwrap().trust_root(), trust_root);
    let why = told(world.dir.path()).unwrap_err();
    assert!(why.contains("the files begin with round 4"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_the_files_and_the_last_round_is_no_loss() {
    let mut world = signed().await;
    let last = world.dir.path().join("keys/checkpoint-last");
    let before = fs::read(&last).unwrap();
    world.reopen();
    world.round(Wish::All).await.unwrap();
    fs::write(&last, before).unwrap();
    assert_eq!(told(world.dir.path()), Ok(()));

    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert_eq!(world.alarm(), None);
    assert_eq!(told(world.dir.path()), Ok(()));
    assert_eq!(world.survey().unwrap().last_root.unwrap().number, 5);
    assert_eq!(fs::metadata(&last).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_older_than_the_newest_two_may_be_moved_away() {
    let mut world = World::new(Back::Embedded, 1).await;
    for _ in 0..3 {
        world.round(Wish::All).await.unwrap();
        world.clock.advance(MINUTE);
        world.round(Wish::All).await.unwrap();
        world.clock.advance(DAY);
    }
    fs::remove_file(&world.files()[0]).unwrap();
    assert_eq!(told(world.dir.path()), Ok(()));
    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert_eq!(world.alarm(), None);

    // Four files by now, of which the older may go, and one of the newest two.
    fs::remove_file(&world.files()[0]).unwrap();
    fs::remove_file(&world.files()[0]).unwrap();
    let why = told(world.dir.path()).unwrap_err();
    assert!(why.contains("the rounds 5 to 6 are missing"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_last_round_that_was_changed_is_told() {
    let mut world = signed().await;
    let last = world.dir.path().join("keys/checkpoint-last");
    let text = fs::read_to_string(&last).unwrap();
    for (changed, expected) in [
        (text.replace("\"number\":3", "\"number\": 2"), "was changed"),
        (String::new(), "was changed"),
        (text.replace("toolgate/", "toolgate/X"), "they are of the record"),
    ] {
        fs::write(&last, changed).unwrap();
        let why = told(world.dir.path()).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert!(matches!(world.alarm(), Some(Alarm::Lost { .. })));
}
