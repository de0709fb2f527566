use super::*;

fn translated(schema: &str) -> (String, bool, Option<String>) {
    let Parameters { json, strict, beside } = parameters(schema.as_bytes()).unwrap();
    (json.get().to_owned(), strict, beside)
}

#[test]
fn only_what_the_api_refuses_is_left_out() {
    let check = |schema: &str, expected: &str| assert_eq!(translated(schema).0, expected, "{schema}");
    check("", r#"{"type":"object","properties":{}}"#);
    check("{}", r#"{"type":"object","properties":{}}"#);
    check(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","x-a":1,"properties":{}}"#,
        r#"{"type":"object","properties":{}}"#,
    );
    // Order, numbers and unknown keywords stay as they are.
    check(
        r#"{"z":1.50,"type":"object","properties":{"b":{"maximum":9007199254740993},"a":{"default":1E2}},"a":[ 1 ]}"#,
        r#"{"z":1.50,"type":"object","properties":{"b":{"maximum":9007199254740993},"a":{"default":1E2}},"a":[ 1 ]}"#,
    );
    // References keep what they refer to.
    check(
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x-y"}},"$defs":{"x-y":{"type":"string","x-z":1}}}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x-y"}},"$defs":{"x-y":{"type":"string"}}}"##,
    );
}

#[test]
fn a_keyword_is_told_from_a_name() {
    let check = |schema: &str, expected: &str| assert_eq!(translated(schema).0, expected, "{schema}");
    // A property may be called anything.
    check(
        r#"{"type":"object","properties":{"x-id":{"x-a":1,"type":"string"},"$schema":{"type":"string"}}}"#,
        r#"{"type":"object","properties":{"x-id":{"type":"string"},"$schema":{"type":"string"}}}"#,
    );
    // A value may hold anything.
    check(
        r#"{"type":"object","properties":{"a":{"default":{"x-a":1},"enum":[{"$schema":1}],"const":{"x-b":2}}}}"#,
        r#"{"type":"object","properties":{"a":{"default":{"x-a":1},"enum":[{"$schema":1}],"const":{"x-b":2}}}}"#,
    );
    check(
        r#"{"type":"object","properties":{"a":{"anyOf":[{"x-a":1,"type":"null"},true],"items":{"x-b":1},"not":{"x-c":1}}}}"#,
        r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},true],"items":{},"not":{}}}}"#,
    );
}

#[test]
fn the_root_is_flat_and_what_stood_there_is_told_beside_it() {
    let (json, strict, beside) = translated(
        r#"{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"],"x-a":1}]}"#,
    );
    assert_eq!(json, r#"{"type":"object","properties":{"a":{},"b":{}}}"#);
    assert!(!strict);
    assert_eq!(
        beside.unwrap(),
        r#"{"anyOf":[{"required":["a"]},{"required":["b"]}]}"#
    );
}

#[test]
fn strict_is_told_only_where_the_same_values_are_accepted() {
    let check = |schema: &str, expected: bool| assert_eq!(translated(schema).1, expected, "{schema}");
    let object = |properties: &str, required: &str| {
        format!(
            r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
        )
    };
    check(
        &object(r#""a":{"type":"string","description":"d"}"#, r#""a""#),
        true,
    );
    check(&object("", ""), true);
    check(r#"{"type":"object","additionalProperties":false}"#, true);
    // An optional argument would have to be filled in.
    check(&object(r#""a":{"type":"string"}"#, ""), false);
    check(
        r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
        false,
    );
    // Open objects, anywhere.
    check(r#"{"type":"object","properties":{},"required":[]}"#, false);
    check(
        &object(r#""a":{"type":"object","properties":{},"required":[]}"#, r#""a""#),
        false,
    );
    check(
        &object(
            r#""a":{"type":"object","properties":{"b":{"type":"null"}},"required":["b"],"additionalProperties":false}"#,
            r#""a""#,
        ),
        true,
    );
    // Keywords that strict mode does not take.
    for keyword in [
        r#""minLength":1"#,
        r#""maxLength":1"#,
        r#""default":"a""#,
        r#""examples":["a"]"#,
        r#""allOf":[]"#,
        r#""not":{}"#,
        r#""if":{}"#,
        r#""dependentRequired":{}"#,
        r#""patternProperties":{}"#,
        r#""unheard":1"#,
        r#""format":"uri""#,
        r#""pattern":"(?=a)""#,
    ] {
        check(
            &object(&format!(r#""a":{{"type":"string",{keyword}}}"#), r#""a""#),
            false,
        );
    }
    check(
        &object(
            r#""a":{"type":["string","null"],"enum":["a",null],"pattern":"^a$"}"#,
            r#""a""#,
        ),
        true,
    );
    check(
        &object(r#""a":{"anyOf":[{"type":"string"},{"type":"null"}]}"#, r#""a""#),
        true,
    );
    check(
        &object(
            r#""a":{"type":"array","items":{"type":"integer","minimum":1}}"#,
            r#""a""#,
        ),
        true,
    );
    check(&object(r#""a":{"type":"array"}"#, r#""a""#), false);
    check(&object(r#""a":true"#, r#""a""#), false);
    check(&object(r#""a":{}"#, r#""a""#), false);
    check(&object(r##""a":{"$ref":"#"}"##, r#""a""#), true);
    check(
        &object(r##""a":{"$ref":"#","description":"d"}"##, r#""a""#),
        false,
    );
    check(
        &object(
            r##""a":{"$ref":"#/properties/b"},"b":{"type":"string"}"##,
            r#""a","b""#,
        ),
        false,
    );
    check(
        r#"{"type":"object","properties":{},"required":[],"additionalProperties":false,"anyOf":[{}]}"#,
        false,
    );
}

#[test]
fn strict_mode_has_limits() {
    let nested = |depth: usize| {
        (1..depth).fold(r#"{"type":"string"}"#.to_owned(), |inner, _| {
            format!(
                r#"{{"type":"object","properties":{{"a":{inner}}},"required":["a"],"additionalProperties":false}}"#
            )
        })
    };
    assert!(translated(&nested(10)).1);
    assert!(!translated(&nested(11)).1);
    assert!(!translated(&nested(100)).1);
    let values = |number: usize| {
        let values: Vec<_> = (0..number).map(|n| n.to_string()).collect();
        format!(
            r#"{{"type":"object","properties":{{"a":{{"type":"integer","enum":[{}]}}}},"required":["a"],"additionalProperties":false}}"#,
            values.join(",")
        )
    };
    assert!(translated(&values(1000)).1);
    assert!(!translated(&values(1001)).1);
}

#[test]
fn an_empty_list_of_arguments_is_completed_for_strict_mode() {
    let (json, strict, _) = translated(r#"{"type":"object","additionalProperties":false}"#);
    assert!(strict);
    assert_eq!(
        json,
        r#"{"type":"object","additionalProperties":false,"properties":{},"required":[]}"#
    );
}
