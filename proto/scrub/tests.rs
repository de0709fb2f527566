use proptest::prelude::*;

use super::{scrub, scrub_to};

#[test]
fn what_looks_like_a_secret_goes_and_what_it_stood_in_stays() {
    let check = |text: &str, expected: &str| assert_eq!(scrub(text), expected, "{text}");
    check("got tgk_01J8Z_abc-DEF from the pod", "got *** from the pod");
    check("tge_x tgs_y", "*** ***");
    check("ghp_0123456789abcdefghij0123456789abcdef", "***");
    check("github_pat_11ABC_def failed", "*** failed");
    check("key sk-ant-api03-abcDEF_123", "key ***");
    check("glpat-abcdefghij0123456789 and xoxb-123456789-abc", "*** and ***");
    check("hvs.CAESIJ1234567890", "***");
    check("AKIAIOSFODNN7EXAMPLE", "***");
    check("AIzaSyA1234567890abcdefghijklmnopqrstuv", "***");
    check("jwt eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl!", "jwt ***!");
    check("Authorization: Bearer abc.def", "Authorization: ***");
    check("-H 'Authorization: token 9f8e'", "-H 'Authorization: ***'");
    check(
        r#"{"authorization": "Basic dXNlcg=="}"#,
        r#"{"authorization": "***"}"#,
    );
    check("Cookie: a=b; c=d\nnext", "Cookie: ***\nnext");
    check("X-Api-Key: 12345", "X-Api-Key: ***");
    check("sent bearer abcdefgh to it", "sent bearer *** to it");
    check("basic dXNlcjpwYXNzd29yZA==", "basic ***");
    check("https://user:p@ss@host/a?b=c", "https://***@host/a?b=c");
    check("postgres://app:pw@db:5432/x", "postgres://***@db:5432/x");
    check(
        "https://x-access-token@github.example/a.git",
        "https://***@github.example/a.git",
    );
    check("password=hunter2, then", "password=***, then");
    check("PGPASSWORD: hunter2", "PGPASSWORD: ***");
    check(
        r#"{"client_secret":"a b c","x":1}"#,
        r#"{"client_secret":"***","x":1}"#,
    );
    // The backslash of the closing quote goes along.
    check(r#"{\"api_key\": \"abc\"}"#, r#"{\"api_key\": \"***"}"#);
    check("?token=abc&page=2", "?token=***&page=2");
    check(
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG",
        "AWS_SECRET_ACCESS_KEY=***",
    );
    check(
        "login --password hunter2 --user me",
        "login --password *** --user me",
    );
    check(
        "a -----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY----- z",
        "a *** z",
    );
    check("a -----BEGIN RSA PRIVATE KEY-----\\nMIIE cut", "a ***");
    check("PVEAPIToken=a@pve!t=12-34 x", "*** x");
}

#[test]
fn what_tells_of_the_fault_stays() {
    for text in [
        "memory and graph disagree about entity repo/a:42",
        "the tool code_search returned 500 three times",
        "commit 5f43a04297b6990d1c2b3a4f5e6d7c8b9a0f1e2d is missing",
        "directive 3 contradicts directive 7; task-something stays",
        "see https://host.example/a@b?c=d and mail@host.example",
        "risk-averse askew skip sk-1",
        "",
    ] {
        assert_eq!(scrub(text), text);
    }
}

#[test]
fn a_long_text_is_cut_after_it_was_scrubbed_and_says_so() {
    assert_eq!(scrub_to("short", 5), "short");
    assert_eq!(scrub_to("longer", 5), "lo…");
    assert_eq!(scrub_to("aäää", 6), "aä…");
    let secret = format!("{} ghp_{}", "x".repeat(20), "a".repeat(36));
    assert_eq!(scrub_to(&secret, 28), format!("{} ***", "x".repeat(20)));
}

proptest! {
    #[test]
    fn a_secret_is_found_wherever_it_stands(
        before in "[ -~]{0,40}",
        after in "[ -~]{0,40}",
        tail in "[A-Za-z0-9]{36}",
        kind in prop::sample::select(vec!["ghp_", "tgk_", "sk-", "github_pat_", "Bearer ", "password=", "ASIA", "eyJhbGciOiJI."]),
    ) {
        let secret = if kind == "ASIA" { tail.to_uppercase() } else { tail };
        let text = format!("{before} {kind}{secret} {after}");
        prop_assert!(!scrub(&text).contains(&secret), "{}", scrub(&text));
    }

    #[test]
    fn whatever_is_scrubbed_is_no_longer_than_asked_and_scrubs_to_itself(text in any::<String>(), longest in 3usize..64) {
        let once = scrub(&text).into_owned();
        prop_assert_eq!(scrub(&once), once.as_str());
        prop_assert!(scrub_to(&text, longest).len() <= longest);
    }
}
