use super::*;
use crate::anchor::line::LONGEST;

fn read(folder: &Path) -> Vec<String> {
    let mut lines = Lines::of(folder).unwrap();
    let mut texts = Vec::new();
    while let Some(found) = lines.next().unwrap() {
        texts.push(format!(
            "{}:{} {}",
            found.place.file,
            found.place.line,
            found.text()
        ));
    }
    texts
}

#[test]
fn what_is_appended_is_read_back_in_order_over_days() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    let durable = files.durable();
    assert_eq!(files.file_of("2026-01-01"), ("2026-01-01.ndjson".into(), true));
    files.append("2026-01-01.ndjson", b"a\nb\n").unwrap();
    assert_eq!(files.file_of("2026-01-01"), ("2026-01-01.ndjson".into(), false));
    files.append("2026-01-01.ndjson", b"c\n").unwrap();
    files.append("2026-01-02.ndjson", b"d\n").unwrap();

    assert_eq!(
        read(dir.path()),
        [
            "2026-01-01.ndjson:1 a",
            "2026-01-01.ndjson:2 b",
            "2026-01-01.ndjson:3 c",
            "2026-01-02.ndjson:1 d"
        ]
    );
    let mark = Mark {
        file: "2026-01-02.ndjson".into(),
        length: 2,
    };
    assert_eq!(*durable.borrow(), mark);
    let file = fs::metadata(dir.path().join("2026-01-01.ndjson")).unwrap();
    assert_eq!(file.mode() & 0o777, 0o600);
}

#[test]
fn a_clock_that_goes_back_a_day_begins_no_older_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-02.ndjson", b"a\n").unwrap();
    assert_eq!(files.file_of("2026-01-01"), ("2026-01-02.ndjson".into(), false));
}

#[test]
fn a_line_that_a_crash_cut_short_is_no_line_and_is_cut_off_at_the_next_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026-01-01.ndjson");
    fs::write(&path, "a\nb\nhalf a li").unwrap();
    assert_eq!(read(dir.path()).len(), 2);

    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-01.ndjson", b"c\n").unwrap();

    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\nc\n");
}

#[test]
fn a_file_that_was_removed_or_cut_while_it_is_open_is_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026-01-01.ndjson");
    let mut files = Files::open(dir.path()).unwrap();
    files.append("2026-01-01.ndjson", b"a\n").unwrap();
    fs::remove_file(&path).unwrap();
    files.append("2026-01-01.ndjson", b"b\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "b\n");
    fs::write(&path, "").unwrap();
    files.append("2026-01-01.ndjson", b"c\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "c\n");
}

#[test]
fn a_line_without_end_takes_no_more_memory_than_one_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("2026-01-01.ndjson"), vec![b'x'; 10 * LONGEST]).unwrap();
    assert!(Files::open(dir.path()).is_err());
    let mut lines = Lines::of(dir.path()).unwrap();
    let found = lines.next().unwrap().unwrap();
    assert_eq!(found.bytes.len(), LONGEST + 1);
    assert!(Line::parse(found.text()).is_err());
}

#[test]
fn other_files_of_the_folder_are_left_alone() {
    let check = |name: &str, expected: bool| assert_eq!(is_day_file(name), expected, "{name}");
    check("2026-01-01.ndjson", true);
    check("keys.ndjson", false);
    check("2026-01-01.ndjson.gz", false);
    check("2026-1-01.ndjson", false);
    check("../2026-01-01.ndjson", false);
    check("", false);
}
