//! Gate J2-4, 019. Sixty calls fit into a burst; the next is told when to come again, and the host hears nothing of it.

use std::time::Duration;

use toolgate_test_support::{Ground, Role, on_each_store};

on_each_store!(the_sixty_first_call_of_a_burst_is_refused_and_the_host_left_alone);

async fn the_sixty_first_call_of_a_burst_is_refused_and_the_host_left_alone(ground: Ground) {
    let world = ground
        .world()
        .clock_by_hand()
        .host("web-1")
        .principal("reader", Role::Engineer)
        .principal("other", Role::Engineer)
        .start()
        .await;
    let reader = world.as_principal("reader");

    for number in 1..=60 {
        reader
            .run("uptime")
            .await
            .unwrap_or_else(|refusal| panic!("call {number}: {refusal:?}"));
    }
    let refusal = reader.run("uptime").await.unwrap_err();

    assert_eq!((refusal.status, refusal.reason.as_str()), (429, "RATE_LIMITED"));
    assert_eq!(refusal.retry_after, Some(1));
    assert_eq!(world.host("web-1").received().len(), 60);
    let invoked = reader.invoke(
        "ssh.run_whitelisted_command",
        serde_json::json!({"command": "uptime"}),
    );
    assert_eq!(invoked.await.unwrap_err().status, 429);
    world
        .as_principal("other")
        .run("uptime")
        .await
        .expect("another user is not affected");

    // One token comes back a second; a wall clock that goes backwards gives and takes nothing.
    world.clock().advance(Duration::from_secs(1));
    world.clock().set_wall_us(1);
    reader.run("uptime").await.expect("a token came back");
    assert_eq!(reader.run("uptime").await.unwrap_err().status, 429);
}

on_each_store!(a_write_attempt_over_the_limit_is_still_a_write_attempt);

async fn a_write_attempt_over_the_limit_is_still_a_write_attempt(ground: Ground) {
    let world = ground
        .world()
        .user_limit(2)
        .clock_by_hand()
        .host("web-1")
        .start()
        .await;

    for _ in 0..4 {
        let refusal = world.run("rm -rf /").await.unwrap_err();
        assert_eq!((refusal.status, refusal.reason.as_str()), (403, "WRITE_REJECTED"));
    }

    assert_eq!(
        world.run("uptime").await.unwrap_err().status,
        429,
        "attempts took the tokens"
    );
    assert_eq!(world.host("web-1").received(), [""; 0]);
}
