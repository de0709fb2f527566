use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

#[test]
fn a_member_is_taken_out_with_one_comma_and_nothing_else() {
    for (object, key, left, value) in [
        (r#"{"a":1,"b":2,"c":3}"#, "a", r#"{"b":2,"c":3}"#, "1"),
        (r#"{"a":1,"b":2,"c":3}"#, "b", r#"{"a":1,"c":3}"#, "2"),
        (r#"{"a":1,"b":2,"c":3}"#, "c", r#"{"a":1,"b":2}"#, "3"),
        (r#"{"a":1}"#, "a", "{}", "1"),
        (
            r#" { "a" : [1, {"b":2}] , "b" : 9007199254740993 } "#,
            "a",
            r#" { "b" : 9007199254740993 } "#,
            r#"[1, {"b":2}]"#,
        ),
        (r#"{"b":"a\"","\u0061\\":"x"}"#, "a\\", r#"{"b":"a\""}"#, r#""x""#),
        (r#"{"\\\"k":{"k":1},"k":2}"#, "k", r#"{"\\\"k":{"k":1}}"#, "2"),
        (r#"{"k":2,"\\\"k":1}"#, "\\\"k", r#"{"k":2}"#, "1"),
    ] {
        let (found, had) = without(object, key).expect("an object");
        assert_eq!((&*found, had), (left, Some(value)), "{object}");
    }
    assert_eq!(
        without(r#"{"a":1}"#, "b"),
        Ok((Cow::Borrowed(r#"{"a":1}"#), None))
    );
}

#[test]
fn a_member_is_put_in_its_place_or_behind_the_last_one() {
    for (object, key, value, expected) in [
        ("{}", "a", "1", r#"{"a":1}"#),
        ("{ }", "a", "1", r#"{"a":1 }"#),
        (r#"{"b":2 }"#, "a", "1", r#"{"b":2,"a":1 }"#),
        (r#"{"a": 5,"b":2}"#, "a", "[]", r#"{"a": [],"b":2}"#),
    ] {
        assert_eq!(with(object, key, value).as_deref(), Ok(expected), "{object}");
    }
    assert_eq!(
        with_at("{}", &["_meta", "t"], "7").as_deref(),
        Ok(r#"{"_meta":{"t":7}}"#)
    );
    assert_eq!(
        with_at(r#"{"_meta":{"x":1},"a":2}"#, &["_meta", "t"], "7").as_deref(),
        Ok(r#"{"_meta":{"x":1,"t":7},"a":2}"#)
    );
    assert_eq!(at(r#"{"_meta":{"x":[1]}}"#, &["_meta", "x"]), Ok(Some("[1]")));
    assert_eq!(at(r#"{"_meta":{"x":[1]}}"#, &["_meta", "y"]), Ok(None));
}

#[test]
fn what_two_readers_could_see_differently_is_refused() {
    for text in ["", "[]", "null", "1", r#"{"a":1"#, r#"{"a":1}{}"#, "{a:1}"] {
        assert_eq!(members(text), Err(SpliceError::Shape), "{text}");
        assert_eq!(with(text, "a", "1"), Err(SpliceError::Shape), "{text}");
    }
    assert_eq!(member(r#"{"a":1,"\u0061":2}"#, "a"), Err(SpliceError::Doubled));
    assert_eq!(without(r#"{"a":1,"a":2}"#, "a"), Err(SpliceError::Doubled));
    assert_eq!(member(r#"{"a":1,"a":2,"b":3}"#, "b"), Ok(Some("3")));
    assert_eq!(
        with_at(r#"{"_meta":5}"#, &["_meta", "t"], "1"),
        Err(SpliceError::Shape)
    );
    assert_eq!(elements(r#"[1, "a" ,{}]"#), Ok(vec!["1", r#""a""#, "{}"]));
    assert_eq!(elements("{}"), Err(SpliceError::Shape));
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        r#"[\\"{},: ]{0,6}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner).prop_map(Value::Object),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![r#"[\\"{},: a-c]{0,5}"#, ".{0,4}"];
    proptest::collection::vec((key, inner), 0..5).prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    #[test]
    fn an_edited_object_differs_in_the_one_member_only(
        object in object(json()).prop_filter("holds something", |object| !object.is_empty()),
        index in any::<proptest::sample::Index>(),
        pretty in any::<bool>(),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) };
        let text = text.expect("writes");
        let key = object.keys().nth(index.index(object.len())).expect("a key").clone();
        let (left, had) = without(&text, &key).expect("an object");
        let mut expected = object.clone();
        let value = expected.shift_remove(&key).expect("there");
        prop_assert_eq!(serde_json::from_str::<Value>(had.expect("there")).expect("json"), value);
        let read: Map<String, Value> = serde_json::from_str(&left).expect("still an object");
        prop_assert!(read.iter().eq(expected.iter()), "{} without {:?} became {}", text, key, left);
        // What is left is the text but for one stretch of it.
        let same = text.bytes().zip(left.bytes()).take_while(|(one, other)| one == other).count();
        prop_assert!(text.as_bytes().ends_with(&left.as_bytes()[same..]));
        let back = with(&left, &key, had.expect("there")).expect("an object");
        let read: Map<String, Value> = serde_json::from_str(&back).expect("an object again");
        prop_assert_eq!(read, object);
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[\\"{}\[\],:a0 ]{0,24}"#, key in r#"[\\"a]{0,3}"#) {
        let _ = (members(&text), elements(&text), without(&text, &key), with_at(&text, &[&key, &key], "1"));
    }
}
