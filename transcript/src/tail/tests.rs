use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;
use tracing::Level;

use super::{Settings, Tail};
use crate::{REPORT_TOOL, witness};

/// A folder, a tailer that follows `transcript.jsonl` in it, and a clock that stands still unless it is moved.
struct Ground {
    folder: TempDir,
    tail: Tail,
    now: Instant,
}

impl Ground {
    fn new() -> Self {
        Self::with(Settings::default(), |_| {})
    }

    fn with(settings: Settings, before: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        before(&path);
        Self {
            tail: Tail::new([path.clone(), path], settings),
            folder,
            now: Instant::now(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("transcript.jsonl")
    }

    fn write(&self, text: &str) {
        append(&self.path(), text);
    }

    /// Looks until there is nothing more, as the command does.
    fn look(&mut self) {
        while self.tail.look(self.now).more {}
    }

    fn look_after(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.look();
    }
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn report(description: &str) -> String {
    let input = json!({"category": "other", "severity": "warn", "description": description});
    json!({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": "toolu", "name": REPORT_TOOL, "input": input}]}})
    .to_string()
}

fn line(description: &str) -> String {
    report(description) + "\n"
}

/// Runs the steps on the ground and compares what was told, in order and each time counted.
fn check(mut ground: Ground, steps: impl FnOnce(&mut Ground), expected: &[&str]) -> witness::Seen {
    let seen = witness::watch(|| steps(&mut ground));
    assert_eq!(seen.descriptions(), expected);
    assert_eq!(seen.counted(), expected.len() as u64);
    seen
}

fn warnings(seen: &witness::Seen) -> Vec<&str> {
    let told = seen
        .records
        .iter()
        .filter(|record| record.level <= Level::WARN && record.field("action").is_empty());
    told.map(|record| record.field("message")).collect()
}

#[test]
fn what_is_there_and_what_comes_is_told_once() {
    let ground = Ground::with(Settings::default(), |path| append(path, &line("before")));
    let steps = |ground: &mut Ground| {
        ground.look();
        ground.look();
        ground.write(&(line("one") + &line("two")));
        ground.look_after(60);
        ground.look_after(60);
    };
    assert!(warnings(&check(ground, steps, &["before", "one", "two"])).is_empty());
}

#[test]
fn from_the_end_only_what_comes_is_told_and_a_line_that_has_begun_is_left_out() {
    let settings = || Settings {
        from_end: true,
        ..Settings::default()
    };
    let ground = Ground::with(settings(), |path| append(path, &line("before")));
    let later = |ground: &mut Ground| {
        ground.look();
        ground.write(&line("one"));
        ground.look();
    };
    check(ground, later, &["one"]);
    let half = report("half");
    let ground = Ground::with(settings(), |path| append(path, &half[..30]));
    let rest = |ground: &mut Ground| {
        ground.look();
        ground.write(&format!("{}\n", &half[30..]));
        later(ground);
    };
    check(ground, rest, &["one"]);
    // A file that comes later is read from its beginning.
    let appears = |ground: &mut Ground| {
        ground.look();
        ground.write(&line("first"));
        later(ground);
    };
    check(Ground::with(settings(), |_| {}), appears, &["first", "one"]);
}

#[test]
fn a_line_that_is_written_in_pieces_is_told_when_it_is_whole() {
    let steps = |ground: &mut Ground| {
        for piece in line("pieces").as_bytes().chunks(7) {
            ground.write(std::str::from_utf8(piece).unwrap());
            ground.look_after(60);
        }
        ground.write("\n");
        ground.look_after(60);
    };
    check(Ground::new(), steps, &["pieces"]);
}

#[test]
fn the_last_line_is_told_without_its_end_once_it_is_quiet_and_never_twice() {
    let told = |seconds: u64, expected: &[&str]| {
        let steps = |ground: &mut Ground| {
            ground.write(&report("last"));
            ground.look();
            ground.look_after(seconds);
            ground.look_after(seconds);
        };
        check(Ground::new(), steps, expected);
    };
    told(0, &[]);
    told(1, &["last"]);
    let goes_on = |more: &'static str, then: &[&str]| {
        let steps = |ground: &mut Ground| {
            ground.write(&report("last"));
            ground.look();
            ground.look_after(1);
            ground.write(more);
            ground.write(&line("next"));
            ground.look();
            ground.look_after(60);
        };
        check(Ground::new(), steps, then);
    };
    goes_on("\n", &["last", "next"]);
    goes_on("\r\n", &["last", "next"]);
    goes_on("", &["last", "next"]);
}

#[test]
fn what_is_held_at_the_end_is_told_where_it_is_whole() {
    let check = |text: &str, expected: &[&str], warned: usize| {
        let mut ground = Ground::new();
        let seen = witness::watch(|| {
            ground.write(text);
            ground.look();
            ground.tail.finish();
        });
        assert_eq!(seen.descriptions(), expected);
        assert_eq!(warnings(&seen).len(), warned);
    };
    check(&report("last"), &["last"], 0);
    check(&line("last"), &["last"], 0);
    check(r#"{"type": "assistant""#, &[], 1);
}

#[test]
fn a_file_that_comes_later_goes_and_comes_again_is_read_each_time() {
    let steps = |ground: &mut Ground| {
        ground.look();
        ground.write(&line("one"));
        ground.look();
        fs::remove_file(ground.path()).unwrap();
        ground.look();
        ground.look_after(60);
        ground.write(&line("one"));
        ground.look();
    };
    assert!(warnings(&check(Ground::new(), steps, &["one", "one"])).is_empty());
}

#[test]
fn a_file_that_was_renamed_is_read_to_its_end_before_the_new_one() {
    let steps = |ground: &mut Ground| {
        let old = ground.folder.path().join("transcript.jsonl.1");
        ground.write(&line("one"));
        ground.look();
        ground.write(&line("two"));
        fs::rename(ground.path(), &old).unwrap();
        ground.look();
        append(&old, &line("three"));
        ground.write(&line("four"));
        ground.look();
        // Whoever has the old one open may still write to it for a while.
        ground.look_after(4);
        append(&old, &line("five"));
        ground.look_after(4);
        append(&old, &report("six"));
        ground.look_after(4);
        ground.look_after(6);
        append(&old, &line("too late"));
        ground.look_after(1);
    };
    check(
        Ground::new(),
        steps,
        &["one", "two", "three", "four", "five", "six"],
    );
}

#[test]
fn a_file_that_was_quiet_for_long_is_still_read_on_when_it_leaves() {
    let steps = |ground: &mut Ground| {
        let old = ground.folder.path().join("transcript.jsonl.1");
        ground.write(&line("one"));
        ground.look();
        ground.look_after(3600);
        fs::rename(ground.path(), &old).unwrap();
        ground.write(&line("two"));
        ground.look();
        ground.look_after(4);
        append(&old, &line("three"));
        ground.look();
    };
    check(Ground::new(), steps, &["one", "two", "three"]);
}

#[test]
fn half_a_line_of_a_file_that_left_is_said_to_be_lost() {
    let steps = |ground: &mut Ground| {
        ground.write(r#"{"type": "assistant""#);
        ground.look();
        fs::rename(ground.path(), ground.folder.path().join("old")).unwrap();
        ground.write(&line("one"));
        ground.look();
        ground.look_after(60);
    };
    let seen = check(Ground::new(), steps, &["one"]);
    assert_eq!(
        warnings(&seen),
        ["half a line of a transcript is lost: it was rotated away"]
    );
}

#[test]
fn many_rotations_leave_few_files_open() {
    let steps = |ground: &mut Ground| {
        for number in 0..100 {
            ground.write(&line(&number.to_string()));
            ground.look();
            fs::rename(ground.path(), ground.folder.path().join(number.to_string())).unwrap();
        }
        let open = fs::read_dir("/proc/self/fd")
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        assert!(open.filter(|path| path.starts_with(ground.folder.path())).count() <= 6);
    };
    let numbers: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let expected: Vec<&str> = numbers.iter().map(String::as_str).collect();
    check(Ground::new(), steps, &expected);
}

#[test]
fn a_file_that_was_cut_is_read_from_its_beginning_however_it_has_grown_since() {
    let check_with = |again: String, expected: &[&str]| {
        let steps = |ground: &mut Ground| {
            ground.write(&(line("one") + &line("two")));
            ground.look();
            fs::copy(ground.path(), ground.folder.path().join("copy")).unwrap();
            File::options()
                .write(true)
                .open(ground.path())
                .unwrap()
                .set_len(0)
                .unwrap();
            ground.write(&again);
            ground.look();
            ground.look_after(60);
        };
        check(Ground::new(), steps, expected);
    };
    check_with(String::new(), &["one", "two"]);
    check_with(line("3"), &["one", "two", "3"]);
    check_with(line("eno") + &line("owt"), &["one", "two", "eno", "owt"]);
    check_with(
        line("three") + &line("four") + &line("five"),
        &["one", "two", "three", "four", "five"],
    );
}

#[test]
fn half_a_line_that_is_cut_away_is_lost_and_said_to_be() {
    let steps = |ground: &mut Ground| {
        ground.write(r#"{"uuid": "u", "type": "assist"#);
        ground.look();
        fs::write(ground.path(), line("next")).unwrap();
        ground.look();
    };
    let seen = check(Ground::new(), steps, &["next"]);
    assert_eq!(
        warnings(&seen),
        ["half a line of a transcript is lost: the file was cut"]
    );
    let whole = |ground: &mut Ground| {
        ground.write(&report("whole"));
        ground.look();
        fs::write(ground.path(), line("next")).unwrap();
        ground.look();
    };
    check(Ground::new(), whole, &["whole", "next"]);
}

#[test]
fn a_writer_that_keeps_its_place_in_a_cut_file_leaves_a_hole_that_costs_nothing() {
    let steps = |ground: &mut Ground| {
        let mut file = File::create(ground.path()).unwrap();
        file.write_all((line("one") + &line("two")).as_bytes()).unwrap();
        ground.look();
        File::options()
            .write(true)
            .open(ground.path())
            .unwrap()
            .set_len(0)
            .unwrap();
        file.write_all(line("three").as_bytes()).unwrap();
        ground.look();
        file.write_all(line("four").as_bytes()).unwrap();
        ground.look();
    };
    check(Ground::new(), steps, &["one", "two", "three", "four"]);
}

#[test]
fn a_line_that_is_too_long_is_said_once_and_the_next_one_is_read() {
    let settings = Settings {
        longest_line: 300,
        ..Settings::default()
    };
    let steps = |ground: &mut Ground| {
        for _ in 0..10 {
            ground.write(&"x".repeat(100));
            ground.look_after(60);
        }
        ground.write(&format!("{}\n", report("lost")));
        ground.write(&line("next"));
        ground.look();
    };
    let seen = check(Ground::with(settings, |_| {}), steps, &["next"]);
    assert_eq!(warnings(&seen).len(), 1, "{seen:?}");
}

#[test]
fn a_line_of_sixteen_mebibytes_is_read_and_a_longer_one_is_not() {
    let long = |length: usize| {
        let frame = line("").len() - 1;
        line(&"x".repeat(length - frame))
    };
    let most = crate::LONGEST_LINE;
    let steps = |ground: &mut Ground| {
        ground.write(&(long(most + 1) + &line("next") + &long(most) + &line("last")));
        ground.look();
    };
    let seen = witness::watch(|| steps(&mut Ground::new()));
    let told: Vec<usize> = seen.descriptions().into_iter().map(str::len).collect();
    assert_eq!(told, [4, 12 * 1024, 4]);
    assert_eq!(warnings(&seen).len(), 1);
}

#[test]
fn what_is_no_transcript_is_said_once_and_followed_as_soon_as_it_is_one() {
    let check_with = |make: fn(&Path), undo: fn(&Path), warned: usize| {
        let steps = |ground: &mut Ground| {
            for _ in 0..5 {
                ground.look_after(1);
            }
            undo(&ground.path());
            ground.write(&line("one"));
            ground.look();
        };
        let seen = check(Ground::with(Settings::default(), make), steps, &["one"]);
        assert_eq!(warnings(&seen).len(), warned, "{:?}", seen.records);
    };
    check_with(
        |path| fs::create_dir(path).unwrap(),
        |path| fs::remove_dir(path).unwrap(),
        1,
    );
    let fifo = |path: &Path| {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(path)
                .status()
                .unwrap()
                .success()
        );
    };
    check_with(fifo, |path| fs::remove_file(path).unwrap(), 1);
    check_with(
        |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        |path| fs::remove_file(path).unwrap(),
        1,
    );
    check_with(
        |path| std::os::unix::fs::symlink("transcript.jsonl", path).unwrap(),
        |path| fs::remove_file(path).unwrap(),
        1,
    );
    check_with(
        |path| std::os::unix::fs::symlink("nowhere", path).unwrap(),
        |path| fs::remove_file(path).unwrap(),
        0,
    );
}

#[test]
fn a_directory_in_place_of_the_file_leaves_the_file_that_was_there_followed() {
    let steps = |ground: &mut Ground| {
        let old = ground.folder.path().join("old");
        ground.write(&line("one"));
        ground.look();
        fs::rename(ground.path(), &old).unwrap();
        fs::create_dir(ground.path()).unwrap();
        ground.look_after(60);
        append(&old, &line("two"));
        ground.look_after(60);
        fs::remove_dir(ground.path()).unwrap();
        ground.write(&line("three"));
        ground.look_after(60);
    };
    let seen = check(Ground::new(), steps, &["one", "two", "three"]);
    assert_eq!(warnings(&seen).len(), 1);
}

#[test]
fn what_is_no_json_stops_nothing() {
    let steps = |ground: &mut Ground| {
        let mut file = File::create(ground.path()).unwrap();
        file.write_all(b"\xff\xfe garbage\n{\"a\": \n[1]\n\n5\n\0\0\n")
            .unwrap();
        ground.write(&line("one"));
        ground.look();
    };
    assert!(warnings(&check(Ground::new(), steps, &["one"])).is_empty());
}

#[test]
fn one_look_reads_a_little_of_each_file() {
    let folder = tempfile::tempdir().unwrap();
    let (large, small) = (folder.path().join("large"), folder.path().join("small"));
    append(&large, &"{}\n".repeat(2 * 1024 * 1024));
    append(&small, &line("small"));
    let mut tail = Tail::new([large, small], Settings::default());
    let seen = witness::watch(|| {
        tail.look(Instant::now());
        let looked = tail.look(Instant::now());
        assert!(looked.more && looked.bytes < 2 * 1024 * 1024, "{looked:?}");
    });
    assert_eq!(seen.descriptions(), ["small"]);
}

#[test]
fn whoever_writes_the_log_is_given_a_rest_every_few_records() {
    let (told, rests) = std::sync::mpsc::channel();
    let settings = Settings {
        rest: Box::new(move || told.send(()).unwrap()),
        ..Settings::default()
    };
    let steps = |ground: &mut Ground| {
        ground.write(&line("x").repeat(100));
        ground.look();
    };
    witness::watch(|| steps(&mut Ground::with(settings, |_| {})));
    assert_eq!(rests.iter().count(), 100 / (32 / 8));
}

/// What can happen to a transcript.
#[derive(Debug, Clone)]
enum Step {
    /// The agent writes these many bytes of what it has to say.
    Write(usize),
    /// We look, and so much time goes by.
    Look(u64),
    /// The file is renamed, and a new one is begun with the next line.
    Rename,
    /// The file is deleted, and a new one is begun.
    Delete,
    /// The file is cut to nothing.
    Cut,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1usize..400).prop_map(Step::Write),
        4 => (0u64..3).prop_map(Step::Look),
        1 => Just(Step::Rename),
        1 => Just(Step::Delete),
        1 => Just(Step::Cut),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // The promise: a file is looked at once before it goes, and once more before bytes of it are destroyed.
    #[test]
    fn whatever_happens_to_the_files_every_line_is_told_once_and_in_order(steps in steps()) {
        let mut ground = Ground::new();
        let mut said = 0;
        let mut rest = String::new();
        let seen = witness::watch(|| {
            for (number, step) in steps.into_iter().enumerate() {
                let whole = |ground: &Ground, rest: &mut String| ground.write(&std::mem::take(rest));
                match step {
                    Step::Write(bytes) => {
                        while rest.len() < bytes {
                            rest += &line(&format!("line {said}"));
                            said += 1;
                        }
                        let later = rest.split_off(bytes);
                        ground.write(&rest);
                        rest = later;
                    }
                    Step::Look(seconds) => ground.look_after(seconds),
                    Step::Rename => {
                        ground.look();
                        whole(&ground, &mut rest);
                        if ground.path().exists() {
                            let old = ground.folder.path().join(number.to_string());
                            fs::rename(ground.path(), old).unwrap();
                        }
                    }
                    Step::Delete => {
                        ground.look();
                        whole(&ground, &mut rest);
                        drop(fs::remove_file(ground.path()));
                    }
                    Step::Cut => {
                        whole(&ground, &mut rest);
                        ground.look();
                        if let Ok(file) = File::options().write(true).open(ground.path()) {
                            file.set_len(0).unwrap();
                        }
                    }
                }
            }
            ground.write(&rest);
            ground.look();
            ground.tail.finish();
        });
        let expected: Vec<String> = (0..said).map(|number| format!("line {number}")).collect();
        prop_assert_eq!(seen.descriptions(), expected);
        prop_assert_eq!(seen.counted(), said);
        prop_assert_eq!(warnings(&seen), Vec::<&str>::new());
    }
}
