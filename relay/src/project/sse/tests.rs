use proptest::prelude::*;

use super::*;

const STREAM: &str = "\u{feff}: hello\n\nid: 1-1\nevent: message\ndata: {\"a\":1,\r\ndata:\"ü\":2}\r\n\r\n\
                      :\nretry: 5\ndata\n\nevent: done\rdata: {}\r\revent: nothing\n\n";

fn expected() -> Vec<Event> {
    let event = |name: &'static str, data: &'static str| Event {
        name: Bytes::from_static(name.as_bytes()),
        data: Bytes::from_static(data.as_bytes()),
    };
    vec![
        event("message", "{\"a\":1,\n\"ü\":2}"),
        event("", ""),
        event("done", "{}"),
    ]
}

#[test]
fn events_are_the_same_wherever_the_stream_is_cut() {
    for cut in 0..=STREAM.len() {
        let (first, second) = STREAM.as_bytes().split_at(cut);
        let mut decoder = Decoder::new(100);
        let mut events = decoder.push(first).expect("short");
        events.extend(decoder.push(second).expect("short"));
        assert_eq!(events, expected(), "cut at {cut}");
        assert_eq!(decoder.last_id().map(|id| &id[..]), Some(&b"1-1"[..]));
        assert_eq!(decoder.retry(), Some(Duration::from_millis(5)));
    }
}

#[test]
fn endless_lines_and_endless_events_are_refused() {
    assert_eq!(Decoder::new(1000).push(&[b'x'; 1017]), Err(TooLarge));
    let mut decoder = Decoder::new(1000);
    let outcome = (0..1000).try_for_each(|_| decoder.push(b"data: 0123456789\n").map(drop));
    assert_eq!(outcome, Err(TooLarge));
}

#[test]
fn a_server_cannot_make_a_reader_wait_for_ever() {
    let mut decoder = Decoder::new(100);
    decoder
        .push(b"retry: 99999999999999999999999\n\n")
        .expect("short");
    assert_eq!(decoder.retry(), Some(LONGEST_RETRY));
    decoder.push(b"retry: soon\n\n").expect("short");
    assert_eq!(decoder.retry(), Some(LONGEST_RETRY));
}

proptest! {
    #[test]
    fn data_comes_back_to_the_byte_however_it_was_cut(
        data in prop::collection::vec("[^\r\n]{0,40}", 1..5),
        cuts in prop::collection::vec(1usize..30, 0..20),
    ) {
        let mut stream = String::new();
        for line in &data {
            stream += &format!("data: {line}\n");
        }
        stream += "\n";
        let mut decoder = Decoder::new(10_000);
        let (mut events, mut rest) = (Vec::new(), stream.as_bytes());
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            events.extend(decoder.push(piece).expect("short"));
            rest = after;
        }
        events.extend(decoder.push(rest).expect("short"));
        let joined = data.join("\n");
        prop_assert_eq!(events, vec![Event { name: Bytes::new(), data: joined.into() }]);
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = Decoder::new(100).push(&bytes);
    }
}
