use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use super::*;

fn answer(status: u16, body: impl Into<Bytes>) -> Answer {
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: body.into(),
        more: false,
    }
}

fn read(answer: &Answer) -> Result<(String, bool), UpstreamError> {
    let result = result(answer, |text| text)?;
    let content: Value = serde_json::from_str(result.content.get()).unwrap();
    assert!(result.structured.is_none());
    Ok((content[0]["text"].as_str().unwrap().to_owned(), result.is_error))
}

#[test]
fn a_success_is_told_to_the_byte() {
    for body in ["{\"n\": 9007199254740993 }\n", "plain", "\u{0}\r\n\"", "日本"] {
        assert_eq!(read(&answer(200, body)), Ok((body.to_owned(), false)));
    }
    let long = "x".repeat(100_000);
    assert_eq!(read(&answer(201, long.clone())), Ok((long, false)));
    assert_eq!(read(&answer(200, &b"\xff\xfe"[..])), Err(UpstreamError::Invalid));
}

#[test]
fn a_success_without_a_body_says_so() {
    for status in [200, 202, 204] {
        let (text, is_error) = read(&answer(status, "")).unwrap();
        assert!(text.contains("without a body") && !is_error, "{text}");
    }
}

#[test]
fn of_what_the_back_end_refuses_to_the_credential_nothing_is_repeated() {
    assert_eq!(
        read(&answer(401, "SECRET")),
        Err(UpstreamError::CredentialRejected)
    );
    let (text, is_error) = read(&answer(403, "SECRET")).unwrap();
    assert!(
        is_error && text.contains("403") && !text.contains("SECRET"),
        "{text}"
    );
}

#[test]
fn of_another_no_at_most_4096_bytes_are_told_and_whole_characters() {
    assert_eq!(
        read(&answer(404, "no such task")),
        Ok(("the back end says no (404 Not Found): no such task".into(), true))
    );
    assert_eq!(
        read(&answer(422, " ")),
        Ok(("the back end says no (422 Unprocessable Entity)".into(), true))
    );
    let (text, _) = read(&answer(409, format!("x{}", "é".repeat(4_000)))).unwrap();
    let told = text.split_once(": ").unwrap().1;
    let (body, note) = told.split_once('\n').unwrap();
    assert_eq!(body, format!("x{}", "é".repeat(2_047)));
    assert_eq!(note, "[cut: only the first 4095 bytes are told]");
}

#[test]
fn a_fault_says_what_the_back_end_said_as_far_as_a_trailer_holds_it() {
    let text = |body: String| match read(&answer(500, body)) {
        Err(UpstreamError::FailedSaying(text)) => text.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text("boom".into()), "500 Internal Server Error: boom");
    let long = text("x".repeat(1 << 20));
    assert!(
        long.contains("cut: only the first 4096 bytes"),
        "{}",
        &long[long.len() - 60..]
    );
    for hard in ["{\"a\": \" \"}", "日本"] {
        let told = text(hard.repeat(10_000));
        assert!(
            in_trailer(&told) <= TRAILER && told.len() > 1_000,
            "{}",
            told.len()
        );
    }
}

#[test]
fn a_limit_is_told_with_its_wait() {
    let check = |header: Option<&'static str>, seconds: u64| {
        let mut limited = answer(429, "");
        if let Some(header) = header {
            limited
                .headers
                .insert(RETRY_AFTER, HeaderValue::from_static(header));
        }
        assert_eq!(
            read(&limited),
            Err(UpstreamError::RateLimited(Duration::from_secs(seconds)))
        );
    };
    check(Some("7"), 7);
    check(Some("0"), 1);
    check(Some("999999999"), 3_600);
    check(Some("soon"), 30);
    check(None, 30);
}

#[test]
fn a_redirect_is_no_answer() {
    assert_eq!(read(&answer(302, "")), Err(UpstreamError::Invalid));
}
