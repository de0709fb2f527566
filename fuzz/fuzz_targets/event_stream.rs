//! Server-sent events of a project's server: the same events wherever the stream is cut, within the limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolgate_relay::project::sse::Decoder;

/// Bytes of one event.
const LIMIT: usize = 1 << 12;

fuzz_target!(|input: (&[u8], Vec<u8>)| {
    let (stream, cuts) = input;
    let whole = Decoder::new(LIMIT).push(stream);
    let (mut pieces, mut rest, mut decoder) = (Vec::new(), stream, Decoder::new(LIMIT));
    for cut in cuts {
        let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
        rest = after;
        match decoder.push(piece) {
            Ok(events) => pieces.extend(events),
            Err(_) => return assert!(whole.is_err()),
        }
    }
    match (decoder.push(rest), whole) {
        (Ok(events), Ok(whole)) => {
            pieces.extend(events);
            assert_eq!(pieces, whole);
            assert!(whole.iter().all(|event| event.data.len() <= LIMIT + 16));
        }
        (last, whole) => assert_eq!(last.is_err(), whole.is_err()),
    }
});
