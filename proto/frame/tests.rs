use proptest::prelude::*;

use super::*;

fn id(text: &str) -> FrameId {
    FrameId::parse(text).expect("an id")
}

fn raw(header: &str, body: &[u8]) -> Bytes {
    let mut message = BytesMut::new();
    message.put_u32(u32::try_from(header.len()).expect("short"));
    message.put_slice(header.as_bytes());
    message.put_slice(body);
    message.freeze()
}

#[test]
fn a_frame_on_the_wire_is_length_header_and_body() {
    let frame = Frame::request(id("s.1"), "tools/call", 10_000, &b"{}"[..]);
    let header = r#"{"v":1,"kind":"request","id":"s.1","method":"tools/call","deadline_ms":10000}"#;
    assert_eq!(frame.encode().expect("encodes"), raw(header, b"{}"));
}

#[test]
fn a_newer_peer_of_the_same_version_is_understood() {
    let frame =
        Frame::decode(raw(r#"{"v":1,"kind":"ping","id":"1","colour":{"a":[1]}}"#, b"")).expect("decodes");
    assert_eq!(frame.header.kind, Kind::Ping);
    let frame = Frame::decode(raw(r#"{"v":1,"kind":"sing","id":"1"}"#, b"")).expect("decodes");
    assert_eq!(frame.header.kind, Kind::Unknown);
    assert_eq!(
        frame.encode(),
        Err(FrameError::Field("kind")),
        "an unknown kind is never sent"
    );
}

#[test]
fn what_is_no_frame_is_named() {
    let long = format!(
        r#"{{"v":1,"kind":"request","id":"1","method":"{}"}}"#,
        "m".repeat(129)
    );
    for (bytes, wanted) in [
        (Bytes::new(), FrameError::Short),
        (Bytes::from_static(&[0, 0, 0]), FrameError::Short),
        (Bytes::from_static(&[0, 0, 0, 9, b'{']), FrameError::Short),
        (Bytes::from_static(&[0xff; 64]), FrameError::HeaderTooLarge),
        (raw("", b""), FrameError::Header),
        (raw("[]", b""), FrameError::Header),
        (
            raw(r#"{"v":"1","kind":"ping","id":"1"}"#, b""),
            FrameError::Header,
        ),
        (raw(r#"{"v":1,"kind":"ping"}"#, b""), FrameError::Header),
        (
            raw(r#"{"v":1,"v":1,"kind":"ping","id":"1"}"#, b""),
            FrameError::Header,
        ),
        (raw(r#"{"v":1,"kind":"ping","id":""}"#, b""), FrameError::Header),
        (
            raw(r#"{"v":1,"kind":"ping","id":"a b"}"#, b""),
            FrameError::Header,
        ),
        (
            raw(r#"{"v":2,"kind":"ping","id":"1"}"#, b""),
            FrameError::Version(2),
        ),
        (raw(r#"{"v":2,"shape":"new"}"#, b""), FrameError::Version(2)),
        (
            raw(r#"{"v":1,"kind":"request","id":"1"}"#, b""),
            FrameError::Field("method"),
        ),
        (
            raw(r#"{"v":1,"kind":"request","id":"1","method":"a b"}"#, b""),
            FrameError::Field("method"),
        ),
        (raw(&long, b""), FrameError::Field("method")),
        (
            raw(r#"{"v":1,"kind":"ping","id":"1","more":true}"#, b""),
            FrameError::Field("more"),
        ),
        (
            raw(
                r#"{"v":1,"kind":"notify","id":"0","method":"m","more":true}"#,
                b"",
            ),
            FrameError::Field("id"),
        ),
        (
            raw(r#"{"v":1,"kind":"ping","id":"1","error":"failed"}"#, b""),
            FrameError::Field("error"),
        ),
        (
            raw(r#"{"v":1,"kind":"ping","id":"1"}"#, &vec![0; MAX_CHUNK + 1]),
            FrameError::BodyTooLarge,
        ),
    ] {
        assert_eq!(Frame::decode(bytes.clone()), Err(wanted), "{bytes:?}");
    }
}

#[test]
fn a_long_body_travels_in_chunks_and_others_pass_in_between() {
    let body: Vec<u8> = (0..MAX_CHUNK * 2 + 5).map(|n| n as u8).collect();
    let long = Frame::new(Kind::Response, id("s.1"), body.clone());
    let mut assembler = Assembler::new(MAX_BODY);
    let mut whole = Vec::new();
    for chunk in long.chunks().expect("fits") {
        let wire = chunk.encode().expect("small enough");
        whole.extend(
            assembler
                .push(Frame::decode(wire).expect("decodes"))
                .expect("joins"),
        );
        let other = Frame::new(Kind::Response, id("s.2"), &b"x"[..]);
        assert_eq!(assembler.push(other.clone()), Ok(Some(other)));
    }
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0].body, body);
    assert!(!whole[0].header.more);
}

#[test]
fn a_long_notification_has_an_id_of_its_own_so_that_two_do_not_mix() {
    let long = |id: FrameId, byte: u8| {
        let mut frame = Frame::notify("notifications/message", vec![byte; MAX_CHUNK + 1]);
        frame.header.id = id;
        frame.chunks()
    };
    assert_eq!(long(FrameId::zero(), 0).err(), Some(FrameError::Field("id")));
    let mut assembler = Assembler::new(MAX_BODY);
    let sent: Vec<Vec<Frame>> = [0, 1]
        .map(|n| long(FrameId::notification(n), n as u8).expect("fits").collect())
        .to_vec();
    let mut whole = Vec::new();
    for chunk in (0..2).flat_map(|at| sent.iter().map(move |chunks: &Vec<Frame>| chunks[at].clone())) {
        whole.extend(assembler.push(chunk).expect("joins"));
    }
    let bodies: Vec<_> = whole.iter().map(|frame| frame.body.clone()).collect();
    assert_eq!(bodies, [vec![0; MAX_CHUNK + 1], vec![1; MAX_CHUNK + 1]]);
}

#[test]
fn joining_is_bounded() {
    let chunk = |name: &str, length: usize| {
        let mut frame = Frame::new(Kind::Response, id(name), vec![0; length]);
        frame.header.more = true;
        frame
    };
    let mut assembler = Assembler::new(MAX_CHUNK);
    assert_eq!(assembler.push(chunk("1", MAX_CHUNK)), Ok(None));
    assert!(
        assembler.push(chunk("2", 1)).is_err(),
        "over the budget of the connection"
    );
    assert!(assembler.push(chunk("1", 1)).is_err());
    assert_eq!(
        assembler.push(chunk("2", MAX_CHUNK)),
        Ok(None),
        "a failed body gives its bytes back"
    );

    let mut assembler = Assembler::new(2 * MAX_BODY);
    for _ in 0..MAX_BODY / MAX_CHUNK {
        assert_eq!(assembler.push(chunk("1", MAX_CHUNK)), Ok(None));
    }
    assert!(
        assembler.push(chunk("1", 1)).is_err(),
        "over the limit of one body"
    );

    let mut assembler = Assembler::new(MAX_BODY);
    for n in 0..MAX_IN_FLIGHT {
        assert_eq!(assembler.push(chunk(&n.to_string(), 1)), Ok(None));
    }
    assert!(assembler.push(chunk("one-more", 1)).is_err());
    assert!(
        assembler.push(chunk("1", 0)).is_err(),
        "empty chunks lead nowhere"
    );
    assert!(
        Frame::new(Kind::Response, id("1"), vec![0; MAX_BODY + 1])
            .chunks()
            .is_err()
    );
    assert!(
        Frame::new(Kind::Ping, id("1"), vec![0; MAX_CHUNK + 1])
            .chunks()
            .is_err()
    );
}

#[test]
fn an_id_belongs_to_one_session_and_has_one_spelling() {
    let (ours, other) = (Session::new(&Octets([1; 32])), Session::new(&Octets([2; 32])));
    assert_eq!(ours.counter(&ours.request(7)), Some(7));
    assert_eq!(other.counter(&ours.request(7)), None);
    let odd = id(&ours.request(7).as_str().replace(".7", ".07"));
    assert_eq!(ours.counter(&odd), None);
}

#[test]
fn every_part_of_a_transcript_changes_what_is_signed() {
    let (a, b) = (Octets([1; 32]), Octets([2; 32]));
    let binding = ChannelBinding([3; 32]);
    let base = Transcript {
        tenant: "local",
        relay: "r",
        relay_key: &a,
        gateway_key: &a,
        relay_nonce: &a,
        gateway_nonce: &a,
        channel: None,
    };
    let variants = [
        base,
        Transcript {
            tenant: "localr",
            relay: "",
            ..base
        },
        Transcript { relay: "s", ..base },
        Transcript {
            relay_key: &b,
            ..base
        },
        Transcript {
            gateway_key: &b,
            ..base
        },
        Transcript {
            relay_nonce: &b,
            ..base
        },
        Transcript {
            gateway_nonce: &b,
            ..base
        },
        Transcript {
            channel: Some(&binding),
            ..base
        },
    ];
    let mut signed: Vec<_> = variants
        .iter()
        .flat_map(|t| [t.gateway_bytes(), t.relay_bytes()])
        .collect();
    let all = signed.len();
    signed.sort();
    signed.dedup();
    assert_eq!(signed.len(), all);
}

#[test]
fn messages_of_the_handshake_survive_the_wire() {
    let hello = Hello {
        tenant: "local".into(),
        relay: None,
        public_key: Octets([1; 32]),
        nonce: Octets([2; 32]),
        offer: Offer::Host,
        name: "db-1".into(),
        software: "toolgate-relay/0.1.0".into(),
    };
    let frame =
        Frame::decode(Frame::message(Kind::Hello, &hello).encode().expect("encodes")).expect("decodes");
    assert_eq!(frame.read::<Hello>(Kind::Hello), Ok(hello));
    assert_eq!(frame.read::<Hello>(Kind::Proof), Err(FrameError::Field("kind")));
    let away = Frame::new(Kind::GoAway, FrameId::zero(), &br#"{"reason":"full_moon"}"#[..]);
    assert_eq!(
        away.read::<GoAway>(Kind::GoAway).expect("reads").reason,
        GoAwayReason::Unknown
    );
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Hello,
        Kind::Challenge,
        Kind::Proof,
        Kind::Ready,
        Kind::Request,
        Kind::Response,
        Kind::Notify,
        Kind::Cancel,
        Kind::Ping,
        Kind::Pong,
        Kind::GoAway,
    ])
}

prop_compose! {
    fn frame()(
        kind in kind(),
        id in "[A-Za-z0-9._-]{1,64}",
        method in "[a-z/]{1,128}",
        deadline_ms in any::<Option<u64>>(),
        trace in prop::option::of("[0-9a-f-]{0,128}"),
        body in prop::collection::vec(any::<u8>(), 0..512),
    ) -> Frame {
        let mut frame = Frame::new(kind, FrameId::parse(&id).expect("an id"), body);
        frame.header.method = kind.has_method().then_some(method);
        frame.header.deadline_ms = deadline_ms;
        frame.header.trace = trace;
        frame
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_undoes_encoding(frame in frame()) {
        let decoded = Frame::decode(frame.encode().expect("encodes"));
        prop_assert_eq!(decoded, Ok(frame));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = Frame::decode(bytes.into());
    }

    #[test]
    fn arbitrary_headers_never_panic(header in "\\PC{0,128}", body in prop::collection::vec(any::<u8>(), 0..16)) {
        let _ = Frame::decode(raw(&header, &body));
    }

    #[test]
    fn a_damaged_frame_decodes_or_errs_but_never_panics(
        frame in frame(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = frame.encode().expect("encodes").to_vec();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let _ = Frame::decode(bytes.into());
    }
}
