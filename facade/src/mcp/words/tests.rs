use super::*;

fn id(text: &str) -> Id {
    Id::read(serde_json::from_str(text).unwrap()).unwrap()
}

#[test]
fn what_a_server_says_stays_as_it_is_but_for_line_ends_between_its_parts() {
    let params = "{ \"z\":9007199254740993,\n\"a\":\"\\u00e9\\n\",\"a\":1.10 }";
    let kept = params.replace('\n', " ");
    let check = |message: Bytes, expected: String| assert_eq!(message, expected.as_bytes());
    check(
        notification("notifications/x\"", params.as_bytes()),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/x\"","params":{kept}}}"#),
    );
    check(
        notification("notifications/y", b""),
        r#"{"jsonrpc":"2.0","method":"notifications/y"}"#.into(),
    );
    check(
        request("s.1", "roots/list", params.as_bytes()),
        format!(r#"{{"jsonrpc":"2.0","id":"s.1","method":"roots/list","params":{kept}}}"#),
    );
    check(
        error(&id("9007199254740993"), br#"{"code":-1,"message":"no","x":[]}"#),
        r#"{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-1,"message":"no","x":[]}}"#.into(),
    );
}

#[test]
fn a_token_takes_the_place_of_the_one_that_is_there() {
    let check = |params: &str, token: &str, expected: Option<&str>| {
        let spliced = with_token(params.as_bytes(), token.as_bytes());
        assert_eq!(spliced.as_deref(), expected.map(str::as_bytes), "{params}");
    };
    check(
        r#"{ "progress" : 1.50, "progressToken" : "toolgate" , "x":{"progressToken":1} }"#,
        "9007199254740993",
        Some(r#"{ "progress" : 1.50, "progressToken" : 9007199254740993 , "x":{"progressToken":1} }"#),
    );
    check(
        r#"{"progressToken":"\u0061"}"#,
        r#""\u0061""#,
        Some(r#"{"progressToken":"\u0061"}"#),
    );
    check(r#"{"progress":1}"#, "1", None);
    check(r#"{"progressToken":1,"progressToken":2}"#, "1", None);
    check("[]", "1", None);
    check("", "1", None);
}

#[test]
fn a_subscription_is_named_by_the_clients_id_where_it_is_named() {
    let check = |object: &'static str, expected: &str| {
        let named = with_subscription(&Bytes::from_static(object.as_bytes()), &id("\"é\\u0031\""));
        assert_eq!(named, expected.as_bytes());
    };
    check(
        r#"{"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId": 7 ,"b":1e400}}"#,
        "{\"_meta\":{\"a\":1,\"io.modelcontextprotocol/subscriptionId\": \"é\\u0031\" ,\"b\":1e400}}",
    );
    for same in [r#"{"_meta":{"a":1}}"#, "{}", r#"{"_meta":7}"#, "", "[]"] {
        check(same, same);
    }
}
