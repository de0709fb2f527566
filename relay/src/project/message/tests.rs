use proptest::prelude::*;

use super::*;

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[test]
fn messages_are_told_apart_and_their_parts_stay_what_they_were() {
    for (text, wanted) in [
        (
            r#" {"jsonrpc":"2.0", "id" : "a\u0062" ,"result": { "n" : 9007199254740993 } } "#,
            Said::Response {
                id: bytes(r#""a\u0062""#),
                answer: Ok(bytes(r#"{ "n" : 9007199254740993 }"#)),
            },
        ),
        (
            r#"{"id":7,"result":null,"x":1}"#,
            Said::Response {
                id: bytes("7"),
                answer: Ok(bytes("null")),
            },
        ),
        (
            r#"{"id":null,"error":{"code":-32700,"message":"?"}}"#,
            Said::Response {
                id: bytes("null"),
                answer: Err(bytes(r#"{"code":-32700,"message":"?"}"#)),
            },
        ),
        (
            r#"{"id":1.50,"method":"roots\u002flist"}"#,
            Said::Request {
                id: bytes("1.50"),
                method: "roots/list".to_owned(),
                params: None,
            },
        ),
        (
            r#"{"method":"notifications/message","params":{"a":[1e400,"\ud800"]}}"#,
            Said::Notification {
                method: "notifications/message".to_owned(),
                params: Some(bytes(r#"{"a":[1e400,"\ud800"]}"#)),
            },
        ),
    ] {
        assert_eq!(read(&bytes(text)), Ok(vec![wanted]), "{text}");
    }
}

#[test]
fn a_batch_is_its_messages_and_rubbish_in_it_harms_none() {
    let batch = bytes(r#"[{"id":1,"result":{}},7,{"method":"a"},{"id":1,"result":{},"error":{}}]"#);
    let said = read(&batch).expect("a batch");
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn other_texts_are_no_messages() {
    for text in [
        "",
        "null",
        "{}",
        "hello",
        "{\"id\":1}",
        "{\"id\":1,\"id\":2,\"result\":{}}",
        "[",
        "{\"method\":7}",
    ] {
        assert_eq!(read(&bytes(text)), Err(Unreadable), "{text}");
    }
    assert_eq!(
        read(&Bytes::from_static(b"{\"method\":\"\xff\"}")),
        Err(Unreadable)
    );
}

#[test]
fn json_on_several_lines_becomes_one_and_texts_in_it_stay() {
    let one = on_one_line(bytes("{\r\n \"a\": \"b\\nc\"\n}"));
    assert_eq!(one, bytes("{   \"a\": \"b\\nc\" }"));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(id in any::<u64>(), method in "[ -~]{1,30}", text in ".{0,30}") {
        let params = format!(r#"{{"t":{}}}"#, quoted(&text));
        let said = read(&request(id, &method, &params)).expect("a message");
        let wanted = Said::Request { id: bytes(&id.to_string()), method: method.clone(), params: Some(bytes(&params)) };
        prop_assert_eq!(said, vec![wanted]);
        let written = request(id, "tools/call", &params);
        prop_assert_eq!(params_of(&written), &params[..]);
        let said = read(&response(b"\"x\"", Ok(params.as_bytes()))).expect("a message");
        prop_assert_eq!(said, vec![Said::Response { id: bytes("\"x\""), answer: Ok(bytes(&params)) }]);
    }
}
