//! What the journal does on every back end. Each gets a world of its own.

use super::*;

pub(super) async fn a_settled_call_has_a_row_and_no_intent(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    assert_eq!(world.intents(&tenant).await, 1);
    assert!(world.rows(&tenant).await.is_empty());

    let receipt = world.journal.settle(contact, event()).await.unwrap();

    assert_eq!((receipt.seq, receipt.event_id), (1, id));
    assert_eq!(world.intents(&tenant).await, 0);
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].result),
        (1, id, Outcome::Success)
    );
}

pub(super) async fn a_call_left_over_by_a_crash_becomes_unknown(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    std::mem::forget(contact);

    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();

    assert_eq!(world.intents(&tenant).await, 0);
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].result),
        (1, id, Outcome::Unknown)
    );
}

pub(super) async fn a_dropped_contact_becomes_unknown_without_a_restart(world: World) {
    let tenant = suite::tenant(&world.store).await;
    drop(world.journal.intend(&tenant, Intent::new(event())).await.unwrap());
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(
        results(&world.rows(&tenant).await),
        [Outcome::Unknown, Outcome::Success]
    );
}

pub(super) async fn an_intent_whose_caller_left_in_the_queue_is_never_written(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let busy = world.hold_the_writer().await;
    let mut asking = Box::pin(world.journal.intend(&tenant, Intent::new(event())));
    assert!(poll_once(&mut asking).is_none());
    drop(asking);
    busy.release();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(world.rows(&tenant).await.len(), 1);
}

pub(super) async fn an_intent_that_nobody_took_is_withdrawn(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let mut asking = Box::pin(world.journal.intend(&tenant, Intent::new(event())));
    assert!(poll_once(&mut asking).is_none());
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(
        world.intents(&tenant).await,
        1,
        "the intent is durable, its caller does not know yet"
    );
    drop(asking);
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(
        results(&world.rows(&tenant).await),
        [Outcome::Success, Outcome::Success]
    );
}

pub(super) async fn a_settlement_is_carried_out_although_its_caller_left(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let busy = world.hold_the_writer().await;
    let mut settling = Box::pin(world.journal.settle(contact, event()));
    assert!(poll_once(&mut settling).is_none());
    drop(settling);
    busy.release();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert_eq!(world.rows(&tenant).await.len(), 2);
}

pub(super) async fn a_cancelled_read_is_closed_and_forgotten_after_a_day(world: World) {
    const CLOSED: &str = "select count(*) from intent_closed where tenant_id = $1";
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    world.journal.close_cancelled(contact).await.unwrap();
    assert_eq!(
        (world.intents(&tenant).await, world.count(CLOSED, &tenant).await),
        (0, 1)
    );
    assert!(world.rows(&tenant).await.is_empty());

    world.clock.advance(Duration::from_secs(24 * 3600));
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.count(CLOSED, &tenant).await, 1);
    world.clock.advance(Duration::from_secs(1));
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.count(CLOSED, &tenant).await, 0);
}

pub(super) async fn a_withdrawn_intent_leaves_nothing(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    world.journal.withdraw(contact).await.unwrap();
    assert_eq!(world.intents(&tenant).await, 0);
    assert!(world.rows(&tenant).await.is_empty());
}

pub(super) async fn eight_writers_make_one_chain_without_gaps(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let writers = (0..8).map(|_| {
        let (journal, tenant) = (world.journal.clone(), tenant.clone());
        tokio::spawn(async move {
            let mut places = Vec::new();
            for _ in 0..20 {
                let rows = (0..100).map(|_| journal.record(&tenant, event()));
                places.extend(
                    join_all(rows)
                        .await
                        .into_iter()
                        .map(|receipt| receipt.unwrap().seq),
                );
            }
            places
        })
    });
    let mut places: Vec<i64> = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        places.extend(writer.await.unwrap());
    }
    places.sort_unstable();
    assert_eq!(places, (1..=16_000).collect::<Vec<_>>());
    assert_eq!(world.rows(&tenant).await.len(), 16_000);
}

pub(super) async fn chains_of_many_tenants_ride_together_and_stay_apart(world: World) {
    let tenants: Vec<_> = join_all((0..20).map(|_| suite::tenant(&world.store))).await;
    let calls = (0..30).flat_map(|_| tenants.iter()).map(|tenant| async {
        let contact = world.journal.intend(tenant, Intent::new(event())).await?;
        world.journal.settle(contact, event()).await
    });
    for settled in join_all(calls).await {
        settled.unwrap();
    }
    for tenant in &tenants {
        assert_eq!(
            (world.rows(tenant).await.len(), world.intents(tenant).await),
            (30, 0)
        );
    }
}

pub(super) async fn a_repeated_event_is_recognised_and_harms_no_neighbour(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let first = event();
    let other = Event {
        capability: "other".to_owned(),
        ..first.clone()
    };
    let events = [first.clone(), event(), first.clone(), other, event()];
    let busy = world.hold_the_writer().await;
    let mut asked: Vec<_> = events
        .into_iter()
        .map(|event| Box::pin(world.journal.record(&tenant, event)))
        .collect();
    assert!(asked.iter_mut().all(|asking| poll_once(asking).is_none()));
    busy.release();
    let places: Vec<_> = join_all(asked)
        .await
        .into_iter()
        .map(|ended| ended.map(|receipt| receipt.seq))
        .collect();
    assert_eq!(places, [Ok(1), Ok(2), Ok(1), Err(JournalError::Conflict), Ok(3)]);
    assert_eq!(world.journal.record(&tenant, first).await.unwrap().seq, 1);
    assert_eq!(world.rows(&tenant).await.len(), 3);
}

pub(super) async fn a_second_intent_with_the_same_id_is_refused(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let intent = Intent::new(event());
    let contact = world.journal.intend(&tenant, intent.clone()).await.unwrap();
    let again = world.journal.intend(&tenant, intent).await;
    assert_eq!(again.err(), Some(JournalError::Conflict));
    world.journal.settle(contact, event()).await.unwrap();
    assert_eq!(world.rows(&tenant).await.len(), 1);
}

pub(super) async fn texts_with_nul_go_on_the_record(world: World) {
    let tenant = suite::tenant(&world.store).await;
    world.journal.count_refusal(Refusal {
        principal: "a\0b".to_owned(),
        ..refusal(&tenant)
    });
    world
        .journal
        .record(
            &tenant,
            Event {
                capability: "rm\0".to_owned(),
                ..event()
            },
        )
        .await
        .unwrap();
    world.clock.advance(Duration::from_secs(120));
    world.journal.reconcile().await.unwrap();
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows[0].capability.as_str(), rows[1].principal.as_str()),
        ("rm\\u0000", "a\\u0000b")
    );
}

pub(super) async fn refusals_of_a_minute_become_one_row(world: World) {
    let tenant = suite::tenant(&world.store).await;
    for _ in 0..5 {
        world.journal.count_refusal(refusal(&tenant));
    }
    world.journal.count_refusal(Refusal {
        principal: "bob".to_owned(),
        ..refusal(&tenant)
    });
    assert_eq!(
        world.journal.reconcile().await.unwrap().counted,
        0,
        "the minute is not over"
    );
    world.clock.advance(Duration::from_secs(60));
    world.journal.count_refusal(refusal(&tenant));
    world.clock.advance(Duration::from_secs(3));
    world.journal.check().await.unwrap();

    world.journal.room.roll_minutes().await.unwrap();

    let mut rows: Vec<_> = world.rows(&tenant).await;
    rows.sort_by(|a, b| a.principal.cmp(&b.principal));
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.principal.as_str(), row.detail.as_str()))
        .collect();
    assert_eq!(told, [("ada", r#"{"count":5}"#), ("bob", r#"{"count":1}"#)]);
    assert!(
        rows.iter()
            .all(|row| row.kind == EventKind::RequestRefused && row.result == Outcome::Refused)
    );
    world.clock.advance(Duration::from_secs(60));
    world.journal.room.roll_minutes().await.unwrap();
    assert_eq!(world.rows(&tenant).await.len(), 3);
}

pub(super) async fn counted_refusals_outlive_a_crash(world: World) {
    let tenant = suite::tenant(&world.store).await;
    world.journal.count_refusal(refusal(&tenant));
    world.journal.record(&tenant, event()).await.unwrap();
    let world = world.crash().await;
    world.clock.advance(Duration::from_secs(120));
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.rows(&tenant).await[1].detail, r#"{"count":1}"#);
}

pub(super) async fn a_change_and_its_event_stand_or_fall_together(world: World) {
    const POLICY: &str = "select count(*) from policy where tenant_id = $1";
    let tenant = suite::tenant(&world.store).await;
    let version = world.store.tenant(&tenant).await.unwrap().unwrap().version;
    let known = event();
    world.journal.record(&tenant, known.clone()).await.unwrap();

    let failed = world.change(&tenant, "a", Err(Trouble::OnPurpose), event()).await;
    assert_eq!(failed, Err(Trouble::OnPurpose));
    let clash = Event {
        capability: "other".to_owned(),
        ..known
    };
    let refused = world.change(&tenant, "a", Ok(()), clash).await;
    assert_eq!(refused, Err(Trouble::Journal(JournalError::Conflict)));
    assert_eq!(
        (
            world.count(POLICY, &tenant).await,
            world.rows(&tenant).await.len()
        ),
        (0, 1)
    );
    assert_eq!(
        world.store.tenant(&tenant).await.unwrap().unwrap().version,
        version
    );

    world.change(&tenant, "a", Ok(()), event()).await.unwrap();
    world.journal.record(&tenant, event()).await.unwrap();
    assert_eq!(
        (
            world.count(POLICY, &tenant).await,
            world.rows(&tenant).await.len()
        ),
        (1, 3)
    );
    assert_eq!(
        world.store.tenant(&tenant).await.unwrap().unwrap().version,
        version + 1
    );
}

pub(super) async fn a_change_is_carried_out_although_its_caller_left(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let busy = world.hold_the_writer().await;
    let mut changing = Box::pin(world.change(&tenant, "a", Ok(()), event()));
    assert!(poll_once(&mut changing).is_none());
    drop(changing);
    busy.release();
    world.journal.record(&tenant, event()).await.unwrap();
    world.has_rows(&tenant, 2).await;
}

pub(super) async fn a_record_that_takes_no_rows_keeps_nobody_else_from_theirs(world: World) {
    let tenants = join_all((0..3).map(|_| suite::tenant(&world.store))).await;
    for tenant in &tenants {
        world.journal.record(tenant, event()).await.unwrap();
        std::mem::forget(world.journal.intend(tenant, Intent::new(event())).await.unwrap());
    }
    let world = world.crash().await;
    let behind = format!("delete from audit_head where tenant_id = '{}'", tenants[0]);
    world.tamper(&behind).await;

    assert_eq!(world.journal.reconcile().await, Err(JournalError::Unavailable));
    assert_eq!(
        world.journal.record(&tenants[0], event()).await,
        Err(JournalError::Unavailable)
    );

    assert_eq!(
        world.intents(&tenants[0]).await,
        1,
        "kept until somebody has looked"
    );
    for tenant in &tenants[1..] {
        assert_eq!(
            (world.intents(tenant).await, world.rows(tenant).await.len()),
            (0, 2)
        );
    }
}

pub(super) async fn a_full_queue_is_overload(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let busy = world.hold_the_writer().await;
    let room = &world.journal.room;
    let mut last = Ok(());
    for _ in 0..=waiting::ROOM {
        last = room.queue(Op::new(Work::Probe, Reply::Nobody));
    }
    assert_eq!(last, Err(JournalError::Overloaded));
    let refused = world.journal.record(&tenant, event()).await;
    assert_eq!(refused, Err(JournalError::Overloaded));
    busy.release();
    world.journal.close().await;
}

pub(super) async fn a_closed_journal_has_written_everything_and_takes_no_more(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let mut rows: Vec<_> = (0..1200)
        .map(|_| Box::pin(world.journal.record(&tenant, event())))
        .collect();
    assert!(
        rows.iter_mut()
            .all(|row| poll_once(row).is_none_or(|ended| ended.is_ok()))
    );
    world.journal.close().await;
    assert_eq!(world.rows(&tenant).await.len(), 1200);
    assert_eq!(
        world.journal.record(&tenant, event()).await,
        Err(JournalError::Unavailable)
    );
}

pub(super) async fn a_damaged_intent_is_still_told_of(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    std::mem::forget(contact);
    world.tamper("update intent set facts = x'ff'").await;
    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].detail.as_str()),
        (1, id, r#"{"intent":"damaged"}"#)
    );
    assert_eq!(world.intents(&tenant).await, 0);
}

pub(super) async fn a_tenant_whose_head_is_broken_makes_no_contact_and_others_do(first: World) {
    const CUT: &str = "delete from audit_event where tenant_id = 'T' and seq = 3";
    const SET_BACK: &str = "update audit_head set seq = 2, hash = \
        (select hash from audit_event where tenant_id = 'T' and seq = 2) where tenant_id = 'T'";
    let cases = [
        ("the last row is gone", vec![CUT], true),
        ("the head is set back", vec![SET_BACK], true),
        (
            "the head is gone",
            vec!["delete from audit_head where tenant_id = 'T'"],
            true,
        ),
        (
            "the hash is another",
            vec!["update audit_head set hash = zeroblob(32) where tenant_id = 'T'"],
            true,
        ),
        (
            "the hash is no hash",
            vec!["update audit_head set hash = 'x' where tenant_id = 'T'"],
            true,
        ),
        // Only whoever appended the row can know; what a verifier cannot see needs a witness.
        (
            "the last row is gone and the head fits",
            vec![CUT, SET_BACK],
            false,
        ),
    ];
    for (name, tampering, also_after_a_crash) in cases {
        let world = first.another().await;
        let (tenant, other) = (
            suite::tenant(&world.store).await,
            suite::tenant(&world.store).await,
        );
        for _ in 0..3 {
            world.journal.record(&tenant, event()).await.unwrap();
        }
        let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
        world.journal.withdraw(contact).await.unwrap();
        for sql in tampering {
            world.tamper(&sql.replace("'T'", &format!("'{tenant}'"))).await;
        }
        let refused = async |world: &World| {
            let (broken, sound) = futures::join!(
                world.journal.intend(&tenant, Intent::new(event())),
                world.journal.intend(&other, Intent::new(event())),
            );
            assert!(sound.is_ok(), "{name}");
            broken.err() == Some(JournalError::Unavailable)
        };
        assert!(refused(&world).await, "{name}");
        let world = world.crash().await;
        assert_eq!(refused(&world).await, also_after_a_crash, "{name}");
    }
}

pub(super) async fn an_intent_may_follow_a_row_within_one_commit(world: World) {
    let tenant = suite::tenant(&world.store).await;
    for _ in 0..3 {
        let both = futures::join!(
            world.journal.record(&tenant, event()),
            world.journal.intend(&tenant, Intent::new(event())),
        );
        both.0.unwrap();
        let contact = both.1.unwrap();
        world.journal.settle(contact, event()).await.unwrap();
    }
    assert_eq!(world.rows(&tenant).await.len(), 6);
}

pub(super) async fn a_writer_that_panics_ends_the_record_and_tells_everyone(world: World) {
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let room = Arc::clone(&world.journal.room);
    let lent = world.store.lend_to_journal(move |_| {
        let turn = shift::Turn::new(&room);
        Box::pin(async move {
            let _turn = turn;
            panic!("a commit that panics");
        })
    });
    lent.unwrap();

    let told = tokio::time::timeout(Duration::from_secs(20), world.journal.ended());
    told.await.expect("whoever watches the record is told");
    assert_eq!(world.journal.check().await, Err(JournalError::Ended));
    assert_eq!(
        world.journal.record(&tenant, event()).await,
        Err(JournalError::Ended)
    );
    assert_eq!(
        world.journal.settle(contact, event()).await,
        Err(JournalError::Ended)
    );
    assert_eq!(world.rows(&tenant).await.len(), 0);

    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();
    assert_eq!(world.rows(&tenant).await[0].result, Outcome::Unknown);
}

pub(super) async fn a_task_of_the_record_that_panics_ends_the_record(world: World) {
    reconcile::watched(Arc::downgrade(&world.journal.room), async {
        panic!("the keeper")
    })
    .await;
    assert_eq!(world.journal.check().await, Err(JournalError::Ended));
}

pub(super) async fn a_head_at_hand_that_is_behind_is_read_anew(world: World) {
    let tenant = suite::tenant(&world.store).await;
    for _ in 0..3 {
        world.journal.record(&tenant, event()).await.unwrap();
    }
    let behind = [(tenant.clone(), Head::genesis(&tenant))];
    world.journal.room.keep_heads(behind.into());

    assert_eq!(world.journal.record(&tenant, event()).await.unwrap().seq, 4);
    assert_eq!(world.rows(&tenant).await.len(), 4);
}

pub(super) async fn rows_that_follow_do_not_hide_a_broken_chain(first: World) {
    const CUT: &str = "delete from audit_event where tenant_id = 'T' and seq = 3";
    const SET_BACK: &str = "update audit_head set seq = 2, hash = \
        (select hash from audit_event where tenant_id = 'T' and seq = 2) where tenant_id = 'T'";
    for (name, tampering) in [
        ("the last row is gone", vec![CUT]),
        ("its head fits", vec![CUT, SET_BACK]),
    ] {
        for asked_before in [true, false] {
            let world = first.another().await;
            let (tenant, other) = (
                suite::tenant(&world.store).await,
                suite::tenant(&world.store).await,
            );
            for _ in 0..3 {
                world.journal.record(&tenant, event()).await.unwrap();
            }
            for sql in &tampering {
                world.tamper(&sql.replace("'T'", &format!("'{tenant}'"))).await;
            }
            let is_refused = async |tenant: &TenantId| {
                let asked = world.journal.intend(tenant, Intent::new(event())).await;
                asked.err() == Some(JournalError::Unavailable)
            };
            assert!(!asked_before || is_refused(&tenant).await, "{name}");

            world.journal.record(&tenant, event()).await.unwrap();

            assert!(is_refused(&tenant).await, "{name}, {asked_before}");
            assert!(!is_refused(&other).await, "{name}");
        }
    }
}
