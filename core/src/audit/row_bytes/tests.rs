use proptest::prelude::*;
use toolgate_contract::ids::{CallId, EventId, TargetId};

use super::*;

/// Any event, in normal form or not.
pub(crate) fn events() -> impl Strategy<Value = Event> {
    let texts = (any::<String>(), any::<String>(), any::<String>(), any::<String>());
    let kinds = (0..EventKind::ALL.len(), 0..Outcome::ALL.len());
    let numbers = (any::<i64>(), any::<i64>(), any::<Option<[u8; 32]>>());
    (texts, kinds, numbers, any::<bool>(), "\\PC{0,300}").prop_map(
        |(texts, (kind, result), (time_us, duration_ms, params_hash), on_target, detail)| Event {
            id: EventId::mint(),
            kind: EventKind::ALL[kind],
            time_us,
            principal: texts.0,
            role: texts.1.clone(),
            facade: texts.1,
            adapter_type: texts.2,
            target_id: on_target.then(TargetId::mint),
            capability: texts.3.clone(),
            params_hash,
            result: Outcome::ALL[result],
            reason: texts.3,
            duration_ms,
            correlation_id: (!on_target).then(CallId::mint),
            detail,
        },
    )
}

/// A plain event, as a call leaves it.
pub(crate) fn event(capability: &str) -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: 1_767_225_600_123_456,
        principal: "anna".into(),
        role: "engineer".into(),
        facade: "rest".into(),
        adapter_type: "ssh".into(),
        target_id: Some(TargetId::mint()),
        capability: capability.into(),
        params_hash: Some([9; 32]),
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 12,
        correlation_id: Some(CallId::mint()),
        detail: String::new(),
    }
}

#[test]
fn the_layout_stays_as_documented() {
    let mut event = event("ssh.run_whitelisted_command");
    event.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    event.target_id = None;
    event.params_hash = None;
    event.correlation_id = None;
    let fields: [&[u8]; 15] = [
        b"01ARZ3NDEKTSV4RRFFQ69G5FAV",
        b"adapter.capability_invoked",
        &1_767_225_600_123_456_i64.to_be_bytes(),
        b"anna",
        b"engineer",
        b"rest",
        b"ssh",
        b"",
        b"ssh.run_whitelisted_command",
        b"",
        b"success",
        b"",
        &12_i64.to_be_bytes(),
        b"",
        b"",
    ];
    let mut expected = vec![1];
    for field in fields {
        expected.extend_from_slice(&[0, 0, 0, u8::try_from(field.len()).unwrap()]);
        expected.extend_from_slice(field);
    }
    assert_eq!(encode(&event), expected);
}

#[test]
fn hostile_texts_reach_the_columns_in_normal_form() {
    let mut event = event("proxmox.\0\u{1b}[31m");
    event.principal = "x".repeat(1000);
    let bytes = encode(&event);
    let columns = Columns::of(&bytes).unwrap();
    assert_eq!(columns.capability, "proxmox.\\u0000\\u001b[31m");
    assert_eq!(columns.principal.len(), 200);
    assert_eq!(
        columns.target_id,
        event.target_id.map(|id| id.to_string()).as_deref()
    );
}

#[test]
fn bytes_that_are_no_row_are_refused_with_the_field() {
    let good = encode(&event("a.b"));
    let check = |bytes: &[u8], expected: RowError| {
        assert_eq!(decode(bytes).unwrap_err(), expected);
        assert_eq!(Columns::of(bytes).unwrap_err(), expected);
    };
    check(&[], RowError::Length(0));
    check(&[2], RowError::Version(2));
    check(&good[..good.len() - 1], RowError::Length(14));
    check(&[&good[..], &[0]].concat(), RowError::Length(15));
    check(&[1, 0xff, 0xff, 0xff, 0xff], RowError::Length(0));
    let mut not_text = good.clone();
    not_text[5] = 0xff;
    check(&not_text, RowError::Value("event_id"));
    let mut raw_control = good;
    let place = raw_control
        .windows(3)
        .position(|window| window == b"a.b")
        .unwrap();
    raw_control[place] = 0;
    assert_eq!(decode(&raw_control), Err(RowError::Value("text")));
}

proptest! {
    #[test]
    fn decoding_is_the_inverse_of_encoding(event in events()) {
        let bytes = encode(&event);
        let decoded = decode(&bytes).unwrap();
        prop_assert_eq!(encode(&decoded), bytes.clone());
        prop_assert_eq!(decode(&encode(&decoded)).unwrap(), decoded.clone());
        let clean = !format!("{}{}{}{}", event.principal, event.role, event.adapter_type, event.capability)
            .contains(char::is_control);
        if clean && event.principal.len() <= 32 && event.role.len() <= 32 && event.capability.len() <= 32 {
            let mut event = event;
            event.adapter_type = decoded.adapter_type.clone();
            prop_assert_eq!(&decoded, &event);
        }
        let columns = Columns::of(&bytes).unwrap();
        prop_assert_eq!(columns.time_us, decoded.time_us);
        prop_assert_eq!(columns.principal, decoded.principal);
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(bytes in any::<Vec<u8>>()) {
        let _ = decode(&bytes);
        let mut with_version = vec![1];
        with_version.extend_from_slice(&bytes);
        let _ = decode(&with_version);
    }

    #[test]
    fn a_changed_byte_never_decodes_to_the_same_event(event in events(), place in any::<prop::sample::Index>(), by in 1u8..) {
        let bytes = encode(&event);
        let mut changed = bytes.clone();
        let place = place.index(changed.len());
        changed[place] = changed[place].wrapping_add(by);
        prop_assert_ne!(decode(&changed).ok(), decode(&bytes).ok());
    }
}
