//! Lines of an agent's transcript, however they come: whatever is written, lines are cut alike, objects are understood, a
//! report in them is counted under known labels, and what would be logged is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_contract::scrub::scrub_to;
use toolgate_transcript::{CATEGORIES, Lines, Piece, REPORT_TOOL, SEVERITIES, Turns, read};

const LONGEST: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let lines = cut(bytes, bytes.len().max(1));
    assert_eq!(lines, cut(bytes, 1));
    assert_eq!(lines, cut(bytes, 7));
    let mut turns = Turns::default();
    for line in lines.into_iter().flatten() {
        let understood = read(&line, REPORT_TOOL, &mut turns, &mut |block, issue| {
            assert_eq!(block.tool == REPORT_TOOL, issue.is_some());
            if let Some(Ok(report)) = issue {
                let labels = report.labels();
                assert!(CATEGORIES.contains(&labels.category) && SEVERITIES.contains(&labels.severity));
                assert!(scrub_to(&report.description, 64).len() <= 64);
            }
        });
        if let Ok(json) = serde_json::from_slice::<serde_json::Value>(&line) {
            assert_eq!(understood, json.is_object());
        }
    }
});

fn cut(bytes: &[u8], pieces: usize) -> Vec<Option<Vec<u8>>> {
    let mut lines = Lines::new(LONGEST);
    let mut found = Vec::new();
    let mut find = |piece: Piece<'_>| {
        found.push(match piece {
            Piece::Line(line) => Some(line.to_vec()),
            Piece::TooLong => None,
        });
    };
    for piece in bytes.chunks(pieces) {
        lines.push(piece, &mut find);
    }
    if let Some(line) = lines.take_whole() {
        find(Piece::Line(line.trim_ascii()));
    }
    assert!(lines.held() <= LONGEST);
    found
}
