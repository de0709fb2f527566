use super::sentence;

fn check(fields: &[&str], results: &[&str], expected: &str) {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(sentence(&owned(fields), &owned(results)), expected);
}

#[test]
fn the_values_of_the_fields_are_quoted_once_each_and_in_order() {
    let data =
        r#"{"repos": [{"name": "shop", "owner": {"name": "acme"}}, {"name": "shop"}, {"name": "größe"}]}"#;
    check(&["name"], &[data], "The tools answered: shop, acme, größe.");
    check(
        &["name"],
        &[r#"{"name": "a"}"#, r#"{"name": "b"}"#],
        "The tools answered: a, b.",
    );
}

#[test]
fn where_there_is_no_such_field_the_answer_is_quoted_whole() {
    check(&["name"], &["plain text"], "The tools answered: plain text");
    check(
        &["name"],
        &[r#"{"id": 9007199254740993}"#],
        r#"The tools answered: {"id": 9007199254740993}"#,
    );
    check(
        &["name"],
        &[r#"{"name": 3}"#],
        r#"The tools answered: {"name": 3}"#,
    );
    check(&["name"], &[], "No tool has answered.");
}

#[test]
fn a_long_answer_is_cut() {
    let long = "x".repeat(1 << 20);
    assert!(sentence(&[], std::slice::from_ref(&long)).len() < 5_000);
    assert!(sentence(&["name".into()], &[format!(r#"{{"name": "{long}"}}"#)]).len() <= 64 * 1024);
}
