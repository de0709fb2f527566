use super::*;

const WAIT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn the_newest_connection_wins_and_the_older_one_is_told() {
    let world = World::new();
    let relay = world.enrolled();
    let mut older = world.connect(&relay).await;
    let call = world.ask(relay.target(), "old", WAIT);
    older.request().await;
    let mut newer = world.connect(&relay).await;
    assert_eq!(older.reason().await, Some(GoAwayReason::Superseded));
    assert_eq!(
        call.await.expect("ran"),
        Err(UplinkError::Lost),
        "no call runs twice"
    );
    let call = world.ask(relay.target(), "new", WAIT);
    let request = newer.request().await;
    assert_eq!(request.body, "new");
    newer.answer(&request.header.id, "done").await;
    assert!(call.await.expect("ran").is_ok());
}

#[tokio::test(start_paused = true)]
async fn two_holders_of_one_key_raise_the_alarm_and_are_locked_out() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wires = Vec::new();
    for _ in 0..4 {
        wires.push(world.connect(&relay).await);
    }
    assert_eq!(
        world.told.alarms.load(Ordering::SeqCst),
        0,
        "three turns are no alarm"
    );
    assert_eq!(
        world.dial(None).shake(&relay).await,
        Err(GoAwayReason::CloneSuspected)
    );
    assert_eq!(
        wires.pop().expect("the last").reason().await,
        Some(GoAwayReason::Superseded)
    );
    assert!(
        world.uplinks.presence(&world.tenant, relay.target()).is_none(),
        "neither of them stays"
    );
    assert_eq!(
        world.dial(None).shake(&relay).await,
        Err(GoAwayReason::CloneSuspected)
    );
    assert_eq!(
        world.told.alarms.load(Ordering::SeqCst),
        1,
        "one alarm, not one per try"
    );
}

async fn lock(world: &World, relay: &Relay) {
    let mut wires = Vec::new();
    for _ in 0..4 {
        wires.push(world.connect(relay).await);
    }
    assert_eq!(
        world.dial(None).shake(relay).await,
        Err(GoAwayReason::CloneSuspected)
    );
}

#[tokio::test(start_paused = true)]
async fn a_locked_target_stays_locked_until_a_relay_has_enrolled_anew_and_the_old_key_is_dead_then() {
    let world = World::new();
    let old = world.enrolled();
    lock(&world, &old).await;

    // A minted token alone changes nothing, and neither does time.
    let secret = world.token_for(old.target());
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    assert_eq!(
        world.dial(None).shake(&old).await,
        Err(GoAwayReason::CloneSuspected)
    );

    let mut new = world.stranger();
    new.secret = Some(secret);
    let _wire = world.connect(&new).await;
    assert!(world.uplinks.presence(&world.tenant, old.target()).is_some());
    for _ in 0..5 {
        assert_eq!(world.dial(None).shake(&old).await, Err(GoAwayReason::ReEnrol));
    }
    assert!(world.uplinks.presence(&world.tenant, old.target()).is_some());
    assert_eq!(world.told.alarms.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_relay_that_enrols_anew_ends_the_connection_of_the_former_key() {
    let world = World::new();
    let old = world.enrolled();
    let mut wire = world.connect(&old).await;
    let mut new = world.stranger();
    new.secret = Some(world.token_for(old.target()));
    let _wire = world.connect(&new).await;
    assert_eq!(wire.reason().await, Some(GoAwayReason::ReEnrol));
}

#[tokio::test]
async fn the_former_key_does_not_slip_in_while_another_one_enrols() {
    let world = World::new();
    let old = world.enrolled();
    let mut new = world.stranger();
    new.secret = Some(world.token_for(old.target()));
    let gate = Arc::new(Notify::new());
    *world.store.pause.lock().expect("lock") = Some(Arc::clone(&gate));
    let mut wire = world.dial(None);
    let shake = async { wire.shake(&old).await };
    let enrol = async {
        world.store.asked.notified().await;
        let wire = world.connect(&new).await;
        gate.notify_one();
        wire
    };
    let (verdict, _wire) = tokio::join!(shake, enrol);
    assert_eq!(verdict, Err(GoAwayReason::ReEnrol));
    assert!(world.uplinks.presence(&world.tenant, old.target()).is_some());
}

#[tokio::test]
async fn a_relay_that_the_store_holds_locked_is_sent_away() {
    let world = World::new();
    let relay = world.enrolled();
    {
        let mut relays = world.store.relays.lock().expect("lock");
        relays.get_mut(&relay.target()).expect("known").standing = Standing::Locked;
    }
    assert_eq!(
        world.dial(None).shake(&relay).await,
        Err(GoAwayReason::CloneSuspected)
    );
}

#[tokio::test(start_paused = true)]
async fn reconnecting_now_and_then_is_no_alarm() {
    let world = World::new();
    let relay = world.enrolled();
    let mut last = world.connect(&relay).await;
    for _ in 0..20 {
        let next = world.connect(&relay).await;
        assert_eq!(last.reason().await, Some(GoAwayReason::Superseded));
        last = next;
        tokio::time::advance(Duration::from_secs(21)).await;
    }
    assert_eq!(world.told.alarms.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn revoking_closes_the_live_connection_and_fails_its_calls() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let call = world.ask(relay.target(), "{}", WAIT);
    wire.request().await;
    world.uplinks.disconnect(relay.target());
    assert_eq!(wire.reason().await, Some(GoAwayReason::Revoked));
    assert_eq!(call.await.expect("ran"), Err(UplinkError::Lost));
    assert_eq!(
        world.ask(relay.target(), "{}", WAIT).await.expect("ran"),
        Err(UplinkError::Offline)
    );
}

#[tokio::test]
async fn a_relay_revoked_in_the_middle_of_its_handshake_does_not_slip_in() {
    let world = World::new();
    let relay = world.enrolled();
    let gate = Arc::new(Notify::new());
    *world.store.pause.lock().expect("lock") = Some(Arc::clone(&gate));
    let mut wire = world.dial(None);
    let shake = async { wire.shake(&relay).await };
    let revoke = async {
        world.store.asked.notified().await;
        let mut relays = world.store.relays.lock().expect("lock");
        relays.get_mut(&relay.target()).expect("known").standing = Standing::Revoked;
        drop(relays);
        world.uplinks.disconnect(relay.target());
        gate.notify_one();
    };
    let (verdict, ()) = tokio::join!(shake, revoke);
    assert_eq!(verdict, Err(GoAwayReason::Revoked));
    assert!(world.uplinks.presence(&world.tenant, relay.target()).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_silent_relay_is_pinged_and_then_given_up() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    let began = Instant::now();
    let call = world.ask(relay.target(), "{}", Duration::from_secs(600));
    wire.request().await;
    assert_eq!(wire.receive().await.expect("a ping").header.kind, Kind::Ping);
    assert_eq!(began.elapsed().as_secs(), 15);
    assert_eq!(wire.reason().await, Some(GoAwayReason::TimedOut));
    assert_eq!(began.elapsed().as_secs(), 45);
    assert_eq!(call.await.expect("ran"), Err(UplinkError::Lost));
}

#[tokio::test(start_paused = true)]
async fn a_relay_that_answers_pings_stays() {
    let world = World::new();
    let relay = world.enrolled();
    let mut wire = world.connect(&relay).await;
    for _ in 0..10 {
        let ping = wire.receive().await.expect("a ping");
        assert_eq!(ping.header.kind, Kind::Ping);
        tokio::time::advance(Duration::from_millis(3)).await;
        wire.send(Frame::new(Kind::Pong, ping.header.id, ping.body)).await;
    }
    wire.send(Frame::new(
        Kind::Ping,
        FrameId::parse("x").expect("an id"),
        &b"hi"[..],
    ))
    .await;
    let pong = wire.receive().await.expect("a pong");
    assert_eq!((pong.header.kind, pong.body.as_ref()), (Kind::Pong, &b"hi"[..]));
    let presence = world.presence(&relay);
    assert_eq!(presence.latency.expect("measured").as_millis(), 3);
}

#[tokio::test]
async fn what_a_sane_relay_does_not_send_ends_the_connection() {
    let world = World::new();
    let relay = world.enrolled();
    let request = Frame::request(FrameId::zero(), "tools/call", 1, Bytes::new());
    for frame in [
        request,
        Frame::new(Kind::Hello, FrameId::zero(), "{}"),
        Frame::new(Kind::Ready, FrameId::zero(), "{}"),
    ] {
        let mut wire = world.connect(&relay).await;
        wire.send(frame.clone()).await;
        assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol), "{frame:?}");
    }
}

#[tokio::test]
async fn a_gateway_that_stops_says_so_and_leaves_no_task() {
    let world = World::new();
    let relay = world.enrolled();
    let (mut wire, mut stranger) = (world.connect(&relay).await, world.dial(None));
    let (reason, other, ()) = tokio::join!(wire.reason(), stranger.reason(), world.uplinks.shutdown());
    assert_eq!(
        (reason, other),
        (Some(GoAwayReason::ShuttingDown), Some(GoAwayReason::ShuttingDown))
    );
    assert!(wire.served.await.is_ok() && stranger.served.await.is_ok());
    assert_eq!(
        world.told.connected.load(Ordering::SeqCst),
        world.told.disconnected.load(Ordering::SeqCst)
    );
}
