use proptest::prelude::*;
use prost::Message;
use prost_reflect::{DynamicMessage, ReflectMessage};
use toolgate_contract::v1::{AuditEvent, Stage, Target, Validation};

use super::*;

fn json_fields() -> JsonFields {
    JsonFields::of(toolgate_contract::pool())
}

fn empty(message: &str) -> DynamicMessage {
    DynamicMessage::new(toolgate_contract::pool().get_message_by_name(message).unwrap())
}

/// Reads JSON as a message, sends it as protobuf, and writes what arrives.
fn through(message: &str, json: &str) -> String {
    let mut sent = empty(message);
    read_object(&mut sent, json.as_bytes(), &json_fields()).unwrap();
    let mut received = empty(message);
    received.merge(sent.encode_to_vec().as_slice()).unwrap();
    String::from_utf8(write(&received, &json_fields()).unwrap()).unwrap()
}

#[test]
fn the_marked_bytes_fields_are_known() {
    let fields = json_fields();
    let config = empty("toolgate.v1.Target")
        .descriptor()
        .get_field_by_name("config")
        .unwrap();
    let chunk = empty("toolgate.v1.ExportEventsResponse")
        .descriptor()
        .get_field_by_name("chunk")
        .unwrap();
    assert!(fields.contains(&config) && !fields.contains(&chunk));
}

#[test]
fn what_is_written_is_what_was_read() {
    let check = |message: &str, json: &str, expected: &str| assert_eq!(through(message, json), expected);
    check(
        "toolgate.v1.Stage",
        r#"{"ms":9007199254740993,"name":"r\u00e9ach","ok":true,"reason":""}"#,
        "{\"name\":\"r\u{e9}ach\",\"ok\":true,\"ms\":9007199254740993,\"reason\":\"\"}",
    );
    check(
        "toolgate.v1.Stage",
        r#"{"reason":null}"#,
        r#"{"name":"","ok":false,"ms":0}"#,
    );
    check(
        "toolgate.v1.CreateTargetRequest",
        r#"{"config": { "b" : 1.0, "a":[ ] } ,"credential":null}"#,
        r#"{"type":"","name":"","config":{ "b" : 1.0, "a":[ ] }}"#,
    );
    check(
        "toolgate.v1.GetTargetResponse",
        r#"{"target":{"validation":{"not_provable":["x"],"stages":[{},{"ms":-1}]}}}"#,
        concat!(
            r#"{"target":{"id":"","type":"","name":"","status":"","validation":{"verdict":"","stages":["#,
            r#"{"name":"","ok":false,"ms":0},{"name":"","ok":false,"ms":-1}],"notProvable":["x"],"proven":[],"wider":[]},"#,
            r#""createdAt":"","updatedAt":""}}"#
        ),
    );
}

#[test]
fn values_of_other_kinds_are_refused_at_their_place() {
    let check = |message: &str, json: &str, pointer: &str| {
        let problem = read_object(&mut empty(message), json.as_bytes(), &json_fields()).unwrap_err();
        assert_eq!(problem.failure().violations[0].pointer, pointer, "{json}");
    };
    check("toolgate.v1.Stage", r#"{"ms":"5"}"#, "/ms");
    check("toolgate.v1.Stage", r#"{"ms":5.5}"#, "/ms");
    check("toolgate.v1.Stage", r#"{"ms":9223372036854775808}"#, "/ms");
    check("toolgate.v1.Stage", r#"{"ok":1}"#, "/ok");
    check("toolgate.v1.Stage", r#"{"name":[]}"#, "/name");
    check("toolgate.v1.GetTargetResponse", r#"{"target":[]}"#, "/target");
    check(
        "toolgate.v1.Validation",
        r#"{"stages":[{},{"ms":true}]}"#,
        "/stages/1/ms",
    );
    check("toolgate.v1.Validation", r#"{"stages":[null]}"#, "/stages/0");
    check(
        "toolgate.v1.ExportEventsResponse",
        r#"{"chunk":"AAAA"}"#,
        "/chunk",
    );
    check("toolgate.v1.Failure", r#"{"metadata":{"a":"b"}}"#, "/metadata");
    check("toolgate.v1.Failure", r#"{"reason":"NO_SUCH"}"#, "/reason");
}

proptest! {
    #[test]
    fn any_event_survives_the_way_out_and_in(
        seq in any::<i64>(), event in any::<String>(), principal in any::<String>(), number in any::<i64>(),
    ) {
        let detail = serde_json::to_vec(&serde_json::json!({ event.clone(): number })).unwrap();
        let event = AuditEvent { seq, event, principal, detail: detail.into(), ..AuditEvent::default() };
        let mut dynamic = empty("toolgate.v1.AuditEvent");
        dynamic.merge(event.encode_to_vec().as_slice()).unwrap();
        let written = write(&dynamic, &json_fields()).unwrap();
        let mut read = empty("toolgate.v1.AuditEvent");
        read_object(&mut read, &written, &json_fields()).unwrap();
        prop_assert_eq!(AuditEvent::decode(read.encode_to_vec().as_slice()).unwrap(), event);
    }

    #[test]
    fn any_target_survives_the_way_out_and_in(
        name in any::<String>(), ms in any::<i64>(), ok in any::<bool>(), reason in any::<Option<String>>(),
        pointer in any::<Option<String>>(), not_provable in prop::collection::vec(any::<String>(), 0..4),
    ) {
        let stages = vec![Stage { name: name.clone(), ok, ms, reason, pointer }];
        let validation = Some(Validation {
            verdict: "passed".into(), stages, not_provable, ..Validation::default()
        });
        let target = Target { name, config: "{}".into(), validation, ..Target::default() };
        let mut dynamic = empty("toolgate.v1.Target");
        dynamic.merge(target.encode_to_vec().as_slice()).unwrap();
        let written = write(&dynamic, &json_fields()).unwrap();
        let mut read = empty("toolgate.v1.Target");
        read_object(&mut read, &written, &json_fields()).unwrap();
        prop_assert_eq!(Target::decode(read.encode_to_vec().as_slice()).unwrap(), target);
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = read_object(&mut empty("toolgate.v1.CreateTargetRequest"), &bytes, &json_fields());
    }

    #[test]
    fn an_encoded_query_decodes_to_itself(
        all in prop::collection::vec((any::<String>(), any::<String>()), 1..10),
    ) {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let query: Vec<_> = all.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        prop_assert_eq!(crate::query::pairs(&query.join("&")).unwrap(), all);
    }
}
