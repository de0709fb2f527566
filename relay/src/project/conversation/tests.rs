use super::*;

#[test]
fn a_progress_token_is_swapped_where_it_stands_and_nothing_else_is() {
    for (params, id, wanted, token) in [
        ("{}", 7, "{}", None),
        (r#"{"_meta":{}, "a":1.0}"#, 7, r#"{"_meta":{}, "a":1.0}"#, None),
        (
            r#"{"a":[1] ,"_meta":{"x":"progressToken","progressToken": "t\u0031" }}"#,
            12,
            r#"{"a":[1] ,"_meta":{"x":"progressToken","progressToken": 12 }}"#,
            Some(r#""t\u0031""#),
        ),
    ] {
        let swapped = with_own_token(params, id).expect("an object");
        assert_eq!(swapped, (wanted.to_owned(), token.map(str::to_owned)));
    }
    assert!(with_own_token(r#"{"_meta":7}"#, 1).is_err());
    assert!(with_own_token(r#"{"_meta":{},"_meta":{}}"#, 1).is_err());
}

#[test]
fn ids_come_back_as_numbers_or_as_texts_of_them() {
    for (text, wanted) in [
        ("7", Some(7)),
        (r#""7""#, Some(7)),
        ("7.0", None),
        ("-1", None),
        (r#""a""#, None),
    ] {
        assert_eq!(number(text), wanted, "{text}");
    }
}
