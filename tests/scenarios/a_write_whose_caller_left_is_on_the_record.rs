//! Gate E8's other half. A write is settled whoever waits for it: it ends in peace where it ends soon, and is recorded as
//! unknown where it does not. A read of a back end is cancelled and leaves no row, like any other.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{BackEnds, Ground, World, back_ends::Says, on_each_store, until};

on_each_store!(a_write_whose_caller_left_is_on_the_record);

async fn a_write_whose_caller_left_is_on_the_record(ground: Ground) {
    let world = ground.world().start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    back_ends.memory.says(Says::Hang);

    leave(&world, &back_ends, "get_memory", json!({"id": "m"})).await;
    leave(&world, &back_ends, "delete_memory", json!({"id": "m"})).await;

    let rows = until(Duration::from_secs(10), || async {
        let rows = world.audit_of("adapter.capability_invoked").await;
        (!rows.is_empty()).then_some(rows)
    })
    .await
    .expect("a row");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["capability"], &rows[0]["result"]),
        (&json!("delete_memory"), &json!("unknown"))
    );
}

/// Calls and is gone once the back end was asked.
async fn leave(world: &World, back_ends: &BackEnds, tool: &str, arguments: serde_json::Value) {
    back_ends.forget();
    let asked = until(Duration::from_secs(5), || async { back_ends.memory.last() });
    tokio::select! {
        told = world.call(tool, arguments) => panic!("{told:?}"),
        asked = asked => assert!(asked.is_some(), "{tool}"),
    }
}
