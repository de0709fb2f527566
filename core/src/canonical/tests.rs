use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn canonical(text: &str) -> String {
    String::from_utf8(CanonicalJson::parse(text.as_bytes()).unwrap().as_bytes().to_vec()).unwrap()
}

#[test]
fn a_text_is_put_in_canonical_form() {
    let check = |input: &str, expected: &str| {
        assert_eq!(canonical(input), expected, "{input}");
        assert_eq!(canonical(expected), expected, "{input}");
    };
    check(" { } ", "{}");
    check("\t[\r\n1 , 2 ]", "[1,2]");
    check(
        r#"{"b":1,"a":{"d":[],"c":null}}"#,
        r#"{"a":{"c":null,"d":[]},"b":1}"#,
    );
    check(r#"{"é":1,"z":2,"Z":3,"":4}"#, r#"{"":4,"Z":3,"z":2,"é":1}"#);
    check(r#"{"\u00e9":1,"\u007a":2}"#, r#"{"z":2,"é":1}"#);
    // U+1F600 sorts after U+FB33 by UTF-8, before it by UTF-16.
    check(
        r#"{"\ud83d\ude00":1,"\ufb33":2}"#,
        "{\"\u{fb33}\":2,\"\u{1f600}\":1}",
    );
}

#[test]
fn keys_sort_by_what_they_are_and_not_by_how_they_are_escaped() {
    assert_eq!(canonical(r#"{"A":1,"\"":2,"\n":3}"#), r#"{"\n":3,"\"":2,"A":1}"#);
}

#[test]
fn number_texts_stay_as_written() {
    for number in [
        "0",
        "-0",
        "-0.0",
        "1e2",
        "1E+2",
        "100",
        "9007199254740993",
        "18446744073709551616",
        "1.10",
        "1e-400",
        "123456789012345678901234567890",
    ] {
        assert_eq!(canonical(number), number);
        assert_eq!(canonical(&format!("[{number}]")), format!("[{number}]"));
    }
}

#[test]
fn strings_carry_only_the_escapes_they_need() {
    assert_eq!(canonical(r#""\u0041\/\u00e9\ud83d\ude00""#), "\"A/é😀\"");
    assert_eq!(
        canonical(r#""\u0000\u001F\u0008\u000c\n\r\t\"\\""#),
        r#""\u0000\u001f\b\f\n\r\t\"\\""#
    );
    assert_eq!(canonical("\"\u{7f}\u{2028}\""), "\"\u{7f}\u{2028}\"");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let check = |input: &str, expected: &str| {
        assert_eq!(
            CanonicalJson::parse(input.as_bytes()).unwrap_err().to_string(),
            expected,
            "{input}"
        );
    };
    check("", "the text ends too early (at byte 0)");
    check("  ", "the text ends too early (at byte 2)");
    check(
        r#"{"a":1,"\u0061":2}"#,
        "/a: the same key twice in one object (at byte 7)",
    );
    check(
        r#"{"x":{"b":1,"a":2,"b":3}}"#,
        "/x/b: the same key twice in one object (at byte 18)",
    );
    check(r#"[0,{"a/~":NaN}]"#, "/1/a~1~0: a value is expected (at byte 10)");
    check("[01]", "/0: not a JSON number (at byte 1)");
    check("[1.]", "/0: not a JSON number (at byte 1)");
    check("-", "not a JSON number (at byte 0)");
    check("+1", "a value is expected (at byte 0)");
    check("1e", "not a JSON number (at byte 0)");
    check(".5", "a value is expected (at byte 0)");
    check("1e400", "a number out of range (at byte 0)");
    check("0x10", "something follows after the value (at byte 1)");
    check("Infinity", "a value is expected (at byte 0)");
    check(r#""\ud800""#, "half of a surrogate pair (at byte 1)");
    check(r#""\udc00\ud800""#, "half of a surrogate pair (at byte 1)");
    check(r#""\ud800\u0041""#, "half of a surrogate pair (at byte 1)");
    check(r#""\x""#, "not a JSON escape (at byte 1)");
    check(r#""\u12g4""#, "not a JSON escape (at byte 1)");
    check(r#""\u12"#, "the text ends too early (at byte 5)");
    check(
        "\"a\0b\"",
        "a raw control character in a string: escape it (at byte 2)",
    );
    check(
        "\"a\nb\"",
        "a raw control character in a string: escape it (at byte 2)",
    );
    check("\"a", "the text ends too early (at byte 2)");
    check(
        "\u{feff}{}",
        "starts with a byte order mark: leave it out (at byte 0)",
    );
    check("{} {}", "something follows after the value (at byte 3)");
    check("{}\0", "something follows after the value (at byte 2)");
    check("{a:1}", "a key in double quotes is expected (at byte 1)");
    check("{'a':1}", "a key in double quotes is expected (at byte 1)");
    check(r#"{"a" 1}"#, "a colon is expected (at byte 5)");
    check(r#"{"a":1,}"#, "a key in double quotes is expected (at byte 7)");
    check("[1,]", "/1: a value is expected (at byte 3)");
    check("[1 2]", "a comma or the closing bracket is expected (at byte 3)");
    check("[1}", "a comma or the closing bracket is expected (at byte 2)");
    check(
        r#"{"secret":truex}"#,
        "a comma or the closing bracket is expected (at byte 14)",
    );
    check("tru", "a value is expected (at byte 0)");
    check("// x", "a value is expected (at byte 0)");
    let bad = CanonicalJson::parse(b"{\"a\":\"\xff\"}").unwrap_err();
    assert_eq!((bad.fault(), bad.offset()), (CanonicalFault::Utf8, 6));
}

#[test]
fn limits_hold_and_their_last_allowed_value_passes() {
    let fault = |text: &str| CanonicalJson::parse(text.as_bytes()).unwrap_err().fault();
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(canonical(&nested(64)), nested(64));
    assert_eq!(fault(&nested(65)), CanonicalFault::TooDeep);
    assert_eq!(fault(&"[".repeat(LONGEST)), CanonicalFault::TooDeep);
    assert_eq!(fault(&r#"{"a":"#.repeat(100_000)), CanonicalFault::TooDeep);
    let items = |count| format!("[{}]", vec!["0"; count].join(","));
    assert_eq!(canonical(&items(9_999)), items(9_999));
    assert_eq!(fault(&items(10_000)), CanonicalFault::TooManyNodes);
    let long = |length| format!("\"{}\"", "x".repeat(length));
    assert_eq!(canonical(&long(LONGEST - 2)), long(LONGEST - 2));
    assert_eq!(fault(&long(LONGEST - 1)), CanonicalFault::TooLong);
}

#[test]
fn an_error_repeats_no_value_and_no_endless_key() {
    let long_key = "k".repeat(1000);
    let text = format!(r#"{{"{long_key}":{{"{long_key}":[{{"a":"hunter2","b":hunter2}}]}}}}"#);
    let error = CanonicalJson::parse(text.as_bytes()).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    let control = CanonicalJson::parse(br#"{"\u001b[2J":x}"#)
        .unwrap_err()
        .to_string();
    assert!(!control.contains('\u{1b}'), "{control:?}");
    let shown = format!("{:?}", CanonicalJson::parse(br#"{"a":"hunter2"}"#).unwrap());
    assert!(!shown.contains("hunter2"));
}

#[test]
fn a_string_member_can_be_taken_out() {
    let check = |input: &str, expected: Option<&str>, rest: &str| {
        let mut json = CanonicalJson::parse(input.as_bytes()).unwrap();
        assert_eq!(json.remove_string("t").unwrap().as_deref(), expected, "{input}");
        assert_eq!(json.as_bytes(), rest.as_bytes(), "{input}");
    };
    check(r#"{"t":"x"}"#, Some("x"), "{}");
    check(r#"{"a":1,"t":"\n"}"#, Some("\n"), r#"{"a":1}"#);
    check(r#"{"t":"x","z":[{"t":1}]}"#, Some("x"), r#"{"z":[{"t":1}]}"#);
    check(
        r#"{"a":"t","t":"x\",\"y","z":2}"#,
        Some("x\",\"y"),
        r#"{"a":"t","z":2}"#,
    );
    check(r#"{"\u0074":"x","b":0}"#, Some("x"), r#"{"b":0}"#);
    check(r#"{"a":{"t":"x"},"tt":"x"}"#, None, r#"{"a":{"t":"x"},"tt":"x"}"#);
    check("{}", None, "{}");
    check("[\"t\",1]", None, "[\"t\",1]");
    check("\"t\"", None, "\"t\"");
    let mut json = CanonicalJson::parse(br#"{"a":0,"t":{"b":1}}"#).unwrap();
    let error = json.remove_string("t").unwrap_err();
    assert_eq!(error.to_string(), "/t: must be a string (at byte 11)");
    assert!(json.is_object() && !CanonicalJson::parse(b"[]").unwrap().is_object());
}

#[test]
fn whole_numbers_reach_the_validator_exactly() {
    let json =
        CanonicalJson::parse(b"[9007199254740993,-9223372036854775808,18446744073709551615,1e2]").unwrap();
    assert_eq!(
        json.to_value(),
        json!([9_007_199_254_740_993_i64, i64::MIN, u64::MAX, 100.0])
    );
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |number| number.is_finite().then(|| Value::from(number))),
        any::<String>().prop_map(Value::from),
        "[\u{0}-\u{24}\\\\\"/é😀]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-cA-C\"\\\\\u{0}é]{0,3}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            let turned = members
                .iter()
                .rev()
                .map(|(key, value)| (key.clone(), reversed(value)));
            Value::Object(turned.collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn the_canonical_form_has_the_same_value_and_is_stable(value in values()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let json = CanonicalJson::parse(text.as_bytes()).unwrap();
        // Read back, because printing and reading a float may end one step beside it.
        let read_back: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(json.to_value(), read_back);
        prop_assert_eq!(CanonicalJson::parse(json.as_bytes()).unwrap(), json);
    }

    #[test]
    fn the_order_of_keys_does_not_matter(value in values()) {
        let one = serde_json::to_vec(&value).unwrap();
        let other = serde_json::to_vec_pretty(&reversed(&value)).unwrap();
        prop_assert_eq!(CanonicalJson::parse(&one).unwrap(), CanonicalJson::parse(&other).unwrap());
    }

    #[test]
    fn any_bytes_are_read_or_refused_as_serde_json_does(
        text in prop_oneof![
            any::<Vec<u8>>(),
            "[\\[\\]{}:,\"\\\\0-9eE+.ntu a-f-]{0,24}".prop_map(String::into_bytes),
        ],
    ) {
        match CanonicalJson::parse(&text) {
            Ok(json) => prop_assert_eq!(Some(json.to_value()), serde_json::from_slice(&text).ok()),
            Err(error) => {
                let stricter = matches!(error.fault(), CanonicalFault::DuplicateKey | CanonicalFault::TooDeep);
                prop_assert!(stricter || serde_json::from_slice::<Value>(&text).is_err(), "{}", error);
                prop_assert!(error.offset() <= text.len());
            }
        }
    }
}
