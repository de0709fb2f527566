use serde_json::json;

use super::*;

#[test]
fn a_number_is_read_however_it_is_spelt() {
    let check = |told: Value, whole: Option<i64>, number: Option<f64>| {
        assert_eq!((as_whole(&told), as_number(&told)), (whole, number), "{told}");
    };
    check(json!(101), Some(101), Some(101.0));
    check(json!("101"), Some(101), Some(101.0));
    check(json!(" 101 "), Some(101), Some(101.0));
    check(json!("0.00"), Some(0), Some(0.0));
    check(json!(1.9), Some(1), Some(1.9));
    check(json!("1e3"), Some(1000), Some(1000.0));
    check(json!(-1), Some(-1), Some(-1.0));
    check(
        json!(9_007_199_254_740_993_i64),
        Some(9_007_199_254_740_993),
        Some(9_007_199_254_740_992.0),
    );
    check(
        json!("9223372036854775807"),
        Some(i64::MAX),
        Some(9.223_372_036_854_776e18),
    );
    check(json!(u64::MAX), None, Some(1.844_674_407_370_955_2e19));
    check(json!("nan"), None, None);
    check(json!("-inf"), None, None);
    check(json!(""), None, None);
    check(json!("many"), None, None);
    check(json!(null), None, None);
    check(json!(true), None, None);
    check(json!([1]), None, None);
}

#[test]
fn a_flag_is_read_however_it_is_spelt() {
    let check = |told: Value, expected: Option<bool>| assert_eq!(as_flag(&told), expected, "{told}");
    for yes in [json!(true), json!(1), json!("1"), json!("true"), json!(1.0)] {
        check(yes, Some(true));
    }
    for no in [json!(false), json!(0), json!("0"), json!("")] {
        check(no, Some(false));
    }
    for odd in [json!(null), json!("maybe"), json!({}), json!([])] {
        check(odd, None);
    }
}

#[test]
fn tags_are_split_at_what_people_type() {
    let check = |told: Value, expected: Value| assert_eq!(json!(tags(&json!({"tags": told}))), expected);
    check(json!("web;prod"), json!(["web", "prod"]));
    check(json!("web, prod;;db "), json!(["web", "prod", "db"]));
    check(json!(7), json!(["7"]));
    check(json!(""), json!([]));
    check(json!(null), json!([]));
    check(json!(["web"]), json!([]));
}

#[test]
fn what_a_row_does_not_tell_is_left_out() {
    const FIELDS: &[Field] = &[
        Field::text("name"),
        Field::whole("mem"),
        Field::number("cpu"),
        Field::flag("agent"),
        Field::text("running-qemu").named("running_qemu"),
    ];
    let row = json!({"name": null, "mem": "12", "cpu": {}, "agent": 1, "running-qemu": "9.0", "extra": 1});
    assert_eq!(
        Value::Object(pick(&row, FIELDS)),
        json!({"mem": 12, "agent": true, "running_qemu": "9.0"})
    );
    for odd in [json!(null), json!([1]), json!("x"), json!(7)] {
        assert!(pick(&odd, FIELDS).is_empty());
    }
}
