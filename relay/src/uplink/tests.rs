use futures::future::BoxFuture;
use toolgate_contract::frame::{Frame, GoAway, Hello, Kind, Octets, Secret};

use super::*;
use crate::service::Outcome;

#[path = "../../tests/harness/log.rs"]
mod log;

/// A project that is never asked anything.
struct Mute;

impl Service for Mute {
    const OFFER: Offer = Offer::Project;
    const BUDGET: usize = 0;

    fn answer(self: Arc<Self>, _: Frame, _: CancellationToken) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::pending())
    }
}

fn token() -> EnrolmentToken {
    EnrolmentToken {
        tenant: "local".parse().expect("reserved name"),
        secret: Secret::new([7; 32]),
        gateway_key: Octets([9; 32]),
    }
}

fn relay(dir: &tempfile::TempDir, name: &str) -> Relay<Mute> {
    let config = UplinkConfig {
        gateway_url: "http://127.0.0.1:9".to_owned(),
        enrolment_token: Some(token()),
        name: name.to_owned(),
        state_dir: dir.path().join("relay"),
        roots: TrustRoots::Platform,
        allow_root: true,
        state: None,
    };
    Relay::new(config, Arc::new(Mute)).expect("a relay")
}

/// Lets a relay say hello, and refuses it.
async fn refuse(
    relay: &mut Relay<Mute>,
    reason: GoAwayReason,
) -> (Hello, Result<Option<Parted>, RelayError>) {
    let (link, mut far) = Link::in_memory(None);
    let stop = CancellationToken::new();
    let play = async {
        let hello = far.receive().await.expect("a hello");
        far.send(&Frame::message(Kind::GoAway, &GoAway { reason })).await;
        hello.read(Kind::Hello).expect("a hello")
    };
    tokio::join!(play, relay.converse(link, &stop))
}

#[tokio::test]
async fn a_token_of_another_name_ends_the_relay_with_the_next_step() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut relay = relay(&dir, "shop");
    let log = log::Log::keep();
    let (hello, outcome) = refuse(&mut relay, GoAwayReason::OtherName).await;
    assert_eq!(hello.name, "shop");
    let error = outcome.expect_err("it ends");
    assert!(matches!(error, RelayError::OtherName), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the gateway knows this relay or the project of this token by another name; start it with that --name, or in a directory of its own"
    );
    let line = log.line("not enrolled");
    assert!(line.starts_with("ERROR"), "{line}");
    assert!(line.contains(&hello.public_key.to_string()), "{line}");
}

#[tokio::test]
async fn an_enrolled_relay_of_another_name_waits_for_a_person_who_reads_its_key() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut relay = relay(&dir, "");
    let (key, new) = Keeper::new_key().expect("a key");
    let enrolled = relay.keeper.keep(&new, &token(), "r").expect("keeps");
    let public = key.public();
    relay.known = Some((key, enrolled));
    let log = log::Log::keep();
    let (hello, outcome) = refuse(&mut relay, GoAwayReason::OtherName).await;
    assert_eq!(
        (hello.name.as_str(), hello.public_key),
        ("", public),
        "no name is claimed"
    );
    let parted = outcome.expect("it goes on").expect("parted");
    assert!(parted.is_refusal());
    relay.tell(&parted, Duration::from_secs(1));
    let line = log.line("someone must act");
    assert!(line.starts_with("ERROR"), "{line}");
    assert!(line.contains(&public.to_string()), "{line}");
    assert!(line.contains("start it with that --name"), "{line}");
}
