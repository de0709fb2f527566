use super::*;

const AGES: Ages = Ages {
    value: Duration::from_secs(60),
    no: Duration::from_secs(5),
    fault: Duration::from_secs(1),
};

fn key(name: &str) -> Key {
    Key {
        tenant: "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
        reference: SecretRef::aws(name).unwrap(),
    }
}

fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn held(serial: u64, bytes: &[u8]) -> Held {
    Held {
        value: Arc::new(SecretValue::new(bytes).unwrap()),
        serial,
    }
}

fn launch(table: &mut Table, key: &Key, now: Duration) -> Flight {
    match table.look(key, now) {
        Found::Launched(flight, _) => flight,
        found => panic!("{found:?}"),
    }
}

fn land(
    table: &mut Table,
    key: &Key,
    began: Duration,
    landed: Duration,
    answer: Result<&[u8], Fault>,
) -> Flight {
    let flight = launch(table, key, began);
    let answer = answer.map(|bytes| held(flight.serial, bytes));
    table.land(key, &flight, answer, landed);
    flight
}

fn is_kept(found: &Found) -> bool {
    matches!(found, Found::Kept(_))
}

#[test]
fn an_answer_is_kept_for_its_age_and_not_a_moment_longer() {
    let check = |answer: Result<&[u8], Fault>, last: f64, first_without: f64| {
        let mut table = Table::new(AGES);
        // A value counts from when its fetch began, at 1; a no from when it was said, at 3.
        land(&mut table, &key("a"), at(1.0), at(3.0), answer);
        assert!(is_kept(&table.look(&key("a"), at(last))), "{answer:?} at {last}");
        assert!(
            !is_kept(&table.look(&key("a"), at(first_without))),
            "{answer:?} at {first_without}"
        );
    };
    check(Ok(b"s"), 60.9, 61.0);
    check(Err(Fault::NotFound), 7.9, 8.0);
    check(Err(Fault::Denied), 7.9, 8.0);
    check(Err(Fault::Timeout), 3.9, 4.0);
    check(Err(Fault::Throttled), 3.9, 4.0);
}

#[test]
fn who_asks_during_a_flight_joins_it() {
    let mut table = Table::new(AGES);
    let flight = launch(&mut table, &key("a"), at(0.0));
    let Found::Flying(waiting) = table.look(&key("a"), at(1.0)) else {
        panic!("nobody joined");
    };
    table.land(&key("a"), &flight, Ok(held(flight.serial, b"s")), at(2.0));
    let answer = waiting.borrow().clone().unwrap().unwrap();
    assert_eq!(answer.value.reveal(), b"s");
}

#[test]
fn tenants_and_versions_have_entries_of_their_own() {
    let mut table = Table::new(AGES);
    land(&mut table, &key("a"), at(0.0), at(0.0), Ok(b"s"));
    let other = Key {
        tenant: TenantId::mint(),
        ..key("a")
    };
    assert!(!is_kept(&table.look(&other, at(1.0))), "another tenant");
    let id = ulid::Ulid::generate();
    let version = |version| Key {
        reference: SecretRef::local(id, version),
        ..key("a")
    };
    land(&mut table, &version(1), at(0.0), at(0.0), Ok(b"s"));
    assert!(!is_kept(&table.look(&version(2), at(1.0))), "another version");
}

#[test]
fn a_rejected_value_is_fetched_once_more_and_then_left_alone() {
    let mut table = Table::new(AGES);
    let first = land(&mut table, &key("a"), at(0.0), at(0.0), Ok(b"old"));
    let Some(Found::Launched(second, _)) = table.renew(&key("a"), first.serial, at(1.0)) else {
        panic!("not fetched anew");
    };
    // Others that were rejected with the same value wait for the same fetch.
    assert!(matches!(
        table.renew(&key("a"), first.serial, at(1.0)),
        Some(Found::Flying(_))
    ));
    table.land(&key("a"), &second, Ok(held(second.serial, b"new")), at(1.5));
    let Some(Found::Kept(Ok(kept))) = table.renew(&key("a"), first.serial, at(2.0)) else {
        panic!("the new value is not kept");
    };
    assert_eq!(kept.value.reveal(), b"new");
    // The new one is rejected as well: not again for five seconds.
    assert!(table.renew(&key("a"), second.serial, at(6.4)).is_none());
    assert!(matches!(
        table.renew(&key("a"), second.serial, at(6.5)),
        Some(Found::Launched(..))
    ));
}

#[test]
fn a_flight_that_was_overtaken_is_not_kept_but_its_waiters_are_told() {
    let mut table = Table::new(AGES);
    let Found::Launched(late, waiting) = table.look(&key("a"), at(0.0)) else {
        panic!("not launched");
    };
    table.lost(&key("a"), late.serial);
    land(&mut table, &key("a"), at(1.0), at(1.0), Ok(b"new"));
    table.land(&key("a"), &late, Ok(held(late.serial, b"old")), at(2.0));
    assert!(waiting.borrow().is_some());
    let Found::Kept(Ok(kept)) = table.look(&key("a"), at(3.0)) else {
        panic!("not kept");
    };
    assert_eq!(kept.value.reveal(), b"new");
}

#[test]
fn what_is_past_its_end_is_wiped() {
    let mut table = Table::new(AGES);
    land(&mut table, &key("a"), at(0.0), at(0.0), Ok(b"secret"));
    launch(&mut table, &key("b"), at(0.0));
    table.sweep(at(59.9));
    assert_eq!((table.slots.len(), table.bytes), (2, 6));
    table.sweep(at(60.0));
    assert_eq!((table.slots.len(), table.bytes), (1, 0), "flights stay");
}

#[test]
fn the_table_is_bounded_in_entries_and_bytes() {
    let mut table = Table::new(AGES);
    for n in 0..MOST + 10 {
        land(
            &mut table,
            &key(&format!("s{n}")),
            at(n as f64 / 1000.0),
            at(n as f64 / 1000.0),
            Ok(b"s"),
        );
    }
    assert_eq!((table.slots.len(), table.bytes), (MOST, MOST));
    assert!(!table.slots.contains_key(&key("s9")) && table.slots.contains_key(&key("s10")));

    let mut table = Table::new(AGES);
    let large = vec![7; super::super::LONGEST];
    for n in 0..200 {
        land(
            &mut table,
            &key(&format!("s{n}")),
            at(f64::from(n) / 1000.0),
            at(1.0),
            Ok(&large),
        );
    }
    assert!(table.bytes <= MOST_BYTES && table.bytes > MOST_BYTES - large.len());
    assert!(is_kept(&table.look(&key("s199"), at(1.0))));
}

#[test]
fn a_table_full_of_flights_takes_no_more() {
    let mut table = Table::new(AGES);
    for n in 0..MOST {
        launch(&mut table, &key(&format!("s{n}")), at(0.0));
    }
    assert!(matches!(
        table.look(&key("more"), at(0.0)),
        Found::Kept(Err(Fault::Overloaded))
    ));
    assert_eq!(table.slots.len(), MOST);
    assert!(
        matches!(table.look(&key("s0"), at(0.0)), Found::Flying(_)),
        "joining is free"
    );
}
