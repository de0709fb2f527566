//! Spellings of addresses, and what is shown of them.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<DatabaseUrl, DatabaseUrlError> {
    text.parse()
}

#[test]
fn both_spellings_are_understood_and_the_password_is_shown_in_none() {
    let check = |text: &str, expected: &str, mode: SslMode| {
        let url = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(url.to_string(), expected, "{text}");
        assert_eq!(url.tls(), mode, "{text}");
        assert!(!format!("{url:?}").contains("s3cret"), "{url:?}");
    };
    let near = "postgres://app@127.0.0.1:5432/gate";
    check("postgres://app:s3cret@127.0.0.1/gate", near, SslMode::Prefer);
    check(
        "postgresql://app:s3cret@127.0.0.1:5432/gate",
        near,
        SslMode::Prefer,
    );
    check(
        "host=127.0.0.1 user=app password='s3cret 2' dbname=gate",
        near,
        SslMode::Prefer,
    );
    check(
        "postgres://app:s3cret@db.example.org/gate",
        "postgres://app@db.example.org:5432/gate",
        SslMode::Require,
    );
    check(
        "postgres://app:s3cret@db.example.org/gate?sslmode=disable&connect_timeout=3",
        "postgres://app@db.example.org:5432/gate",
        SslMode::Disable,
    );
    check(
        "host=a,b port=1,2 user=app dbname=gate sslmode=verify-full",
        "postgres://app@a:1,b:2/gate",
        SslMode::Require,
    );
    check(
        "postgres://app@[::1]:7/x",
        "postgres://app@[::1]:7/x",
        SslMode::Prefer,
    );
    check(
        "postgres://app@localhost",
        "postgres://app@localhost:5432/app",
        SslMode::Prefer,
    );
}

#[test]
fn a_file_of_certificates_is_taken_from_both_spellings() {
    for text in [
        "postgres://app@db/x?sslrootcert=%2Fetc%2Fdb%20ca.pem",
        "host=db user=app dbname=x sslrootcert='/etc/db ca.pem'",
    ] {
        assert_eq!(
            parse(text).unwrap().root_cert(),
            Some(Path::new("/etc/db ca.pem")),
            "{text}"
        );
    }
}

#[test]
fn what_is_wrong_is_said_without_the_text() {
    for text in [
        "",
        "mysql://app:s3cret@db/x",
        "postgres://app:s3cret@/x",
        "postgres://:s3cret@db/x",
        "postgres://app:s3cret@db/x?sslmode=s3cret",
        "postgres://app:s3cret@db/x?s3c=1",
        "postgres://app:s3cret@db/x?options=-c%20row_security%3Doff",
        "host=db user=app password=s3cret port=s3cret",
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn another_role_has_its_own_password() {
    let url = parse("postgres://admin:one@db/x").unwrap();
    let app = url.for_role("toolgate_app", Some("two"));
    assert_eq!(app.to_string(), "postgres://toolgate_app@db:5432/x");
    assert_eq!(app.config().get_password(), Some(b"two".as_slice()));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic_or_shows_a_password(text in ".{0,80}") {
        let _ = parse(&text);
        let _ = parse(&format!("postgres://{text}"));
        let _ = parse(&format!("host=db user=app {text}"));
    }
}
