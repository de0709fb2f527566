//! Told to stop, the gateway takes nothing new, lets the call that is under way end, settles it and exits with 0.

use std::time::{Duration, Instant};

use toolgate_test_support::{Ground, Relay, Reply, on_each_store};

on_each_store!(a_gateway_that_stops_settles_what_is_under_way);

async fn a_gateway_that_stops_settles_what_is_under_way(ground: Ground) {
    let mut gateway = ground.gateway(&["--relay-built-in=false"]).await.unwrap();
    let admin = gateway.admin();
    let (target, token) = admin.add_host("web-1").await.unwrap();
    let relay = Relay::enrol(gateway.url(), &target, &token).await.unwrap();
    relay.replies(Reply::PrintsAfter(Duration::from_secs(2), "up\n".into()));

    let caller = admin.clone();
    let call = tokio::spawn(async move { caller.run("uptime").await });
    let seen = relay
        .wait(Duration::from_secs(5), |seen| seen.commands.len() == 1)
        .await;
    assert_eq!(seen.commands, ["uptime"]);
    let told = Instant::now();
    let code = gateway.terminate().await;

    let outcome = call.await.unwrap().expect("the call under way is answered");
    assert_eq!(outcome.text(), "up\n");
    assert_eq!(code, Some(0), "{}", gateway.log());
    assert!(told.elapsed() < Duration::from_secs(20), "{:?}", told.elapsed());
    let new = admin.request("GET".parse().unwrap(), "/healthz");
    assert!(admin.try_send(new).await.is_none(), "nobody listens any more");
    let store = gateway.store();
    let open = store.count("select count(*) from intent").await;
    assert_eq!(open, Ok(0), "nothing is left open");
    let settled =
        "select count(*) from audit_event where kind = 'adapter.capability_invoked' and result = 'success'";
    assert_eq!(store.count(settled).await, Ok(1));
}
