use super::*;

const SECONDARY: &str =
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";

#[track_caller]
fn check(status: u16, headers: &[(&str, &str)], message: &str, expected: Option<Limit>) {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    let status = StatusCode::from_u16(status).unwrap();
    assert_eq!(
        limit(status, &map, message),
        expected,
        "{status} {headers:?} {message}"
    );
}

#[test]
fn limits_are_told_from_missing_permissions() {
    let spent = ("x-ratelimit-remaining", "0");
    let reset = ("x-ratelimit-reset", "1900000000");
    let until = |now| {
        Some(Limit::Until {
            reset: 1_900_000_000,
            now,
        })
    };
    let seconds = |n| Some(Limit::For(Duration::from_secs(n)));
    check(403, &[spent, reset], "API rate limit exceeded", until(None));
    check(429, &[spent, reset], "", until(None));
    check(
        403,
        &[spent, reset, ("date", "Sun, 17 Mar 2030 17:45:40 GMT")],
        "",
        until(Some(1_899_999_940)),
    );
    check(
        403,
        &[("x-ratelimit-remaining", "4321")],
        SECONDARY,
        Some(Limit::Unsaid),
    );
    check(
        403,
        &[("x-ratelimit-remaining", "4321"), ("retry-after", "30")],
        SECONDARY,
        seconds(30),
    );
    check(
        403,
        &[spent, reset, ("retry-after", "30")],
        SECONDARY,
        seconds(30),
    );
    check(
        403,
        &[],
        "You have triggered an abuse detection mechanism",
        Some(Limit::Unsaid),
    );
    check(
        403,
        &[],
        "API rate limit exceeded for 10.0.0.1",
        Some(Limit::Unsaid),
    );
    check(429, &[], "", Some(Limit::Unsaid));
    check(429, &[("retry-after", "soon")], "", Some(Limit::Unsaid));
    check(403, &[spent], "", Some(Limit::Unsaid));

    check(403, &[], "Resource not accessible by personal access token", None);
    check(
        403,
        &[("x-ratelimit-remaining", "12"), reset],
        "Must have admin rights",
        None,
    );
    check(404, &[spent, reset], "Not Found", None);
    check(200, &[spent, reset], "", None);
}

#[test]
fn waits_that_are_not_said_begin_at_a_minute_and_double() {
    let clock = Clock::manual(0);
    let cool = CoolDown::new(clock.clone());
    for seconds in [60, 120, 240, 480, 960, 1_920, 1_920] {
        assert_eq!(cool.begin(Limit::Unsaid), Duration::from_secs(seconds));
        assert_eq!(
            cool.begin(Limit::Unsaid),
            Duration::from_secs(seconds),
            "the same limit, met twice"
        );
        clock.advance(Duration::from_secs(seconds - 1));
        assert_eq!(cool.left(), Some(Duration::from_secs(1)));
        clock.advance(Duration::from_secs(1));
        assert_eq!(cool.left(), None);
    }
    cool.over();
    assert_eq!(cool.begin(Limit::Unsaid), Duration::from_secs(60));
}

#[test]
fn a_reset_is_read_against_githubs_own_time() {
    let clock = Clock::manual(1_000_000_000);
    let wait = |reset, now| CoolDown::new(clock.clone()).begin(Limit::Until { reset, now });
    assert_eq!(wait(1_600, None), Duration::from_secs(600));
    assert_eq!(wait(5_100, Some(5_000)), Duration::from_secs(100));
    assert_eq!(wait(900, None), Duration::from_secs(1), "a clock that is ahead");
    assert_eq!(
        wait(1_507_651_200_000, None),
        LONGEST,
        "milliseconds, or nonsense"
    );
    assert_eq!(wait(u64::MAX, Some(0)), LONGEST);
}

#[test]
fn a_shorter_wait_does_not_end_a_longer_one() {
    let cool = CoolDown::new(Clock::manual(0));
    cool.begin(Limit::For(Duration::from_secs(90)));
    assert_eq!(
        cool.begin(Limit::For(Duration::from_secs(5))),
        Duration::from_secs(90)
    );
}
