//! Told to stop, the gateway says so to probes at once, refuses new calls, lets those under way end over uplinks that
//! still stand, tells relays goodbye, and exits with 0. Told a second time, it ends at once.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;
use toolgate_contract::frame::GoAwayReason;
use toolgate_test_support::{Caller, Gateway, Relay, Reply, until};

const SSH: &str = "ssh.run_whitelisted_command";
const SOON: Duration = Duration::from_secs(5);

async fn with_a_slow_host(answer: Reply) -> (Gateway, Caller, Relay) {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let admin = gateway.admin();
    let (target, token) = admin.add_host("web-1").await.unwrap();
    let relay = Relay::enrol(gateway.url(), &target, &token).await.unwrap();
    relay.replies(answer);
    (gateway, admin, relay)
}

#[tokio::test]
async fn told_to_stop_the_gateway_answers_what_is_under_way() {
    let answer = Reply::PrintsAfter(Duration::from_millis(1_500), "up\n".into());
    let (mut gateway, admin, relay) = with_a_slow_host(answer).await;
    let waits = tokio::spawn({
        let admin = admin.clone();
        async move { admin.run("uptime").await }
    });
    let typed = tokio::spawn({
        let admin = admin.clone();
        let arguments = json!({"command": "uptime"});
        async move {
            let grpc = admin.grpc().await;
            grpc.call_typed("toolgate.tools.v1.SshService", "RunWhitelistedCommand", arguments)
                .await
        }
    });
    let call = admin.invoke(SSH, json!({"command": "uptime"})).await.unwrap();
    let streamed = admin.watch(&call).await.unwrap();
    // The host answers one after the other.
    let store = Connection::open(gateway.data_dir().join("toolgate.db")).unwrap();
    let count = |sql: &str| store.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let under_way = until(SOON, || async {
        (count("select count(*) from intent") == 3).then_some(())
    });
    under_way.await.expect("three calls are under way");
    assert_eq!(admin.get("/readyz").await.status, 200);

    let told = Instant::now();
    gateway.ask_to_stop().await;
    let unready = until(SOON, || async {
        let ready = admin.get("/readyz").await;
        (ready.status == 503).then_some(ready)
    })
    .await
    .expect("probes hear of it while calls are under way");
    assert!(
        unready.text.contains("the gateway is stopping"),
        "{}",
        unready.text
    );
    // One that would be refused anyway: for half a moment more, calls are still let in.
    let body = json!({"name": "no.such_tool", "arguments": {}});
    let refused = until(SOON, || async {
        let answer = admin.invoke_with(&body, &[]).await;
        (answer.status == 503).then_some(answer)
    })
    .await
    .expect("a new call is refused while others are under way");
    assert!(refused.text.contains("OVERLOADED"), "{}", refused.text);
    assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
    assert!(
        !(waits.is_finished() && typed.is_finished()),
        "calls are still under way"
    );

    assert_eq!(waits.await.unwrap().expect("an answer").text(), "up\n");
    assert_eq!(typed.await.unwrap().expect("an answer")["stdout"], "up\n");
    let events = streamed.all().await;
    assert!(
        events.iter().any(|event| event.event == "done"),
        "the stream ends with the call: {events:?}"
    );
    let seen = relay.wait(SOON, |seen| !seen.connected).await;
    assert_eq!(seen.goaway, Some(GoAwayReason::ShuttingDown));
    assert_eq!(gateway.ended().await, Some(0), "{}", gateway.log());
    assert!(told.elapsed() < Duration::from_secs(20), "{:?}", told.elapsed());

    assert_eq!(count("select count(*) from intent"), 0, "nothing is left open");
    let settled =
        "select count(*) from audit_event where kind = 'adapter.capability_invoked' and result = 'success'";
    assert!(count(settled) >= 3, "every answered call has its row");
    assert!(!gateway.log().contains("panicked"), "{}", gateway.log());
}

#[tokio::test]
async fn told_a_second_time_it_ends_at_once() {
    let (mut gateway, admin, relay) = with_a_slow_host(Reply::Hang).await;
    let call = tokio::spawn(async move { admin.run("uptime").await });
    relay.wait(SOON, |seen| seen.commands.len() == 1).await;
    gateway.ask_to_stop().await;
    let heard = until(SOON, || async {
        gateway.log().contains("told to stop").then_some(())
    })
    .await;
    heard.expect("the first signal is heard");
    let again = Instant::now();
    gateway.ask_to_stop().await;
    assert_eq!(gateway.ended().await, Some(1), "{}", gateway.log());
    assert!(again.elapsed() < Duration::from_secs(3), "{:?}", again.elapsed());
    call.abort();
}
