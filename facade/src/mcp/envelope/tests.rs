use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read_text(text: &str) -> Result<Message, Fault> {
    read(&Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn the_kinds_of_messages_are_told_apart() {
    let check = |text: &str, expected: &str| {
        let kind = match read_text(text).unwrap() {
            Message::Request(request) => format!("request {}", request.method),
            Message::Notification(heard) => format!("notification {}", heard.method),
            Message::Response(_) => "response".into(),
        };
        assert_eq!(kind, expected, "{text}");
    };
    check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request ping");
    check(
        r#" { "method" : "pi\u006eg", "id":"", "params":{}, "jsonrpc":"2.0" } "#,
        "request ping",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"a/b","params":{"x":null}}"#,
        "notification a/b",
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":7}"#, "response");
    check(r#"{"jsonrpc":"2.0","error":{"code":1}}"#, "response");
}

#[test]
fn parameters_stay_the_bytes_they_are() {
    let arguments = r#"{"b": 9007199254740993 ,"a":[1.10,  "\u00e9"]}"#;
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"arguments":{arguments},"name":"n"}}}}"#);
    let Message::Request(request) = read_text(&text).unwrap() else {
        panic!("a request")
    };
    assert_eq!(request.params.arguments.unwrap(), arguments.as_bytes());
    assert_eq!(request.params.name.unwrap(), b"\"n\"".as_slice());
    assert!(request.params.meta.is_none());
}

#[test]
fn a_fault_names_the_request_where_its_id_could_be_read() {
    let check = |text: &str, code: i32, id: Option<&str>| {
        let fault = read_text(text).unwrap_err();
        assert_eq!(fault.code, code, "{text}");
        let id = id.map_or(Value::Null, |id| serde_json::from_str(id).unwrap());
        let written: Value = serde_json::from_slice(&fault.write()).unwrap();
        assert_eq!(written["id"], id, "{text}");
    };
    check(r#"{"jsonrpc":"2.0","id":"7","method":7}"#, -32600, Some("\"7\""));
    check(r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#, -32600, Some("7"));
    check(
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[]}"#,
        -32602,
        Some("7"),
    );
    check(
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":null}"#,
        -32602,
        Some("7"),
    );
    check(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, -32600, None);
    check(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"m"}"#, -32600, None);
    check(r#"{"jsonrpc":"2.0","id":7"#, -32700, None);
    check("\u{feff}{}", -32700, None);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{}7{}}}"#,
        "[".repeat(80),
        "]".repeat(80)
    );
    check(&deep, -32600, Some("7"));
    let full = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":[{}7]}}"#,
        "7,".repeat(20_000)
    );
    check(&full, -32600, Some("7"));
    let deeper = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{}"#,
        "[".repeat(100_000)
    );
    check(&deeper, -32600, None);
    let latin = read(&Bytes::from_static(b"{\"jsonrpc\":\"caf\xe9\"}")).unwrap_err();
    assert_eq!(latin.code, -32700);
}

#[test]
fn an_array_is_a_batch_even_where_its_items_are_the_members_of_a_message() {
    let check = |text: &str, code: i32, told: &str| {
        let fault = read_text(text).unwrap_err();
        assert_eq!(fault.code, code, "{text}");
        assert!(fault.message.contains(told), "{text}: {}", fault.message);
    };
    let batches = [
        "[]",
        r#"["2.0",1,"ping"]"#,
        r#" [ "2.0", 1, "tools/call", {"name":"x"} ]"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    ];
    for batch in batches {
        check(batch, -32600, "batches are not taken");
    }
    check(r#"["2.0",1,"ping""#, -32700, "no JSON");
    for other in ["7", "null", "\"ping\"", "true"] {
        check(other, -32600, "no JSON object");
    }
    check("", -32700, "no JSON");
}

#[test]
fn a_fault_is_one_line_without_raw_control_characters() {
    let text = "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000\\n\\u2028\",\"method\":7}";
    let written = read_text(text).unwrap_err().write();
    assert!(!written.iter().any(|byte| byte.is_ascii_control()));
    let method = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "m".repeat(200));
    let written = read_text(&method).unwrap_err().write();
    assert!(written.len() < 200, "a long method is not echoed");
}

#[test]
fn two_writings_of_one_id_are_equal_and_a_text_is_never_a_number() {
    let key = |raw: &str| Id::read(serde_json::from_str(raw).unwrap()).unwrap().key();
    assert_eq!(key(r#""\u0041""#), key(r#""A""#));
    assert_ne!(key("7"), key("\"7\""));
    assert_eq!(key("7"), IdKey::read(&Bytes::from_static(b"7")).unwrap());
    assert_eq!(IdKey::read(&Bytes::from_static(b"{}")), None);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z_]{0,10}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever comes, it is read or refused, and a refusal is a JSON-RPC error of a known code.
    #[test]
    fn bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(fault) = read(&Bytes::from(bytes)) {
            let written: Value = serde_json::from_slice(&fault.write()).unwrap();
            prop_assert!([-32700, -32600, -32602].contains(&fault.code));
            prop_assert_eq!(&written["jsonrpc"], "2.0");
        }
    }

    /// A well-formed message comes back as what it is, and its arguments and id word for word.
    #[test]
    fn a_request_is_read_word_for_word(
        id in prop_oneof![any::<i64>().prop_map(Value::from), ".{0,20}".prop_map(Value::from)],
        method in "[a-z/]{1,30}",
        arguments in prop::collection::btree_map(".{0,8}", any_json(), 0..5),
    ) {
        let arguments = Value::Object(arguments.into_iter().collect());
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"arguments": arguments}}).to_string();
        let Ok(Message::Request(request)) = read_text(&text) else {
            return Err(TestCaseError::fail(text));
        };
        prop_assert_eq!(request.method, method);
        prop_assert_eq!(request.params.arguments.unwrap(), Bytes::from(arguments.to_string()));
        let mut written = bytes::BytesMut::new();
        request.id.write(&mut written);
        prop_assert_eq!(written.freeze(), Bytes::from(id.to_string()));
    }

    /// JSON that is no request of ours is never taken for one.
    #[test]
    fn other_json_is_no_request(json in any_json()) {
        prop_assert!(read_text(&json.to_string()).is_err());
    }
}
