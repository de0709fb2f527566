use ring::signature::{Ed25519KeyPair, KeyPair};
use tokio::time::Instant;
use toolgate_contract::frame::ChannelBinding;

use super::*;
use crate::link::Far;

/// A gateway played by hand.
struct Gateway {
    key: Ed25519KeyPair,
}

impl Gateway {
    fn new() -> Self {
        let bytes = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("random");
        Self {
            key: Ed25519KeyPair::from_pkcs8(bytes.as_ref()).expect("a key"),
        }
    }

    fn public_key(&self) -> PublicKey {
        Octets(self.key.public_key().as_ref().try_into().expect("32 bytes"))
    }

    fn challenge(&self, hello: &Hello, channel: Option<&ChannelBinding>) -> Challenge {
        let mut challenge = Challenge {
            gateway_key: self.public_key(),
            nonce: Octets([8; 32]),
            channel_bound: channel.is_some(),
            signature: Octets([0; 64]),
        };
        let signed = transcript(hello, &challenge, channel).gateway_bytes();
        challenge.signature = Octets(self.key.sign(&signed).as_ref().try_into().expect("64 bytes"));
        challenge
    }
}

fn transcript<'a>(
    hello: &'a Hello,
    challenge: &'a Challenge,
    channel: Option<&'a ChannelBinding>,
) -> Transcript<'a> {
    Transcript {
        tenant: &hello.tenant,
        relay: hello.relay.as_deref().unwrap_or_default(),
        relay_key: &hello.public_key,
        gateway_key: &challenge.gateway_key,
        relay_nonce: &hello.nonce,
        gateway_nonce: &challenge.nonce,
        channel,
    }
}

async fn hello(far: &mut Far) -> Hello {
    far.receive()
        .await
        .expect("a hello")
        .read(Kind::Hello)
        .expect("a hello")
}

struct Relay {
    key: Key,
    pins: Vec<PublicKey>,
    secret: Secret,
}

impl Relay {
    fn of(gateway: &Gateway) -> Self {
        Self {
            key: Key::for_test(),
            pins: vec![gateway.public_key()],
            secret: Secret::new([7; 32]),
        }
    }

    /// It enrols: the case in which there is a secret to lose.
    fn claim(&self) -> Claim<'_> {
        Claim {
            tenant: "local",
            relay: None,
            key: &self.key,
            pins: &self.pins,
            enrolment: Some(&self.secret),
            offer: Offer::Host,
            name: "db-1",
        }
    }
}

/// Lets a relay that trusts `gateway` meet whatever `answer` makes of its hello; gives what came of it, and whether
/// anything left the relay after the challenge.
async fn meet(
    gateway: &Gateway,
    channel: Option<ChannelBinding>,
    answer: impl Fn(&Hello) -> Challenge,
) -> (Result<(), HandshakeError>, bool) {
    let relay = Relay::of(gateway);
    let (mut link, mut far) = Link::in_memory(channel);
    let play = async {
        let hello = hello(&mut far).await;
        far.send(&Frame::message(Kind::Challenge, &answer(&hello))).await;
        let proof = far.receive().await;
        if proof.is_some() {
            far.send(&Frame::message(
                Kind::Ready,
                &Ready {
                    relay: "r".to_owned(),
                },
            ))
            .await;
        }
        proof.is_some()
    };
    let claim = relay.claim();
    let shake = async {
        let outcome = shake(&mut link, &claim).await.map(drop);
        drop(link);
        outcome
    };
    tokio::join!(shake, play)
}

#[tokio::test]
async fn the_pinned_gateway_gets_a_proof_that_holds() {
    let gateway = Gateway::new();
    let relay = Relay::of(&gateway);
    let channel = ChannelBinding([4; 32]);
    let (mut link, mut far) = Link::in_memory(Some(channel));
    let play = async {
        let hello = hello(&mut far).await;
        assert_eq!(
            (hello.tenant.as_str(), &hello.relay, hello.offer),
            ("local", &None, Offer::Host)
        );
        let challenge = gateway.challenge(&hello, Some(&channel));
        far.send(&Frame::message(Kind::Challenge, &challenge)).await;
        let proof: Proof = far
            .receive()
            .await
            .expect("a proof")
            .read(Kind::Proof)
            .expect("a proof");
        let signed = transcript(&hello, &challenge, Some(&channel)).relay_bytes();
        UnparsedPublicKey::new(&ED25519, &relay.key.public())
            .verify(&signed, proof.signature.as_ref())
            .expect("holds");
        assert_eq!(proof.enrolment, Some(Secret::new([7; 32])));
        far.send(&Frame::message(
            Kind::Ready,
            &Ready {
                relay: "r".to_owned(),
            },
        ))
        .await;
        hello.nonce
    };
    let claim = relay.claim();
    let (shaken, nonce) = tokio::join!(shake(&mut link, &claim), play);
    let (session, ready) = shaken.expect("let in");
    assert_eq!((session, ready.relay.as_str()), (Session::new(&nonce), "r"));
}

#[tokio::test]
async fn a_gateway_with_another_key_learns_nothing() {
    let (pinned, other) = (Gateway::new(), Gateway::new());
    let (outcome, said_more) = meet(&pinned, None, |hello| other.challenge(hello, None)).await;
    assert!(
        matches!(outcome, Err(HandshakeError::WrongGateway)),
        "{outcome:?}"
    );
    assert!(!said_more);
}

#[tokio::test]
async fn a_gateway_that_only_shows_the_pinned_key_learns_nothing() {
    let (pinned, other) = (Gateway::new(), Gateway::new());
    let forged = |hello: &Hello| Challenge {
        gateway_key: pinned.public_key(),
        ..other.challenge(hello, None)
    };
    let (outcome, said_more) = meet(&pinned, None, forged).await;
    assert!(
        matches!(outcome, Err(HandshakeError::WrongGateway)),
        "{outcome:?}"
    );
    assert!(!said_more);
}

#[tokio::test]
async fn an_old_challenge_is_worth_nothing() {
    let gateway = Gateway::new();
    let old = |hello: &Hello| {
        gateway.challenge(
            &Hello {
                nonce: Octets([0; 32]),
                ..hello.clone()
            },
            None,
        )
    };
    let (outcome, said_more) = meet(&gateway, None, old).await;
    assert!(outcome.is_err());
    assert!(!said_more);
}

#[tokio::test]
async fn a_gateway_reached_through_a_foreign_tls_end_learns_nothing() {
    let gateway = Gateway::new();
    let theirs = ChannelBinding([5; 32]);
    // Someone with a certificate we believe passes messages on: the gateway's exporter is not ours.
    for ours in [Some(ChannelBinding([4; 32])), None] {
        let (outcome, said_more) =
            meet(&gateway, ours, |hello| gateway.challenge(hello, Some(&theirs))).await;
        assert!(matches!(outcome, Err(HandshakeError::Intercepted)), "{outcome:?}");
        assert!(!said_more);
    }
}

#[tokio::test]
async fn a_bound_challenge_cannot_be_talked_down() {
    let gateway = Gateway::new();
    let theirs = ChannelBinding([5; 32]);
    let unbound = |hello: &Hello| Challenge {
        channel_bound: false,
        ..gateway.challenge(hello, Some(&theirs))
    };
    let (outcome, said_more) = meet(&gateway, Some(ChannelBinding([4; 32])), unbound).await;
    assert!(outcome.is_err());
    assert!(!said_more);
}

#[tokio::test]
async fn tls_that_ends_before_the_gateway_is_accepted_on_the_gateways_word() {
    let gateway = Gateway::new();
    let (outcome, said_more) = meet(&gateway, Some(ChannelBinding([4; 32])), |hello| {
        gateway.challenge(hello, None)
    })
    .await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(said_more);
}

#[tokio::test]
async fn a_refusal_keeps_its_reason() {
    for reason in [
        GoAwayReason::Revoked,
        GoAwayReason::ReEnrol,
        GoAwayReason::TokenRefused,
        GoAwayReason::Overloaded,
    ] {
        let relay = Relay::of(&Gateway::new());
        let (mut link, far) = Link::in_memory(None);
        far.send(&Frame::message(Kind::GoAway, &GoAway { reason })).await;
        let outcome = shake(&mut link, &relay.claim()).await;
        assert!(
            matches!(outcome, Err(HandshakeError::Refused(told)) if told == reason),
            "{outcome:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_gateway_is_left_after_ten_seconds() {
    let relay = Relay::of(&Gateway::new());
    let (mut link, _far) = Link::in_memory(None);
    let began = Instant::now();
    assert!(matches!(
        shake(&mut link, &relay.claim()).await,
        Err(HandshakeError::Silent)
    ));
    assert_eq!(began.elapsed().as_secs(), 10);
}
