//! Streams that only listen: the one of a session, and the one of a subscription.

use serde_json::{Value, json};
use toolgate_contract::v1::{ErrorReason, Failure};
use toolgate_facade::FacadeConfig;

use crate::{
    client::{self, Live},
    core::ScriptedCore,
    mcp::{BOTH, events, request},
    world::World,
};

const STREAM: (&str, &str) = ("accept", "text/event-stream");

async fn listen(world: &World, session: &str) -> Live {
    let live = world.live("/mcp", &[STREAM, ("mcp-session-id", session)]).await;
    assert_eq!(live.status, 200);
    assert_eq!(live.headers["content-type"], "text/event-stream");
    assert_eq!(live.headers["x-accel-buffering"], "no");
    live
}

async fn next(live: &mut Live) -> Value {
    events(&live.piece().await).remove(0)
}

fn changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}

/// H7, T2, LC4, and report #47.
#[tokio::test]
async fn a_session_is_told_when_its_list_is_another_one() {
    let world = World::start().await;
    let mut live = listen(&world, "2025-06-18.a.b").await;
    world.core.until_open(1).await;
    let asked = world.core.asked("WatchTools").remove(0);
    assert_eq!(asked.metadata["toolgate-session"], "2025-06-18.a.b");
    world.core.versions.send_replace("v2".into());
    assert_eq!(next(&mut live).await, changed());
    // The same version again is no change.
    world.core.versions.send_replace("v2".into());
    world.core.versions.send_replace("v3".into());
    assert_eq!(next(&mut live).await, changed());
    drop(live);
    world.core.until_open(0).await;
}

/// H8, and report #5: answers come on their own POST, and changes on this stream alone.
#[tokio::test]
async fn no_answer_ever_comes_on_the_stream_of_a_session() {
    let world = World::start().await;
    let mut live = listen(&world, "2025-06-18.a.b").await;
    world.core.until_open(1).await;
    let answer = world
        .say(
            &[("mcp-session-id", "2025-06-18.a.b")],
            request(1, "tools/call", json!({"name": "a.b"})),
        )
        .await;
    answer.result();
    world.core.versions.send_replace("v2".into());
    assert_eq!(next(&mut live).await, changed());
}

/// R1, R2, and report #32: nothing is replayed, whosever event is named.
#[tokio::test]
async fn an_event_id_of_anyone_replays_nothing() {
    let world = World::start().await;
    world.core.versions.send_replace("v7".into());
    let headers = [
        STREAM,
        ("mcp-session-id", "2025-06-18.a.b"),
        ("last-event-id", "01JDZ3V8Q4T7X9K2M5N6P8R0SA-3"),
    ];
    let mut live = world.live("/mcp", &headers).await;
    world.core.until_open(1).await;
    world.core.versions.send_replace("v8".into());
    assert_eq!(next(&mut live).await, changed());
}

#[tokio::test]
async fn the_newest_stream_of_a_session_takes_the_place_of_the_older_one() {
    let world = World::start().await;
    let mut first = listen(&world, "2025-06-18.a.b").await;
    let mut other = listen(&world, "2025-06-18.c.d").await;
    world.core.until_open(2).await;
    let mut second = listen(&world, "2025-06-18.a.b").await;
    assert_eq!(first.rest().await, "");
    world.core.versions.send_replace("v2".into());
    assert_eq!(next(&mut second).await, changed());
    assert_eq!(next(&mut other).await, changed());
}

/// Report #33: whoever names another's session is refused before anything of it is touched.
#[tokio::test]
async fn who_is_refused_a_session_does_not_end_its_stream() {
    let world = World::start().await;
    let mut live = listen(&world, "2025-06-18.a.b").await;
    world.core.until_open(1).await;
    *world.core.failure.lock().unwrap() =
        Some(Failure::new(ErrorReason::ResourceNotFound, "no such session"));
    let headers = [STREAM, ("mcp-session-id", "2025-06-18.a.b")];
    world.ask("GET", "/mcp", &headers, "").await.fault(404, 404);
    world.core.versions.send_replace("v2".into());
    assert_eq!(next(&mut live).await, changed());
}

/// H7: the form has to be one that the client takes.
#[tokio::test]
async fn a_stream_is_for_who_takes_streams() {
    let world = World::start().await;
    let session = ("mcp-session-id", "2025-06-18.a.b");
    let answer = world
        .ask("GET", "/mcp", &[session, ("accept", "application/json")], "")
        .await;
    answer.fault(406, -32600);
    assert_eq!(
        world.ask("HEAD", "/mcp", &[session, STREAM], "").await.status,
        405
    );
    assert!(world.core.asked("WatchTools").is_empty());
    let live = world.live("/mcp", &[session]).await;
    assert_eq!(live.status, 200);
}

/// Revocation holds for streams as for calls.
#[tokio::test]
async fn a_stream_ends_when_its_credential_is_no_longer_accepted() {
    let world = World::start().await;
    let mut live = listen(&world, "2025-06-18.a.b").await;
    let mut subscribed = subscribe(&world, json!({"toolsListChanged": true})).await;
    next(&mut subscribed).await;
    world.core.until_open(2).await;
    let failure = Failure::new(ErrorReason::CredentialInvalid, "the credential was revoked");
    world.core.watch_ends.send_replace(Some(failure));
    assert_eq!(live.rest().await, "");
    let last = next(&mut subscribed).await;
    assert_eq!(
        (&last["id"], &last["error"]["code"]),
        (&json!(1_u64 << 41), &json!(401))
    );
    assert_eq!(subscribed.rest().await, "");
}

#[tokio::test]
async fn streams_that_listen_end_as_soon_as_the_gateway_takes_no_more_requests() {
    let mut world = World::start().await;
    let mut live = listen(&world, "2025-06-18.a.b").await;
    let mut subscribed = subscribe(&world, json!({"toolsListChanged": true})).await;
    next(&mut subscribed).await;
    world.shutdown.cancel();
    assert_eq!(live.rest().await, "");
    // A subscription ends in order, with a result.
    let last = next(&mut subscribed).await;
    assert_eq!(last["id"], json!(1_u64 << 41));
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(
        last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        json!(1_u64 << 41)
    );
    (&mut world.facade).await.unwrap().unwrap();
}

/// Report #42: what is open is bounded, for all and for each.
#[tokio::test]
async fn one_credential_has_so_many_streams_and_no_more() {
    let world = World::start().await;
    let mut open = Vec::new();
    for n in 0..64 {
        open.push(listen(&world, &format!("2025-06-18.{n}.x")).await);
    }
    let refused = world
        .ask(
            "GET",
            "/mcp",
            &[STREAM, ("mcp-session-id", "2025-06-18.more.x")],
            "",
        )
        .await;
    refused.fault(503, 503);
    assert_eq!(refused.header("retry-after"), "30");
    open.pop();
    world.core.until_open(63).await;
    listen(&world, "2025-06-18.more.x").await;
}

#[tokio::test]
async fn a_caller_that_may_not_listen_is_told_so() {
    let failure = Failure::new(ErrorReason::CredentialInvalid, "no");
    let world = World::with(ScriptedCore::failing(failure), FacadeConfig::default()).await;
    let answer = world
        .ask("GET", "/mcp", &[STREAM, ("mcp-session-id", "2025-06-18.a.b")], "")
        .await;
    answer.fault(401, 401);
    let answer = world
        .modern("subscriptions/listen", json!({"notifications": {}}))
        .await;
    assert_eq!(answer.fault(401, 401)["id"], 1);
}

/// Ids above 2^40, as some clients count.
async fn subscribe(world: &World, notifications: Value) -> Live {
    let params = json!({"notifications": notifications, "_meta": crate::mcp::modern_meta()});
    let headers = [
        BOTH,
        ("mcp-protocol-version", crate::mcp::MODERN),
        ("mcp-method", "subscriptions/listen"),
    ];
    let body = request(1_u64 << 41, "subscriptions/listen", params);
    client::live(world.address, world.request("POST", "/mcp", &headers, body)).await
}

/// §1.2 list_changed: granted first, tagged always.
#[tokio::test]
async fn a_subscription_is_granted_what_there_is_and_each_message_names_it() {
    let world = World::start().await;
    let tag = json!({"io.modelcontextprotocol/subscriptionId": 1_u64 << 41});
    let mut live = subscribe(
        &world,
        json!({"toolsListChanged": true, "promptsListChanged": true}),
    )
    .await;
    assert_eq!(live.headers["content-type"], "text/event-stream");
    assert_eq!(
        next(&mut live).await,
        json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": {"toolsListChanged": true}, "_meta": tag}})
    );
    world.core.versions.send_replace("v2".into());
    assert_eq!(
        next(&mut live).await,
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": tag}})
    );
    drop(live);
    world.core.until_open(0).await;
}

#[tokio::test]
async fn a_subscription_to_nothing_that_there_is_stays_open_and_silent() {
    let world = World::start().await;
    for wanted in [
        json!({"promptsListChanged": true}),
        json!({"toolsListChanged": false}),
        json!({}),
    ] {
        let mut live = subscribe(&world, wanted).await;
        assert_eq!(next(&mut live).await["params"]["notifications"], json!({}));
        world.core.versions.send_modify(|version| version.push('x'));
        let silence = tokio::time::timeout(std::time::Duration::from_millis(50), live.piece()).await;
        assert!(silence.is_err(), "{silence:?}");
    }
}

#[tokio::test]
async fn a_subscription_that_cannot_be_read_or_sent_is_refused() {
    let world = World::start().await;
    for params in [
        json!({}),
        json!({"notifications": []}),
        json!({"notifications": {"toolsListChanged": 1}}),
        json!({"notifications": {"ToolsListChanged": true}}),
    ] {
        let answer = world.modern("subscriptions/listen", params).await;
        assert_eq!(answer.json()["error"]["code"], -32602);
    }
    let mut request = world.modern_request("subscriptions/listen", json!({"notifications": {}}));
    request
        .headers_mut()
        .insert("accept", "application/json".parse().unwrap());
    let answer = client::send(world.address, request).await;
    assert_eq!(answer.json()["error"]["code"], -32602);
    assert!(world.core.asked("WatchTools").is_empty());
}
