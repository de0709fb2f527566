//! What somebody does who holds the database, some of it with the record key too, and no chain can show.

use std::{fs, sync::Arc};

use data_encoding::HEXLOWER;

use super::world::{Back, MINUTE, World, event};
use crate::{
    anchor::{Alarm, keeper::Wish},
    audit::{Head, Sealer},
};

on_both_back_ends! {
    a_tail_cut_with_its_head_set_back_is_found_and_nothing_is_signed_over_it;
    a_cut_tail_that_grew_on_is_found_also_by_a_gateway_that_was_started_since;
    a_whole_chain_that_is_gone_is_found;
    a_database_restored_from_an_older_copy_is_found;
    a_chain_rewritten_with_the_record_key_is_found;
    an_edited_checkpoint_is_found_by_the_witness_and_by_the_survey;
    lines_and_rounds_that_were_taken_out_of_the_files_are_missed;
    a_head_that_is_no_head_is_alarmed_and_the_others_are_signed;
    an_alarm_ends_when_the_rows_are_back;
}

const COPY: &str = "create table event_copy as select * from audit_event;
                     create table head_copy as select * from audit_head";
const PUT_BACK: &str = "delete from audit_event; insert into audit_event select * from event_copy;
                         delete from audit_head; insert into audit_head select * from head_copy";

/// A tenant with ten rows that were signed, and one without.
async fn signed(back: Back) -> World {
    let mut world = World::new(back, 2).await;
    world.rows(0, 9).await;
    world.round(Wish::All).await.unwrap();
    world.clock.advance(MINUTE);
    assert_eq!(world.compare(0).await, "met 10");
    world
}

async fn cut_tail(world: &World, last: i64) {
    let id = world.id(0);
    world
        .tamper(&format!(
            "delete from audit_event where tenant_id = '{id}' and seq > {last};
         update audit_head set seq = {last},
             hash = (select hash from audit_event where tenant_id = '{id}' and seq = {last})
         where tenant_id = '{id}'"
        ))
        .await;
}

/// A whole new chain of so many rows, sealed with the gateway's own record key, in the place of the old one.
async fn rewrite(world: &World, rows: usize) {
    let (id, tenant) = (world.id(0), &world.tenants[0]);
    let hex = |bytes: &[u8]| format!("x'{}'", HEXLOWER.encode(bytes));
    let sealer = Sealer::new(Arc::clone(&world.keys));
    let mut head = Head::genesis(tenant);
    let mut sql = format!("delete from audit_event where tenant_id = '{id}';");
    for _ in 0..rows {
        let row = sealer.seal(tenant, &head, &event());
        let columns = row.columns().unwrap();
        sql.push_str(&format!(
            "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, time_us,
             kind, principal, capability, target_id, result, correlation_id)
             values ('{id}', {}, '{}', {}, {}, {}, {}, {}, '{}', {}, '{}', '{}', '{}', null, '{}', null);",
            row.seq,
            columns.event_id,
            hex(&row.prev),
            hex(&row.bytes),
            hex(&row.hash),
            hex(&row.mac),
            row.algorithm,
            row.key_id,
            columns.time_us,
            columns.kind,
            columns.principal,
            columns.capability,
            columns.result
        ));
        head = row.head();
    }
    sql.push_str(&format!(
        "update audit_head set seq = {}, hash = {} where tenant_id = '{id}'",
        head.seq,
        hex(&head.hash)
    ));
    world.tamper(&sql).await;
}

async fn a_tail_cut_with_its_head_set_back_is_found_and_nothing_is_signed_over_it(back: Back) {
    let mut world = signed(back).await;
    cut_tail(&world, 6).await;
    assert_eq!(world.compare(0).await, "truncated 6 of 10");

    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0) && !world.is_alarmed(1));
    let alarm = Alarm::Regressed {
        tenant_id: world.id(0),
        signed: 10,
    };
    assert_eq!(world.alarm(), Some(alarm));
    world.round(Wish::All).await.unwrap();
    assert_eq!(world.alarm(), None);
    let survey = world.survey().unwrap();
    assert_eq!(survey.newest[&world.id(0)].seq, 10);
    assert!(survey.newest[&world.id(0)].time_us < survey.newest[&world.id(1)].time_us);
    assert_eq!(survey.last_root.unwrap().tenants, 2);
}

async fn a_cut_tail_that_grew_on_is_found_also_by_a_gateway_that_was_started_since(back: Back) {
    let mut world = signed(back).await;
    rewrite(&world, 12).await;
    assert_eq!(world.compare(0).await, "fork 10");
    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
    assert_eq!(world.survey().unwrap().newest[&world.id(0)].seq, 10);
}

async fn a_whole_chain_that_is_gone_is_found(back: Back) {
    let mut world = signed(back).await;
    let id = world.id(0);
    world
        .tamper(&format!(
        "delete from audit_event where tenant_id = '{id}'; delete from audit_head where tenant_id = '{id}';
         delete from tenants where id = '{id}'"
    ))
        .await;
    assert_eq!(world.compare(0).await, "truncated 0 of 10");
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
    let survey = world.survey().unwrap();
    assert!(survey.newest.contains_key(&id));
    assert!(survey.prove(&id).is_some());
}

async fn a_database_restored_from_an_older_copy_is_found(back: Back) {
    let mut world = World::new(back, 1).await;
    world.rows(0, 4).await;
    world.tamper(COPY).await;
    world.rows(0, 5).await;
    world.round(Wish::All).await.unwrap();
    world.tamper(PUT_BACK).await;
    assert_eq!(world.compare(0).await, "truncated 5 of 10");
    world.reopen();
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
}

async fn a_chain_rewritten_with_the_record_key_is_found(back: Back) {
    let mut world = signed(back).await;
    rewrite(&world, 10).await;
    assert_eq!(world.compare(0).await, "fork 10");
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
}

async fn an_edited_checkpoint_is_found_by_the_witness_and_by_the_survey(back: Back) {
    let world = signed(back).await;
    let file = world.files().pop().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"seq\":10,", "\"seq\":11,", 1)).unwrap();
    assert!(
        world.compare(0).await.contains("signature does not hold"),
        "{}",
        world.compare(0).await
    );
    assert!(world.survey().is_err());
}

async fn lines_and_rounds_that_were_taken_out_of_the_files_are_missed(back: Back) {
    let mut world = World::new(back, 2).await;
    for _ in 0..3 {
        world.rows(0, 1).await;
        world.round(Wish::All).await.unwrap();
        world.clock.advance(MINUTE);
    }
    let file = world.files().pop().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for out in 0..lines.len() {
        let left: String = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != out)
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        fs::write(&file, left).unwrap();
        // Without the last root its checkpoints still stand, each by its own signature.
        let is_last = out == lines.len() - 1;
        assert_eq!(world.survey().is_ok(), is_last, "line {out}");
    }
    fs::write(&file, [&lines[..4], &lines[7..]].concat().join("\n") + "\n").unwrap();
    let missed = world.survey().unwrap_err().to_string();
    assert!(missed.contains("round 3 does not follow round 1"), "{missed}");
}

async fn a_head_that_is_no_head_is_alarmed_and_the_others_are_signed(back: Back) {
    let mut world = signed(back).await;
    world
        .tamper(&format!(
            "update audit_head set hash = x'00' where tenant_id = '{}';
         insert into audit_head (tenant_id, seq, hash) values ('nobody', 1, x'{}')",
            world.id(0),
            "00".repeat(32)
        ))
        .await;
    world.rows(1, 1).await;
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
    let newest = world.survey().unwrap().newest;
    assert_eq!((newest[&world.id(1)].seq, newest.len()), (2, 2));
}

async fn an_alarm_ends_when_the_rows_are_back(back: Back) {
    let mut world = signed(back).await;
    world.tamper(COPY).await;
    cut_tail(&world, 6).await;
    world.round(Wish::All).await.unwrap();
    assert!(world.is_alarmed(0));
    world.tamper(PUT_BACK).await;
    world.round(Wish::All).await.unwrap();
    assert!(!world.is_alarmed(0));
    assert_eq!(world.compare(0).await, "met 10");
}
