use proptest::prelude::*;

use super::*;

fn headers(lines: &[&[u8]]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(header::COOKIE, HeaderValue::from_bytes(line).unwrap());
    }
    headers
}

#[test]
fn the_cookie_is_found_among_whatever_others_set() {
    let check = |lines: &[&str], expected: Result<Option<&str>, Twice>| {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let headers = headers(&lines);
        assert_eq!(
            find(&headers, COOKIE),
            expected.map(|value| value.map(str::as_bytes)),
            "{lines:?}"
        );
    };
    check(&[], Ok(None));
    check(&[""], Ok(None));
    check(&["__Host-toolgate=tgs_a_b"], Ok(Some("tgs_a_b")));
    check(&["a=b; __Host-toolgate=tgs_a_b; c=d"], Ok(Some("tgs_a_b")));
    check(&["a=b;__Host-toolgate=tgs_a_b;c=d"], Ok(Some("tgs_a_b")));
    check(&["a=b", "__Host-toolgate=tgs_a_b"], Ok(Some("tgs_a_b")));
    check(&[" \t__Host-toolgate\t= tgs_a_b ;"], Ok(Some("tgs_a_b")));
    check(&["__Host-toolgate=a=b"], Ok(Some("a=b")));
    // A cookie that was taken back.
    check(&["__Host-toolgate="], Ok(None));
    check(&["__Host-toolgate"], Ok(None));
    check(&["theme=dark; x"], Ok(None));
    // Names are compared to the byte, so none that a browser would let another host set is ours.
    check(&["__host-toolgate=a"], Ok(None));
    check(&["__Host-toolgate2=a"], Ok(None));
    check(&["x__Host-toolgate=a"], Ok(None));
    check(&["__Secure-toolgate=a; toolgate=b"], Ok(None));
    check(&["=__Host-toolgate=a"], Ok(None));
    check(&["a=\"; __Host-toolgate=b; \""], Ok(Some("b")));
    // Quotes are part of the value, and no token of ours has any.
    check(&["__Host-toolgate=\"tgs_a_b\""], Ok(Some("\"tgs_a_b\"")));
    check(&["__Host-toolgate=a; __Host-toolgate=b"], Err(Twice));
    check(&["__Host-toolgate=a", "__Host-toolgate=a"], Err(Twice));
    check(&["__Host-toolgate=; __Host-toolgate=a"], Err(Twice));
}

#[test]
fn bytes_that_are_no_text_in_other_cookies_hide_nothing() {
    let headers = headers(&[b"a=\xff\xfe; __Host-toolgate=tgs_a_b; \x80=\x81"]);
    assert_eq!(find(&headers, COOKIE), Ok(Some(&b"tgs_a_b"[..])));
}

#[test]
fn a_session_is_given_to_this_host_alone_and_taken_back() {
    let given = given("tgs_a_b").unwrap();
    assert_eq!(
        given,
        "__Host-toolgate=tgs_a_b; Path=/; Secure; HttpOnly; SameSite=Lax"
    );
    assert!(given.is_sensitive() && !format!("{given:?}").contains("tgs_"));
    assert_eq!(
        taken_back(),
        "__Host-toolgate=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0"
    );
    assert!(super::given("tgs_a\r\nset-cookie: x=y").is_err());
}

proptest! {
    #[test]
    fn what_is_sent_once_is_found_whatever_stands_around_it(
        before in proptest::collection::vec("[a-z_-]{1,8}=[ -:<-~]{0,12}", 0..4),
        value in "[A-Za-z0-9_-]{1,60}",
        after in proptest::collection::vec("[a-z_-]{1,8}=[ -:<-~]{0,12}", 0..4),
        lines in any::<bool>(),
    ) {
        let ours = format!("{COOKIE}={value}");
        let pairs: Vec<String> = before.into_iter().chain([ours]).chain(after).collect();
        let headers = match lines {
            true => headers(&pairs.iter().map(|pair| pair.as_bytes()).collect::<Vec<_>>()),
            false => headers(&[pairs.join("; ").as_bytes()]),
        };
        prop_assert_eq!(find(&headers, COOKIE), Ok(Some(value.as_bytes())));
    }

    #[test]
    fn any_bytes_are_read_without_a_fault_and_two_are_never_one(
        line in proptest::collection::vec(0x20_u8..=0xff, 0..200).prop_map(|mut line| {
            line.retain(|byte| *byte != 0x7f);
            line
        }),
    ) {
        let asked = headers(&[&line]);
        let found = find(&asked, COOKIE);
        if let Ok(Some(value)) = found {
            prop_assert!(!value.contains(&b';'));
        }
        let ours = [COOKIE.as_bytes(), b"=a"].concat();
        if found.is_ok_and(|value| value.is_some()) {
            let asked = headers(&[&line, &ours]);
            prop_assert_eq!(find(&asked, COOKIE), Err(Twice));
        }
    }
}
