use proptest::prelude::*;

use super::*;

fn reasons() -> impl Iterator<Item = ErrorReason> {
    (0..).map_while(|number| ErrorReason::try_from(number).ok())
}

fn violation(pointer: &str, keyword: &str, message: &str) -> Violation {
    Violation {
        pointer: pointer.into(),
        keyword: keyword.into(),
        message: message.into(),
    }
}

fn choice(id: &str, name: &str) -> TargetChoice {
    TargetChoice {
        id: id.into(),
        name: name.into(),
    }
}

#[test]
fn every_reason_comes_back_with_all_it_carries() {
    for reason in reasons() {
        let failure = Failure::new(reason, "what happened – and what to do")
            .with_metadata("correlationId", "01J")
            .with_metadata("empty", "")
            .with_violations([
                violation("/limit", "minimum", "0 is less than 1"),
                violation("", "required", ""),
            ])
            .with_targets([choice("01A", "rack one"), choice("01B", "")])
            .retry_after(Duration::from_millis(1234));
        let status = failure.clone().into_status();
        assert_eq!(status.code(), reason.code());
        assert_eq!(status.message(), failure.message);
        assert_eq!(Failure::from_status(&status), failure, "{}", reason.name());
    }
}

#[test]
fn a_bare_failure_comes_back_bare() {
    for reason in reasons() {
        let failure = Failure::new(reason, "");
        assert_eq!(Failure::from_status(&failure.clone().into()), failure);
    }
}

#[test]
fn clients_that_know_only_google_rpc_read_the_details() {
    use tonic_types::StatusExt as _;

    let status = Failure::new(ErrorReason::ArgumentsInvalid, "arguments do not match")
        .with_violations([violation("/vmid", "required", "is missing")])
        .retry_after(Duration::from_secs(3))
        .into_status();
    let info = status.get_details_error_info().expect("an ErrorInfo");
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        ("ARGUMENTS_INVALID", "toolgate")
    );
    let field = &status
        .get_details_bad_request()
        .expect("a BadRequest")
        .field_violations[0];
    assert_eq!(
        (field.field.as_str(), field.description.as_str()),
        ("/vmid", "is missing")
    );
    let wait = status.get_details_retry_info().expect("a RetryInfo").retry_delay;
    assert_eq!(wait, Some(Duration::from_secs(3)));
}

#[test]
fn the_wait_is_told_in_whole_seconds_and_never_as_none() {
    let check = |wait: Duration, ms: i64, seconds: u64| {
        let failure = Failure::new(ErrorReason::RateLimited, "").retry_after(wait);
        assert_eq!(
            (failure.retry_after_ms, failure.retry_after_seconds()),
            (Some(ms), Some(seconds))
        );
    };
    check(Duration::ZERO, 0, 1);
    check(Duration::from_nanos(1), 1, 1);
    check(Duration::from_millis(1000), 1000, 1);
    check(Duration::from_millis(1001), 1001, 2);
    check(Duration::from_micros(59_999_001), 60_000, 60);
    check(Duration::MAX, i64::MAX, 9_223_372_036_854_776);
    assert_eq!(
        Failure::new(ErrorReason::Internal, "").retry_after_seconds(),
        None
    );
}

#[test]
fn lists_too_long_for_a_trailer_are_cut_and_counted() {
    let many = (0..5000).map(|at| violation(&format!("/items/{at}"), "type", "is not a string"));
    let status = Failure::new(ErrorReason::ArgumentsInvalid, "wrong")
        .with_violations(many)
        .into_status();
    assert!(
        status.details().len() <= DETAILS_LIMIT,
        "{}",
        status.details().len()
    );
    let failure = Failure::from_status(&status);
    let omitted: usize = failure.metadata[OMITTED].parse().expect("a count");
    assert!(failure.violations.len() > 50);
    assert_eq!(failure.violations.len() + omitted, 5000);
    assert_eq!(failure.violations[0].pointer, "/items/0");
}

#[test]
fn one_violation_too_long_for_a_trailer_is_left_out() {
    let huge = violation("/a", "maxLength", &"x".repeat(1 << 20));
    let status = Failure::new(ErrorReason::ArgumentsInvalid, "wrong")
        .with_violations([huge])
        .into_status();
    assert!(status.details().len() <= DETAILS_LIMIT);
    assert_eq!(Failure::from_status(&status).metadata[OMITTED], "1");
}

#[test]
fn a_foreign_status_is_answered_by_its_code() {
    let check = |code: Code, reason: ErrorReason| {
        let failure = Failure::from_status(&Status::new(code, "text"));
        assert_eq!(failure.reason(), reason, "{code:?}");
        assert!(!failure.message.is_empty());
    };
    check(Code::Ok, ErrorReason::Internal);
    check(Code::Cancelled, ErrorReason::Cancelled);
    check(Code::Unknown, ErrorReason::Internal);
    check(Code::InvalidArgument, ErrorReason::RequestMalformed);
    check(Code::DeadlineExceeded, ErrorReason::DeadlineExceeded);
    check(Code::NotFound, ErrorReason::ResourceNotFound);
    check(Code::AlreadyExists, ErrorReason::Conflict);
    check(Code::PermissionDenied, ErrorReason::RoleForbidden);
    check(Code::ResourceExhausted, ErrorReason::Overloaded);
    check(Code::FailedPrecondition, ErrorReason::Conflict);
    check(Code::Aborted, ErrorReason::Conflict);
    check(Code::OutOfRange, ErrorReason::RequestTooLarge);
    check(Code::Unimplemented, ErrorReason::Internal);
    check(Code::Internal, ErrorReason::Internal);
    check(Code::Unavailable, ErrorReason::Overloaded);
    check(Code::DataLoss, ErrorReason::Internal);
    check(Code::Unauthenticated, ErrorReason::CredentialInvalid);
}

#[test]
fn what_a_transport_says_never_reaches_a_caller() {
    for code in [
        Code::Unavailable,
        Code::Unknown,
        Code::Internal,
        Code::Unimplemented,
        Code::DataLoss,
    ] {
        let failure = Failure::from_status(&Status::new(code, "tcp connect error: 10.0.0.7:7601"));
        assert!(!failure.message.contains("10.0.0.7"), "{}", failure.message);
    }
}

#[test]
fn a_reason_of_a_newer_peer_is_answered_by_its_code_and_keeps_its_details() {
    let info = pb::ErrorInfo {
        reason: "MOON_FULL".into(),
        domain: DOMAIN.into(),
        ..Default::default()
    };
    let retry = pb::RetryInfo {
        retry_delay: Some(duration(1500)),
    };
    let details = pb::Status {
        details: vec![pack(&info), pack(&retry)],
        ..Default::default()
    };
    let status = Status::with_details(Code::Unavailable, "wait", details.encode_to_vec().into());
    let failure = Failure::from_status(&status);
    assert_eq!(failure.reason(), ErrorReason::Overloaded);
    assert_eq!(
        (failure.message.as_str(), failure.retry_after_ms),
        ("wait", Some(1500))
    );
}

#[test]
fn details_of_another_domain_are_not_ours() {
    let info = pb::ErrorInfo {
        reason: "INTERNAL".into(),
        domain: "example.org".into(),
        ..Default::default()
    };
    let details = pb::Status {
        details: vec![pack(&info)],
        ..Default::default()
    };
    let status = Status::with_details(Code::NotFound, "no", details.encode_to_vec().into());
    assert_eq!(
        Failure::from_status(&status).reason(),
        ErrorReason::ResourceNotFound
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_failure_of_reasonable_size_comes_back(
        reason in 0..=35_i32,
        message in ".{0,60}",
        metadata in prop::collection::hash_map("[a-z]{1,8}", ".{0,20}", 0..4),
        violations in prop::collection::vec((".{0,20}", "[a-zA-Z]{0,12}", ".{0,30}"), 0..8),
        targets in prop::collection::vec((".{0,26}", ".{0,20}"), 0..8),
        retry_after_ms in prop::option::of(0..i64::MAX),
    ) {
        let failure = Failure {
            reason,
            message,
            metadata,
            violations: violations.iter().map(|(a, b, c)| violation(a, b, c)).collect(),
            retry_after_ms,
            targets: targets.iter().map(|(id, name)| choice(id, name)).collect(),
        };
        prop_assert_eq!(Failure::from_status(&failure.clone().into_status()), failure);
    }

    #[test]
    fn no_details_make_the_reader_panic(code in 0..20_i32, details in prop::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let status = Status::with_details(Code::from(code), "x", details.into());
        let _ = Failure::from_status(&status);
    }
}
