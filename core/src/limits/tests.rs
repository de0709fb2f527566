use super::*;

fn buckets(user: u32, tenant: u32) -> (Buckets, Clock, TenantId) {
    let clock = Clock::manual(0);
    let limits = Limits {
        user_per_minute: user,
        tenant_per_minute: tenant,
        ..Limits::default()
    };
    (Buckets::new(limits, clock.clone()), clock, TenantId::mint())
}

fn retry_after(result: Result<(), Error>) -> Duration {
    match result {
        Err(Error::RateLimited { retry_after, .. }) => retry_after,
        other => panic!("not throttled: {other:?}"),
    }
}

#[test]
fn the_61st_call_of_a_burst_waits_one_second() {
    let (buckets, clock, tenant) = buckets(60, 300);
    let user: Arc<str> = "devon".into();
    for _ in 0..60 {
        buckets.take(Use::Call, &tenant, &user).unwrap();
    }
    assert_eq!(
        retry_after(buckets.take(Use::Call, &tenant, &user)),
        Duration::from_secs(1)
    );
    clock.advance(Duration::from_millis(999));
    assert_eq!(
        retry_after(buckets.take(Use::Call, &tenant, &user)),
        Duration::from_millis(1)
    );
    clock.advance(Duration::from_millis(1));
    buckets.take(Use::Call, &tenant, &user).unwrap();
    assert_eq!(
        retry_after(buckets.take(Use::Call, &tenant, &user)),
        Duration::from_secs(1)
    );
}

#[test]
fn a_tenant_is_limited_over_all_its_users_and_no_other_tenant_with_it() {
    let (buckets, clock, tenant) = buckets(60, 300);
    for n in 0..300 {
        buckets
            .take(Use::Call, &tenant, &format!("user-{}", n % 10).into())
            .unwrap();
    }
    assert_eq!(
        retry_after(buckets.take(Use::Call, &tenant, &"fresh".into())),
        Duration::from_millis(200)
    );
    buckets
        .take(Use::Call, &TenantId::mint(), &"fresh".into())
        .unwrap();
    clock.advance(Duration::from_secs(1));
    for _ in 0..5 {
        buckets.take(Use::Call, &tenant, &"fresh".into()).unwrap();
    }
    assert!(buckets.take(Use::Call, &tenant, &"fresh".into()).is_err());
}

#[test]
fn a_throttled_user_does_not_drain_the_tenant() {
    let (buckets, _clock, tenant) = buckets(2, 3);
    let greedy: Arc<str> = "greedy".into();
    for _ in 0..50 {
        drop(buckets.take(Use::Call, &tenant, &greedy));
    }
    buckets.take(Use::Call, &tenant, &"modest".into()).unwrap();
}

#[test]
fn a_refusal_by_the_tenant_gives_the_user_its_token_back() {
    let (buckets, clock, tenant) = buckets(1, 1);
    let (first, second): (Arc<str>, Arc<str>) = ("first".into(), "second".into());
    buckets.take(Use::Call, &tenant, &first).unwrap();
    assert!(buckets.take(Use::Call, &tenant, &second).is_err());
    clock.advance(Duration::from_secs(60));
    buckets.take(Use::Call, &tenant, &second).unwrap();
}

#[test]
fn a_wall_clock_that_goes_back_changes_nothing() {
    let (buckets, clock, tenant) = buckets(1, 10);
    let user: Arc<str> = "devon".into();
    buckets.take(Use::Call, &tenant, &user).unwrap();
    clock.set_wall_us(-1_000_000_000);
    assert_eq!(
        retry_after(buckets.take(Use::Call, &tenant, &user)),
        Duration::from_secs(60)
    );
}

#[test]
fn lists_and_calls_have_buckets_of_their_own() {
    let (buckets, _clock, tenant) = buckets(1, 10);
    let user: Arc<str> = "devon".into();
    buckets.take(Use::Call, &tenant, &user).unwrap();
    buckets.take(Use::List, &tenant, &user).unwrap();
}

#[test]
fn full_buckets_are_forgotten_so_that_memory_stays_bounded() {
    let (buckets, clock, tenant) = buckets(60, u32::MAX);
    for round in 0..3 {
        for n in 0..SHARDS * SHARD_SWEEP {
            buckets
                .take_user(Use::Call, &tenant, &format!("{round}-{n}").into())
                .unwrap();
        }
        clock.advance(Duration::from_secs(61));
    }
    let kept: usize = buckets
        .shards
        .iter()
        .map(|shard| shard.lock().unwrap().full_at.len())
        .sum();
    assert!(kept <= 2 * SHARDS * SHARD_SWEEP, "{kept}");
}

#[test]
fn a_place_is_given_back_when_the_call_ends_and_nothing_is_kept() {
    let (most, tenant) = (InFlight::new(2), TenantId::mint());
    let (first, second) = (
        most.take(&tenant, None).unwrap(),
        most.take(&tenant, None).unwrap(),
    );
    assert!(matches!(most.take(&tenant, None), Err(Error::Overloaded)));
    drop(first);
    let third = most.take(&tenant, None).unwrap();
    drop((second, third));
    assert!(most.taken.lock().unwrap().is_empty());
}

#[test]
fn a_project_that_hangs_takes_no_place_of_another_or_of_its_tenant() {
    let (most, tenant) = (InFlight::new(2), TenantId::mint());
    let (hanging, other) = (Some(TargetId::mint()), Some(TargetId::mint()));
    let hangs = [
        most.take(&tenant, hanging).unwrap(),
        most.take(&tenant, hanging).unwrap(),
    ];
    assert!(matches!(most.take(&tenant, hanging), Err(Error::Overloaded)));
    for whose in [None, other] {
        assert!(most.take(&tenant, whose).is_ok());
    }
    drop(hangs);
    assert!(most.taken.lock().unwrap().is_empty());
}

#[test]
fn a_source_that_guesses_codes_waits_and_others_do_not() {
    let (buckets, clock, _) = buckets(60, 300);
    for _ in 0..10 {
        buckets.take_sign_in("192.0.2.0/24").unwrap();
    }
    let wait = retry_after(buckets.take_sign_in("192.0.2.0/24"));
    assert_eq!(wait, Duration::from_secs(6));
    buckets.take_sign_in("198.51.100.0/24").unwrap();
    clock.advance(wait);
    buckets.take_sign_in("192.0.2.0/24").unwrap();
    buckets.give_back_sign_in("192.0.2.0/24");
    buckets.take_sign_in("192.0.2.0/24").unwrap();
    assert!(buckets.take_sign_in("192.0.2.0/24").is_err());
}

#[test]
fn to_ask_for_the_headroom_takes_nothing() {
    let (buckets, clock, tenant) = buckets(60, 300);
    let (one, other): (Arc<str>, Arc<str>) = ("one".into(), "other".into());
    let left = |user: &Arc<str>| {
        let headroom = buckets.headroom(Use::Call, &tenant, user);
        assert_eq!((headroom.user_per_minute, headroom.tenant_per_minute), (60, 300));
        (headroom.user_left, headroom.tenant_left)
    };
    assert_eq!((left(&one), left(&one)), ((60, 300), (60, 300)));
    for _ in 0..60 {
        buckets.take(Use::Call, &tenant, &one).unwrap();
    }
    buckets.take(Use::List, &tenant, &one).unwrap();
    assert_eq!((left(&one), left(&other)), ((0, 240), (60, 240)));
    clock.advance(Duration::from_millis(999));
    assert_eq!(left(&one), (0, 244));
    clock.advance(Duration::from_millis(1));
    assert_eq!(left(&one), (1, 245));
    buckets.take(Use::Call, &tenant, &one).unwrap();
    assert_eq!(left(&one), (0, 244));
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(left(&one), (60, 300));
}
