use proptest::prelude::*;

use super::{Lines, Piece};

const LONGEST: usize = 16;

/// The lines of these pieces, `TOO LONG` for what is skipped.
fn cut(lines: &mut Lines, pieces: &[&[u8]]) -> Vec<String> {
    let mut found = Vec::new();
    for piece in pieces {
        lines.push(piece, &mut |piece| {
            found.push(match piece {
                Piece::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Piece::TooLong => "TOO LONG".into(),
            });
        });
    }
    found
}

fn check(pieces: &[&str], expected: &[&str]) {
    let pieces: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
    assert_eq!(cut(&mut Lines::new(LONGEST), &pieces), expected, "{pieces:?}");
}

#[test]
fn lines_are_cut_however_their_bytes_come() {
    check(&["one\ntwo\n"], &["one", "two"]);
    check(&["o", "n", "e", "\n", "two"], &["one"]);
    check(&["one\r\n\r\n\n  \ntwo\n"], &["one", "two"]);
    check(&["\0\0\0one\n\0", "\0two\n"], &["one", "two"]);
    check(&[""], &[]);
}

#[test]
fn a_line_that_is_too_long_is_said_once_and_the_next_one_is_read() {
    check(&["0123456789abcdef\nx\n"], &["0123456789abcdef", "x"]);
    check(&["0123456789abcdefg\nx\n"], &["TOO LONG", "x"]);
    check(
        &["0123456789", "abcdefg", "0123456789abcdefg", "rest\nx", "\n"],
        &["TOO LONG", "x"],
    );
}

#[test]
fn in_the_middle_of_a_line_its_rest_is_left_out() {
    assert_eq!(
        cut(&mut Lines::in_the_middle(LONGEST), &[b"rest\none\n"]),
        ["one"]
    );
}

#[test]
fn a_whole_object_without_an_end_is_taken_once() {
    let mut lines = Lines::new(LONGEST);
    assert_eq!(cut(&mut lines, &[b"{\"a\": "]), Vec::<String>::new());
    assert_eq!(lines.take_whole(), None);
    assert_eq!(cut(&mut lines, &[b"1}"]), Vec::<String>::new());
    assert_eq!(lines.take_whole().as_deref(), Some(&b"{\"a\": 1}"[..]));
    assert_eq!(lines.take_whole(), None);
    assert_eq!(cut(&mut lines, &[b"\n{}\n"]), ["{}"]);
}

proptest! {
    #[test]
    fn how_bytes_are_cut_into_pieces_changes_nothing(
        bytes in prop::collection::vec(prop::sample::select(b"ab\n\r \0{}".to_vec()), 0..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.sort_unstable();
        let mut pieces = Vec::new();
        let mut from = 0;
        for to in at {
            pieces.push(&bytes[from..to]);
            from = to;
        }
        pieces.push(&bytes[from..]);
        let mut lines = Lines::new(LONGEST);
        let whole = cut(&mut Lines::new(LONGEST), &[&bytes]);
        prop_assert_eq!(cut(&mut lines, &pieces), whole);
        prop_assert!(lines.held() <= LONGEST);
    }
}
