use percent_encoding::percent_decode_str;
use proptest::prelude::*;

use super::*;

fn base() -> Base {
    Base::parse("https://git.example/forge/api/v1").unwrap()
}

#[test]
fn an_argument_stays_in_its_segment() {
    let check = |segment: &str, expected: &str| {
        let url = ReadPath::of(["repos", segment]).below(&base()).unwrap();
        assert_eq!(
            url.path(),
            format!("/forge/api/v1/repos/{expected}"),
            "{segment:?}"
        );
        assert_eq!(url.query(), None);
    };
    check("web", "web");
    check("../", "..%2F");
    check("../../admin", "..%2F..%2Fadmin");
    check("%2f", "%252f");
    check("%2e%2e", "%252e%252e");
    check("a?x=1", "a%3Fx%3D1");
    check("a#b", "a%23b");
    check("a\r\nX: y", "a%0D%0AX%3A%20y");
    check("a;b&c", "a%3Bb%26c");
    check("\\..\\", "%5C..%5C");
    check("...", "...");
    check("größe", "gr%C3%B6%C3%9Fe");
    check("root@pam!mon", "root%40pam%21mon");
}

#[test]
fn a_segment_that_means_another_place_is_refused() {
    for segment in ["", ".", ".."] {
        assert!(
            ReadPath::of(["repos", segment]).below(&base()).is_err(),
            "{segment:?}"
        );
    }
    assert!(ReadPath::of(["x".repeat(20_000)]).below(&base()).is_err());
}

#[test]
fn a_pair_stays_a_pair_and_nothing_is_left_out() {
    let path = ReadPath::of(["runs"])
        .with("branch", "a&sudo=root#?")
        .with_some("event", None::<String>)
        .with_some("status", Some(""));
    let url = path.below(&base()).unwrap();
    assert_eq!(url.query(), Some("branch=a%26sudo%3Droot%23%3F&status="));
    assert_eq!(url.fragment(), None);
    let empty = ReadPath::default().below(&base()).unwrap();
    assert_eq!(empty.as_str(), "https://git.example/forge/api/v1");
}

proptest! {
    #[test]
    fn what_was_put_into_segments_is_what_stands_there(
        segments in prop::collection::vec(any::<String>(), 0..4),
        value in any::<String>(),
    ) {
        let path = ReadPath::of(segments.clone()).with("q", value.clone());
        if let Ok(url) = path.below(&base()) {
            let below = url.path().strip_prefix("/forge/api/v1").unwrap();
            let decoded: Vec<String> = below.split('/').skip(1)
                .map(|s| percent_decode_str(s).decode_utf8().unwrap().into_owned()).collect();
            prop_assert_eq!(decoded, segments);
            let query = url.query().unwrap().strip_prefix("q=").unwrap();
            prop_assert_eq!(percent_decode_str(query).decode_utf8().unwrap(), value);
        }
    }
}
