//! The identity that dials, beside the pinned one.

use super::*;

#[tokio::test]
async fn another_key_than_the_pinned_one_is_refused_and_told() {
    let world = World::new();
    let relay = world.project();
    let live = |world: &World| {
        world
            .uplinks
            .live_key(&world.tenant, relay.target())
            .map(|(key, _)| key)
    };
    assert_eq!(live(&world), None);
    let rebuilt = Relay {
        target: relay.target,
        offer: Offer::Project,
        ..world.stranger()
    };
    assert_eq!(world.dial(None).shake(&rebuilt).await, Err(GoAwayReason::ReEnrol));
    assert_eq!(live(&world), Some(rebuilt.public_key()));
    let told = world.told.presented.lock().expect("lock").clone();
    assert_eq!(
        told,
        [(world.tenant.clone(), relay.target(), rebuilt.public_key())]
    );
    assert_eq!(world.uplinks.live_key(&TenantId::mint(), relay.target()), None);

    // Pinned by an admin, its next dial is let in.
    {
        let mut relays = world.store.relays.lock().expect("lock");
        relays.get_mut(&relay.target()).expect("known").public_key = rebuilt.public_key();
    }
    let _wire = world.connect(&rebuilt).await;
    assert_eq!(live(&world), Some(rebuilt.public_key()));
    assert_eq!(
        world.told.presented.lock().expect("lock").len(),
        1,
        "the pinned key is no news"
    );
}

#[tokio::test]
async fn the_key_of_the_live_connection_comes_first() {
    let world = World::new();
    let (relay, wire) = world.connected_project().await;
    let other = Relay {
        target: relay.target,
        offer: Offer::Project,
        ..world.stranger()
    };
    assert_eq!(world.dial(None).shake(&other).await, Err(GoAwayReason::ReEnrol));
    let live = || {
        world
            .uplinks
            .live_key(&world.tenant, relay.target())
            .map(|(key, _)| key)
    };
    assert_eq!(live(), Some(relay.public_key()));
    drop(wire.to_gateway);
    wire.served.await.expect("ended");
    assert_eq!(live(), Some(other.public_key()));
    world.uplinks.disconnect(relay.target());
    assert_eq!(live(), None, "a target that is gone leaves nothing");
}

#[tokio::test]
async fn who_proves_nothing_or_names_what_is_not_there_leaves_no_trace() {
    let world = World::new();
    let relay = world.project();
    let claims = [
        Relay {
            target: Some(TargetId::mint()),
            offer: Offer::Project,
            ..world.stranger()
        },
        Relay {
            target: relay.target,
            offer: Offer::Project,
            tenant: TenantId::mint().to_string(),
            ..world.stranger()
        },
        // Another kind of relay.
        Relay {
            target: relay.target,
            ..world.stranger()
        },
    ];
    for claim in &claims {
        assert_eq!(world.dial(None).shake(claim).await, Err(GoAwayReason::ReEnrol));
    }
    // A key that is only claimed.
    let thief = Relay {
        target: relay.target,
        offer: Offer::Project,
        ..world.stranger()
    };
    let hello = thief.hello(9);
    let mut wire = world.dial(None);
    let challenge = wire.greet(&hello).await;
    let proof = world.stranger().proof(&hello, &challenge, None);
    wire.send(Frame::message(Kind::Proof, &proof)).await;
    assert_eq!(wire.verdict().await, Err(GoAwayReason::ProofRefused));
    assert_eq!(world.told.presented.lock().expect("lock").len(), 0);
    assert_eq!(world.uplinks.live_key(&world.tenant, relay.target()), None);
}
