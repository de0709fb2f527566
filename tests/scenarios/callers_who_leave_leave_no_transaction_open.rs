//! Calls that wait for their host hold no connection of the database, and callers who leave at any moment leave no
//! transaction open, no intent, and a store that serves the next one.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ground, Reply, World, until};

const SOON: Duration = Duration::from_secs(20);
/// More than there are connections.
const WAITING: usize = 40;
const LEAVING: u64 = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_for_their_host_hold_no_connection() {
    let test = "calls_that_wait_for_their_host_hold_no_connection";
    let Some(ground) = Ground::postgres(test).await else {
        return;
    };
    let world = ground.world().unlimited().host("web-1").start().await;
    let host = world.host("web-1");
    host.replies(Reply::Hang);
    let calls: Vec<_> = (0..WAITING).map(|_| call(&world)).collect();
    let seen = host.wait(SOON, |seen| seen.commands.len() == WAITING).await;
    assert_eq!(seen.commands.len(), WAITING);

    let busy = until(SOON, || async { (busy(&world).await == 0).then_some(()) });
    busy.await.expect("no connection is busy");
    let made = world
        .admin()
        .post("/api/tokens", json!({"name": "other", "role": "agent"}));
    let made = made.await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert!(made.took < Duration::from_secs(1), "{:?}", made.took);

    for call in calls {
        call.abort();
    }
    nothing_is_left(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_leave_leave_no_transaction_open() {
    let test = "callers_who_leave_leave_no_transaction_open";
    let Some(ground) = Ground::postgres(test).await else {
        return;
    };
    let world = ground.world().unlimited().host("web-1").start().await;
    for number in 0..LEAVING {
        let call = call(&world);
        // Anywhere between the first byte and some time after the answer.
        tokio::time::sleep(Duration::from_micros(number * 7919 % 20_000)).await;
        call.abort();
    }
    nothing_is_left(&world).await;
}

fn call(world: &World) -> tokio::task::JoinHandle<()> {
    let admin = world.admin().clone();
    tokio::spawn(async move {
        let _ = admin.run("uptime").await;
    })
}

async fn nothing_is_left(world: &World) {
    let quiet = until(SOON, || async {
        let open = world.store().count("select count(*) from intent").await;
        (open == Ok(0) && busy(world).await == 0).then_some(())
    });
    quiet.await.expect("nothing is open any more");
    world.host("web-1").replies(Reply::Prints("up\n".into()));
    world.run("uptime").await.expect("the next one is served");
    let verified = world.admin().post("/api/audit/verify", json!({})).await.json();
    assert_eq!(verified["verdict"], "intact", "{verified}");
}

/// Connections of the gateway that are in a transaction, or in a statement.
async fn busy(world: &World) -> i64 {
    let busy = "select count(*) from pg_stat_activity where datname = current_database() \
                and usename = 'toolgate_app' and state <> 'idle'";
    world.store().count(busy).await.unwrap()
}
