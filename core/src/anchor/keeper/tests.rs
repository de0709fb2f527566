macro_rules! on_both_back_ends {
    ($($behaviour:ident;)+) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $behaviour() {
                super::$behaviour(super::Back::Embedded).await;
            })+
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $behaviour() {
                if toolgate_test_postgres::available(stringify!($behaviour)) {
                    super::$behaviour(super::Back::Postgres).await;
                }
            })+
        }
    };
}

mod lost;
mod tamper;
mod world;

use std::{fs, time::Duration};

use toolgate_contract::ids::TenantId;

use self::world::{Back, DAY, MINUTE, World};
use super::*;
use crate::anchor::{SigningKeys, survey};

on_both_back_ends! {
    a_round_signs_the_head_of_every_tenant_and_one_root_over_them;
    a_round_is_signed_also_when_nothing_moved;
    of_many_idle_tenants_each_round_signs_those_that_waited_longest;
    every_file_begins_with_the_keys_and_every_tenant;
    a_tenant_with_a_thousand_rows_is_signed_at_once_and_alone;
    a_rotated_key_signs_from_the_next_round_on_and_old_lines_still_verify;
    a_lost_list_of_keys_is_read_from_the_checkpoints_and_no_other_trust_root_begins;
    a_round_that_cannot_be_written_is_an_error_and_the_next_one_takes_its_place;
    a_crash_in_the_middle_of_a_line_costs_that_round_and_nothing_else;
    the_keeper_signs_at_once_and_once_more_when_it_is_told_to_stop;
    many_rows_wake_the_keeper_before_its_hour_is_over;
}

async fn a_round_signs_the_head_of_every_tenant_and_one_root_over_them(back: Back) {
    let mut world = World::new(back, 3).await;
    world.rows(0, 4).await;
    world.rows(1, 1).await;
    world.round(Wish::All).await.unwrap();

    let survey = world.survey().unwrap();
    let signed: Vec<_> = survey
        .newest
        .values()
        .map(|checkpoint| (checkpoint.tenant_id.clone(), checkpoint.seq))
        .collect();
    assert_eq!(signed, [(world.id(0), 5), (world.id(1), 2), (world.id(2), 1)]);
    let (shown, root) = survey.prove(&world.id(1)).unwrap();
    assert_eq!((root.number, root.tenants, root.prev), (1, 3, [0; 32]));
    assert!(shown.holds_in(&root));
    assert!(shown.path.iter().all(|hash| *hash != shown.hash));
}

async fn a_round_is_signed_also_when_nothing_moved(back: Back) {
    let mut world = World::new(back, 1).await;
    for _ in 0..3 {
        world.round(Wish::All).await.unwrap();
        world.clock.advance(MINUTE);
    }
    let lines = world.lines();
    let kinds: Vec<_> = lines.iter().map(|line| line.split('"').nth(3).unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "key",
            "checkpoint",
            "root",
            "checkpoint",
            "root",
            "checkpoint",
            "root"
        ]
    );
    assert_eq!(world.survey().unwrap().last_root.unwrap().number, 3);
}

async fn of_many_idle_tenants_each_round_signs_those_that_waited_longest(back: Back) {
    let mut world = World::new(back, 250).await;
    world.round(Wish::All).await.unwrap();
    let mut waited: Vec<usize> = Vec::new();
    for _ in 0..3 {
        world.clock.advance(MINUTE);
        let before = world.lines().len();
        world.round(Wish::All).await.unwrap();
        waited.push(world.lines().len() - before - 1);
    }
    assert_eq!(waited, [100, 100, 100]);
    let survey = world.survey().unwrap();
    let oldest = survey.newest.values().map(|checkpoint| checkpoint.time_us).min();
    // 250 tenants in rounds of 100: nobody waits longer than three rounds.
    let limit = world.clock.wall_us() - 2 * i64::try_from(MINUTE.as_micros()).unwrap();
    assert!(oldest.unwrap() >= limit);
    assert_eq!(survey.last_root.unwrap().tenants, 250);
}

async fn every_file_begins_with_the_keys_and_every_tenant(back: Back) {
    let mut world = World::new(back, 150).await;
    world.round(Wish::All).await.unwrap();
    world.clock.advance(DAY);
    world.round(Wish::All).await.unwrap();

    let files = world.files();
    assert_eq!(files.len(), 2);
    let newest = fs::read_to_string(files.last().unwrap()).unwrap();
    assert!(newest.starts_with("{\"type\":\"key\""));
    assert_eq!(newest.matches("\"type\":\"checkpoint\"").count(), 150);
    // And it is enough to go on from.
    fs::remove_file(&files[0]).unwrap();
    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert_eq!(world.survey().unwrap().last_root.unwrap().number, 3);
}

async fn a_tenant_with_a_thousand_rows_is_signed_at_once_and_alone(back: Back) {
    let mut world = World::new(back, 2).await;
    world.round(Wish::All).await.unwrap();
    world.rows(0, 998).await;
    world.rows(1, 3).await;
    assert_eq!(world.progress().take_many(), []);
    world.rows(0, 2).await;
    world.progress().many().await;
    let many = world.progress().take_many();
    assert_eq!(many, [world.tenants[0].clone()]);
    world.round(Wish::Many(many)).await.unwrap();

    let newest = world.survey().unwrap().newest;
    assert_eq!((newest[&world.id(0)].seq, newest[&world.id(1)].seq), (1001, 1));
    assert_eq!(world.progress().take_many(), []);
}

async fn a_rotated_key_signs_from_the_next_round_on_and_old_lines_still_verify(back: Back) {
    let mut world = World::new(back, 1).await;
    world.round(Wish::All).await.unwrap();
    world.clock.advance(MINUTE);
    let rotated = SigningKeys::rotate(world.dir.path(), &world.clock).unwrap();
    world.round(Wish::All).await.unwrap();

    let survey = world.survey().unwrap();
    assert_eq!(survey.last_root.unwrap().key_id, rotated.newest().id());
    let keys = world
        .lines()
        .iter()
        .filter(|line| line.contains("\"type\":\"key\""))
        .count();
    assert_eq!(keys, 2);
}

async fn a_lost_list_of_keys_is_read_from_the_checkpoints_and_no_other_trust_root_begins(back: Back) {
    let mut world = World::new(back, 1).await;
    let first = SigningKeys::rotate(world.dir.path(), &world.clock).unwrap();
    world.round(Wish::All).await.unwrap();
    fs::remove_file(world.folder().join("keys.ndjson")).unwrap();
    // The private half of the trust root is not needed any more.
    let root = first.public().trust_root().id;
    fs::remove_file(world.dir.path().join(format!("keys/checkpoint-{root}.ed25519"))).unwrap();

    world.reopen();
    world.round(Wish::All).await.unwrap();

    let keys = crate::anchor::public_keys(&world.folder()).unwrap();
    assert_eq!(&keys, first.public());
    assert_eq!(world.survey().unwrap().last_root.unwrap().number, 2);
}

async fn a_round_that_cannot_be_written_is_an_error_and_the_next_one_takes_its_place(back: Back) {
    let mut world = World::new(back, 1).await;
    world.round(Wish::All).await.unwrap();
    world.clock.advance(DAY);
    let blocked = world.folder().join("2026-01-02.ndjson");
    fs::create_dir(&blocked).unwrap();
    let error = world.round(Wish::All).await.unwrap_err();
    assert!(
        matches!(error, RoundError::Desk(DeskError::Append { .. })),
        "{error}"
    );
    fs::remove_dir(&blocked).unwrap();

    world.round(Wish::All).await.unwrap();
    assert_eq!(world.survey().unwrap().last_root.unwrap().number, 2);
}

async fn a_crash_in_the_middle_of_a_line_costs_that_round_and_nothing_else(back: Back) {
    let mut world = World::new(back, 1).await;
    world.round(Wish::All).await.unwrap();
    // The last round is remembered once the file is durable, and not before.
    let last = world.dir.path().join("keys/checkpoint-last");
    let remembered = fs::read(&last).unwrap();
    world.round(Wish::All).await.unwrap();
    fs::write(&last, remembered).unwrap();
    let file = world.files().pop().unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 40]).unwrap();
    world.reopen();
    world.rows(0, 3).await;
    world.round(Wish::All).await.unwrap();

    // The checkpoint of the round whose root was cut rides in the next one.
    let survey = world.survey();
    assert!(
        survey
            .as_ref()
            .is_ok_and(|survey| survey.newest[&world.id(0)].seq == 4),
        "{survey:?}"
    );
}

async fn the_keeper_signs_at_once_and_once_more_when_it_is_told_to_stop(back: Back) {
    let mut world = World::new(back, 1).await;
    let stop = CancellationToken::new();
    let keeper = world.take_keeper();
    let mut durable = keeper.desk.as_ref().unwrap().durable();
    let task = tokio::spawn(keeper.keep(Duration::from_secs(3600), stop.clone()));
    durable.changed().await.unwrap();
    world.rows(0, 7).await;
    stop.cancel();
    task.await.unwrap();

    let survey = world.survey().unwrap();
    assert_eq!(survey.newest[&world.id(0)].seq, 8);
    assert_eq!(survey.last_root.unwrap().number, 2);
}

async fn many_rows_wake_the_keeper_before_its_hour_is_over(back: Back) {
    let mut world = World::new(back, 1).await;
    let stop = CancellationToken::new();
    let keeper = world.take_keeper();
    let mut durable = keeper.desk.as_ref().unwrap().durable();
    let task = tokio::spawn(keeper.keep(Duration::from_secs(3600), stop.clone()));
    durable.changed().await.unwrap();
    world.rows(0, 1000).await;
    time::timeout(Duration::from_secs(30), durable.changed())
        .await
        .unwrap()
        .unwrap();
    let seq = world.survey().unwrap().newest[&world.id(0)].seq;
    assert!(seq >= 1000, "{seq}");
    stop.cancel();
    task.await.unwrap();
}

#[test]
fn a_round_is_late_when_two_are_missed_and_is_told_once() {
    let pulse = Pulse::new(Duration::ZERO, Duration::from_secs(60));
    assert!(!pulse.tell(Duration::from_secs(120)));
    assert!(pulse.tell(Duration::from_secs(130)));
    pulse.beat(Duration::from_secs(131));
    assert!(!pulse.tell(Duration::from_secs(132)));
}

#[test]
fn an_empty_folder_has_no_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let keys = SigningKeys::open(dir.path(), &Clock::manual(0), false).unwrap();
    let survey = survey(&dir.path().join("checkpoints"), keys.public()).unwrap();
    assert!(survey.newest.is_empty() && survey.last_root.is_none());
    assert!(survey.prove(TenantId::system().as_str()).is_none());
}
