use proptest::prelude::*;

use super::{Cutter, Line, Lines};

const LIMIT: usize = 8;

/// Lines as they should be, worked out from the whole input at once.
fn expected(input: &[u8]) -> Vec<Line> {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines.into_iter().filter_map(one).collect()
}

fn one(line: &[u8]) -> Option<Line> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.len() > LIMIT {
        return Some(Line::TooLong);
    }
    let is_blank = line.iter().all(|byte| b" \t\r".contains(byte));
    (!is_blank).then(|| Line::Whole(line.to_vec().into()))
}

fn cut(pieces: &[Vec<u8>]) -> Vec<Line> {
    let mut cutter = Cutter::new(LIMIT);
    let mut lines = Vec::new();
    for piece in pieces {
        cutter.room().extend_from_slice(piece);
        while let Some(line) = cutter.next() {
            lines.push(line);
        }
        let bound = LIMIT + 4;
        assert!(cutter.held.len() <= bound, "nothing over the bound is kept");
    }
    lines.extend(cutter.end());
    lines
}

/// Bytes of the kinds that matter here.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b" ".to_vec()),
        Just("\u{feff}".as_bytes().to_vec()),
        Just("\u{2028}".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn lines_are_the_same_however_the_input_comes_in_pieces(pieces in proptest::collection::vec(piece(), 0..12)) {
        prop_assert_eq!(cut(&pieces), expected(&pieces.concat()));
    }

    #[test]
    fn byte_by_byte_is_the_same_as_at_once(input in piece()) {
        let bytes: Vec<Vec<u8>> = input.iter().map(|byte| vec![*byte]).collect();
        prop_assert_eq!(cut(&bytes), expected(&input));
    }
}

async fn read(input: &[u8], limit: usize) -> Vec<Line> {
    let mut lines = Lines::new(input, limit);
    let mut found = Vec::new();
    while let Some(line) = lines.next().await.expect("memory is read") {
        found.push(line);
    }
    found
}

fn whole(text: &'static str) -> Line {
    Line::Whole(text.into())
}

#[tokio::test]
async fn what_people_and_systems_put_around_a_line_is_no_part_of_it() {
    let cases: [(&[u8], Vec<Line>); 7] = [
        (b"a\nb\n", vec![whole("a"), whole("b")]),
        (b"a\r\n\r\n\n  \t\nb", vec![whole("a"), whole("b")]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", vec![whole("a"), whole("b")]),
        (
            "a\u{2028}b\u{2029}c\u{85}d\n".as_bytes(),
            vec![whole("a\u{2028}b\u{2029}c\u{85}d")],
        ),
        (b"", vec![]),
        (b"\n", vec![]),
        (b"\xff\xfe\n", vec![Line::Whole(b"\xff\xfe"[..].into())]),
    ];
    for (input, lines) in cases {
        assert_eq!(read(input, 100).await, lines, "{input:?}");
    }
}

#[tokio::test]
async fn a_line_over_the_bound_is_told_once_and_the_next_one_is_read() {
    let ten_megabytes = vec![b'x'; 10 << 20];
    let mut input = b"a\n".to_vec();
    input.extend_from_slice(&ten_megabytes);
    input.extend_from_slice(b"\nb\n");
    input.extend_from_slice(&ten_megabytes);
    assert_eq!(
        read(&input, 1 << 20).await,
        [whole("a"), Line::TooLong, whole("b"), Line::TooLong]
    );
    assert_eq!(
        read(b"12345678\r\n123456789\n", LIMIT).await,
        [whole("12345678"), Line::TooLong]
    );
}

#[tokio::test]
async fn a_line_that_never_ends_is_told_while_it_still_comes() {
    let (mut peer, input) = tokio::io::duplex(64);
    let mut lines = Lines::new(input, LIMIT);
    tokio::io::AsyncWriteExt::write_all(&mut peer, &[b'x'; 40])
        .await
        .expect("memory is written");
    assert_eq!(lines.next().await.expect("memory is read"), Some(Line::TooLong));
}
