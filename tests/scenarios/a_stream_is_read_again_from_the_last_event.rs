//! Gate 017. After a broken connection a reader goes on where it was; two readers see the same; after a minute the
//! result is gone.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ground, on_each_store};

on_each_store!(a_stream_is_read_again_from_the_last_event);

async fn a_stream_is_read_again_from_the_last_event(ground: Ground) {
    let world = ground.world().clock_by_hand().host("web-1").start().await;
    let admin = world.admin();
    let call = admin
        .invoke("ssh.run_whitelisted_command", json!({"command": "uptime"}))
        .await
        .unwrap();

    let whole = admin.watch(&call).await.unwrap().all().await;
    let again = admin.watch(&call).await.unwrap().all().await;
    let after = admin
        .watch_after(&call, Some(&whole[0].id))
        .await
        .unwrap()
        .all()
        .await;
    let end = admin
        .watch_after(&call, Some(&whole[1].id))
        .await
        .unwrap()
        .all()
        .await;

    let ids = |events: &[toolgate_test_support::Event]| -> Vec<String> {
        events.iter().map(|event| event.id.clone()).collect()
    };
    assert_eq!(ids(&again), ids(&whole));
    assert_eq!(ids(&after), ids(&whole[1..]));
    assert_eq!(ids(&end), [""; 0]);
    assert_eq!(world.host("web-1").received(), ["uptime"]);

    let foreign = admin
        .watch_after(&call, Some("01ARZ3NDEKTSV4RRFFQ69G5FAV-1"))
        .await
        .unwrap_err();
    assert_eq!(foreign.status, 400, "{foreign:?}");
    world.clock().advance(Duration::from_secs(61));
    assert_eq!(admin.watch(&call).await.unwrap_err().status, 404);
}
