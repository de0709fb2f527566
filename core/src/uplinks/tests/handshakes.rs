use futures::future::join_all;
use proptest::prelude::*;
use ring::signature::{ED25519, UnparsedPublicKey};

use super::*;

#[tokio::test]
async fn an_enrolled_relay_is_let_in_under_its_id() {
    let world = World::new();
    let relay = world.enrolled();
    assert_eq!(
        world.dial(None).shake(&relay).await,
        Ok(relay.target().to_string())
    );
}

#[tokio::test]
async fn the_gateway_signs_both_nonces_with_the_key_it_shows() {
    let world = World::new();
    let channel = ChannelBinding([5; 32]);
    let hello = world.enrolled().hello(1);
    let challenge = world.dial(Some(channel)).greet(&hello).await;
    assert_eq!(challenge.gateway_key, world.gateway_key);
    assert!(challenge.channel_bound);
    let holds = |channel: Option<&ChannelBinding>| {
        UnparsedPublicKey::new(&ED25519, &world.gateway_key)
            .verify(
                &transcript(&hello, &challenge, channel).gateway_bytes(),
                challenge.signature.as_ref(),
            )
            .is_ok()
    };
    assert!(holds(Some(&channel)));
    assert!(!holds(Some(&ChannelBinding([6; 32]))), "another TLS connection");
    assert!(!holds(None));
}

#[tokio::test]
async fn a_token_lets_one_relay_in_of_a_hundred_that_try() {
    let world = World::new();
    let token = world.token();
    let tries = (0..100).map(|_| {
        let relay = Relay {
            secret: Some(token.clone()),
            ..world.stranger()
        };
        let mut wire = world.dial(None);
        async move { wire.shake(&relay).await }
    });
    let verdicts = join_all(tries).await;
    assert_eq!(verdicts.iter().filter(|verdict| verdict.is_ok()).count(), 1);
    let refused = verdicts
        .iter()
        .filter(|verdict| **verdict == Err(GoAwayReason::TokenRefused))
        .count();
    assert_eq!(refused, 99);
    assert_eq!(
        world.told.refused.load(Ordering::SeqCst),
        99,
        "each refusal is told"
    );
}

#[tokio::test]
async fn a_token_that_is_unknown_or_used_is_refused() {
    let world = World::new();
    let token = world.token();
    let first = Relay {
        secret: Some(token.clone()),
        ..world.stranger()
    };
    assert!(world.dial(None).shake(&first).await.is_ok());
    for secret in [token, Secret::new([3; 32])] {
        let relay = Relay {
            secret: Some(secret),
            ..world.stranger()
        };
        assert_eq!(
            world.dial(None).shake(&relay).await,
            Err(GoAwayReason::TokenRefused)
        );
    }
    assert_eq!(
        world.dial(None).shake(&world.stranger()).await,
        Err(GoAwayReason::Protocol),
        "no token at all"
    );
}

#[tokio::test]
async fn an_old_signature_is_worth_nothing_on_a_new_connection() {
    let world = World::new();
    let relay = world.enrolled();
    let hello = relay.hello(1);
    let mut first = world.dial(None);
    let proof = relay.proof(&hello, &first.greet(&hello).await, None);
    first.send(Frame::message(Kind::Proof, &proof)).await;
    assert!(first.verdict().await.is_ok());

    let mut second = world.dial(None);
    second.greet(&hello).await;
    second.send(Frame::message(Kind::Proof, &proof)).await;
    assert_eq!(second.verdict().await, Err(GoAwayReason::ProofRefused));
}

#[tokio::test]
async fn a_proof_made_for_another_relays_challenge_is_refused() {
    let world = World::new();
    let (relay, other) = (world.enrolled(), world.enrolled());
    let challenge_of_other = world.dial(None).greet(&other.hello(2)).await;
    let hello = relay.hello(1);
    let mut wire = world.dial(None);
    wire.greet(&hello).await;
    wire.send(Frame::message(
        Kind::Proof,
        &relay.proof(&hello, &challenge_of_other, None),
    ))
    .await;
    assert_eq!(wire.verdict().await, Err(GoAwayReason::ProofRefused));
}

#[tokio::test]
async fn a_proof_over_another_tls_connection_is_refused() {
    let world = World::new();
    let relay = world.enrolled();
    let hello = relay.hello(1);
    for channel in [None, Some(ChannelBinding([6; 32]))] {
        let mut wire = world.dial(Some(ChannelBinding([5; 32])));
        let challenge = wire.greet(&hello).await;
        wire.send(Frame::message(
            Kind::Proof,
            &relay.proof(&hello, &challenge, channel.as_ref()),
        ))
        .await;
        assert_eq!(wire.verdict().await, Err(GoAwayReason::ProofRefused));
    }
}

#[tokio::test]
async fn a_claimed_id_counts_only_with_its_key() {
    let world = World::new();
    let relay = world.enrolled();
    let thief = Relay {
        target: relay.target,
        ..world.stranger()
    };
    assert_eq!(world.dial(None).shake(&thief).await, Err(GoAwayReason::ReEnrol));
    let unknown = Relay {
        target: Some(TargetId::mint()),
        ..world.stranger()
    };
    assert_eq!(
        world.dial(None).shake(&unknown).await,
        Err(GoAwayReason::ReEnrol),
        "the same answer"
    );
    let elsewhere = Relay {
        tenant: TenantId::mint().to_string(),
        ..relay
    };
    assert_eq!(
        world.dial(None).shake(&elsewhere).await,
        Err(GoAwayReason::ReEnrol)
    );
}

#[tokio::test]
async fn a_revoked_relay_is_told_so() {
    let world = World::new();
    let relay = world.enrolled();
    world
        .store
        .relays
        .lock()
        .expect("lock")
        .get_mut(&relay.target())
        .expect("known")
        .standing = Standing::Revoked;
    assert_eq!(world.dial(None).shake(&relay).await, Err(GoAwayReason::Revoked));
}

#[tokio::test]
async fn a_store_that_is_down_is_no_refusal_for_good() {
    let world = World::new();
    *world.store.down.lock().expect("lock") = true;
    assert_eq!(
        world.dial(None).shake(&world.enrolled()).await,
        Err(GoAwayReason::Unavailable)
    );
    let fresh = Relay {
        secret: Some(world.token()),
        ..world.stranger()
    };
    assert_eq!(
        world.dial(None).shake(&fresh).await,
        Err(GoAwayReason::Unavailable)
    );
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_says_nothing_is_sent_away_after_ten_seconds() {
    let world = World::new();
    let began = Instant::now();
    assert_eq!(world.dial(None).reason().await, Some(GoAwayReason::TimedOut));
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn whatever_is_no_handshake_ends_it() {
    let world = World::new();
    let hello = world.enrolled().hello(1);
    let big = Hello {
        name: "n".repeat(MAX_HELLO),
        ..hello.clone()
    };
    let nobody = Hello {
        tenant: "not a tenant".to_owned(),
        ..hello.clone()
    };
    for message in [
        Bytes::from_static(b"GET / HTTP/1.1"),
        Bytes::new(),
        Frame::message(Kind::Hello, &big).encode().expect("encodes"),
        Frame::message(Kind::Hello, &nobody).encode().expect("encodes"),
        Frame::message(Kind::Proof, &hello).encode().expect("encodes"),
        Frame::request(FrameId::zero(), "tools/call", 1, Bytes::new())
            .encode()
            .expect("encodes"),
        Frame::new(Kind::Hello, FrameId::zero(), &b"[]"[..])
            .encode()
            .expect("encodes"),
    ] {
        let mut wire = world.dial(None);
        wire.send_raw(message.clone()).await;
        assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol), "{message:?}");
    }
}

const MAX_HELLO: usize = toolgate_contract::frame::MAX_HANDSHAKE_MESSAGE;

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_end_a_handshake_and_nothing_else(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let world = World::new();
            let mut wire = world.dial(None);
            for message in messages {
                wire.send_raw(message.into()).await;
            }
            assert_eq!(wire.reason().await, Some(GoAwayReason::Protocol));
            assert!(wire.served.await.is_ok());
        });
    }
}
