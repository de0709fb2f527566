use proptest::prelude::*;

use super::*;

/// A reader that gives its bytes in pieces.
fn pieces(pieces: &[Vec<u8>]) -> impl AsyncRead + Unpin + use<'_> {
    let stream = futures::stream::iter(
        pieces
            .iter()
            .cloned()
            .map(|piece| Ok::<_, io::Error>(Bytes::from(piece))),
    );
    tokio_util::io::StreamReader::new(stream)
}

fn all(pieces_of: &[Vec<u8>], limit: usize) -> Vec<Line> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut lines = Lines::new(pieces(pieces_of), limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.expect("reads") {
            all.push(line);
        }
        all
    })
}

fn whole(text: &str) -> Line {
    Line::Whole(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn lines_come_whole_however_they_were_cut_and_the_last_needs_no_end() {
    let cut = [b"{\"a\"".to_vec(), b":1}\r\n\n{\"b".to_vec(), b"\":2}".to_vec()];
    assert_eq!(
        all(&cut, 100),
        [whole("{\"a\":1}"), whole(""), whole("{\"b\":2}")]
    );
    assert_eq!(all(&[], 100), []);
}

#[test]
fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
    let long = [vec![b'x'; 3000], vec![b'y'; 3000], b"end\nnext\n".to_vec()];
    let lines = all(&long, 1000);
    let [Line::TooLong { head, tail }, next] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(head.starts_with(b"xx") && tail.ends_with(b"yend"));
    assert!(head.len() + tail.len() <= 2 * GLIMPSE);
    assert_eq!(*next, whole("next"));
}

proptest! {
    #[test]
    fn nothing_is_lost_or_added(text in "[a-z\n]{0,300}", cuts in prop::collection::vec(1usize..40, 0..12)) {
        let mut rest = text.as_bytes();
        let mut cut = Vec::new();
        for length in cuts {
            let (piece, after) = rest.split_at(length.min(rest.len()));
            if !piece.is_empty() {
                cut.push(piece.to_vec());
            }
            rest = after;
        }
        if !rest.is_empty() {
            cut.push(rest.to_vec());
        }
        let wanted: Vec<Line> = text.strip_suffix('\n').unwrap_or(&text).split('\n').map(whole).collect();
        let wanted = if text.is_empty() { Vec::new() } else { wanted };
        prop_assert_eq!(all(&cut, 1000), wanted);
    }
}
