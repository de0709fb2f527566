//! Both ends of an uplink joined in memory: the gateway's room and this crate's session, frame for frame, no sockets.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{StreamExt, future::BoxFuture};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    frame::{ChannelBinding, GoAwayReason, Octets, Offer, PublicKey, Ready, RefusalCode, Secret, Session},
    ids::{TargetId, TenantId},
};
use toolgate_core::{
    keys::Keyring,
    uplinks::{
        Enrolments, RedeemError, RelayRecord, Standing, StoreUnavailable, UplinkError, UplinkEvents, Uplinks,
        secret_hash,
    },
};

use crate::{
    exec::{Exec, GuardProgram},
    handshake::{Claim, HandshakeError, shake},
    identity::Key,
    link::Link,
    session::{End, serve},
};

/// One token, one relay.
struct Store {
    hash: [u8; 32],
    target: TargetId,
    relay: Mutex<Option<RelayRecord>>,
}

impl Enrolments for Store {
    fn find<'a>(
        &'a self,
        _: &'a TenantId,
        _: TargetId,
    ) -> BoxFuture<'a, Result<Option<RelayRecord>, StoreUnavailable>> {
        Box::pin(async { Ok(self.relay.lock().expect("lock").clone()) })
    }

    fn redeem<'a>(
        &'a self,
        tenant: &'a TenantId,
        hash: [u8; 32],
        public_key: PublicKey,
        offer: Offer,
    ) -> BoxFuture<'a, Result<RelayRecord, RedeemError>> {
        let mut relay = self.relay.lock().expect("lock");
        let redeemed = if hash == self.hash && relay.is_none() {
            let record = RelayRecord {
                tenant: tenant.clone(),
                target: self.target,
                public_key,
                offer,
                standing: Standing::Active,
            };
            *relay = Some(record.clone());
            Ok(record)
        } else {
            Err(RedeemError::Refused)
        };
        Box::pin(async { redeemed })
    }
}

struct Quiet;

impl UplinkEvents for Quiet {}

struct World {
    uplinks: Uplinks,
    gateway_key: PublicKey,
    secret: Secret,
    tenant: TenantId,
    target: TargetId,
    _dir: tempfile::TempDir,
}

fn world() -> World {
    let dir = tempfile::tempdir().expect("a directory");
    let keys = Arc::new(Keyring::open(dir.path()).expect("keys"));
    let gateway_key = Octets(keys.gateway_identity().public_key());
    let (secret, target) = (Secret::new([7; 32]), TargetId::mint());
    let store = Store {
        hash: secret_hash(&secret),
        target,
        relay: Mutex::default(),
    };
    let uplinks = Uplinks::new(keys, Arc::new(store), Arc::new(Quiet));
    World {
        uplinks,
        gateway_key,
        secret,
        tenant: TenantId::mint(),
        target,
        _dir: dir,
    }
}

impl World {
    /// A link whose far end is the gateway's room. `seen_there` is the exporter as the gateway's process has it.
    fn link(&self, ours: Option<ChannelBinding>, seen_there: Option<ChannelBinding>) -> Link {
        let (link, mut far) = Link::in_memory(ours);
        let (outgoing, mut queued) = mpsc::channel(32);
        let to_relay = far.to_relay.clone();
        tokio::spawn(async move {
            while let Some(message) = queued.recv().await {
                if to_relay.send(message).await.is_err() {
                    return;
                }
            }
        });
        let incoming = futures::stream::poll_fn(move |context| far.from_relay.poll_recv(context))
            .map(Ok)
            .boxed();
        let uplinks = self.uplinks.clone();
        tokio::spawn(async move { uplinks.attach(incoming, outgoing, seen_there).await });
        link
    }

    fn claim<'a>(&'a self, key: &'a Key, relay: Option<&'a str>, pins: &'a [PublicKey]) -> Claim<'a> {
        let enrolment = relay.is_none().then_some(&self.secret);
        Claim {
            tenant: self.tenant.as_str(),
            relay,
            key,
            pins,
            enrolment,
            offer: Offer::Host,
            name: "db-1",
        }
    }

    async fn shake(
        &self,
        key: &Key,
        relay: Option<&str>,
        exporters: [Option<ChannelBinding>; 2],
    ) -> Result<(Link, Session, Ready), HandshakeError> {
        let mut link = self.link(exporters[0], exporters[1]);
        let pins = [self.gateway_key];
        let (session, ready) = shake(&mut link, &self.claim(key, relay, &pins)).await?;
        Ok((link, session, ready))
    }

    async fn ask(&self, command: &str, wait: Duration) -> Result<serde_json::Value, UplinkError> {
        let params =
            serde_json::json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}});
        let params = params.to_string().into();
        let answer = self
            .uplinks
            .request(&self.tenant, self.target, "tools/call", params, wait)
            .await?;
        Ok(serde_json::from_slice(&answer).expect("json"))
    }

    /// Enrols and serves, with a script for a guard.
    async fn serve(&self, script: &str) -> (JoinHandle<End>, CancellationToken) {
        let (link, session, _) = self
            .shake(&Key::for_test(), None, [None; 2])
            .await
            .expect("let in");
        let guard = GuardProgram {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into(), "guard".into()],
        };
        let (exec, stop) = (Arc::new(Exec::new(guard)), CancellationToken::new());
        let stopping = stop.clone();
        (
            tokio::spawn(async move { serve(link, session, exec, &stopping).await }),
            stop,
        )
    }
}

const ECHO: &str = r#"shift 4; echo "$@"; echo "exit 0" >&0"#;
const WAIT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_relay_enrols_once_and_comes_back_by_its_key() {
    let world = world();
    let key = Key::for_test();
    let bound = [Some(ChannelBinding([3; 32])); 2];
    let (_link, _, ready) = world.shake(&key, None, bound).await.expect("enrolled");
    assert_eq!(ready.relay, world.target.to_string());
    let (_link, _, again) = world
        .shake(&key, Some(&ready.relay), bound)
        .await
        .expect("let in");
    assert_eq!(again, ready);
    let second = world
        .shake(&Key::for_test(), None, bound)
        .await
        .expect_err("refused");
    assert!(
        matches!(second, HandshakeError::Refused(GoAwayReason::TokenRefused)),
        "{second:?}"
    );
    let thief = world
        .shake(&Key::for_test(), Some(&ready.relay), bound)
        .await
        .expect_err("refused");
    assert!(
        matches!(thief, HandshakeError::Refused(GoAwayReason::ReEnrol)),
        "{thief:?}"
    );
}

#[tokio::test]
async fn two_ends_of_different_tls_connections_do_not_meet() {
    let world = world();
    let exporters = [Some(ChannelBinding([3; 32])), Some(ChannelBinding([4; 32]))];
    let outcome = world
        .shake(&Key::for_test(), None, exporters)
        .await
        .expect_err("refused");
    assert!(matches!(outcome, HandshakeError::Intercepted), "{outcome:?}");
    assert!(
        world.shake(&Key::for_test(), None, [None; 2]).await.is_ok(),
        "the token was not spent"
    );
}

#[tokio::test]
async fn a_call_goes_all_the_way_and_back() {
    let world = world();
    let (_served, _stop) = world.serve(ECHO).await;
    let result = world.ask("df -h", WAIT).await.expect("answered");
    assert_eq!(result["structuredContent"]["stdout"], "/usr/bin/df -h\n");
    assert_eq!(
        world.ask("rm -rf /", WAIT).await,
        Err(UplinkError::Refused(RefusalCode::WriteRejected))
    );
}

#[tokio::test]
async fn sixty_four_callers_at_once_get_their_own_answers() {
    let world = world();
    let (_served, _stop) = world.serve(ECHO).await;
    let calls = (1..=64).map(|n| {
        let world = &world;
        async move {
            let result = world
                .ask(&format!("journalctl -n {n}"), Duration::from_secs(30))
                .await
                .expect("answered");
            assert_eq!(
                result["structuredContent"]["stdout"],
                format!("/usr/bin/journalctl --no-pager -n{n}\n")
            );
        }
    });
    futures::future::join_all(calls).await;
}

#[tokio::test]
async fn output_of_many_chunks_comes_back_whole() {
    let world = world();
    let (_served, _stop) = world
        .serve(r#"head -c 250000 /dev/zero | tr '\0' x; echo "exit 0" >&0"#)
        .await;
    let result = world.ask("free -m", WAIT).await.expect("answered");
    assert_eq!(
        result["structuredContent"]["stdout"].as_str().map(str::len),
        Some(250_000)
    );
    assert_eq!(result["structuredContent"]["truncated"], false);
}

#[tokio::test]
async fn a_caller_that_leaves_ends_the_command() {
    let world = world();
    let dir = tempfile::tempdir().expect("a directory");
    let (begun, ended) = (dir.path().join("begun"), dir.path().join("ended"));
    // The lifeline of a guard ends when nobody waits for its command any more.
    let script = format!("touch {}; cat; touch {}", begun.display(), ended.display());
    let (_served, _stop) = world.serve(&script).await;
    tokio::select! {
        answer = world.ask("uptime", WAIT) => panic!("{answer:?}"),
        () = appears(&begun) => {}
    }
    appears(&ended).await;
}

#[tokio::test]
async fn a_relay_that_stops_fails_the_calls_it_had_and_is_offline() {
    let world = world();
    let (served, stop) = world.serve("exec cat").await;
    let (answer, ()) = tokio::join!(world.ask("uptime", WAIT), async {
        tokio::task::yield_now().await;
        stop.cancel();
    });
    assert!(
        matches!(answer, Err(UplinkError::Lost | UplinkError::Offline)),
        "{answer:?}"
    );
    assert!(matches!(served.await.expect("ran"), End::Stopped));
    assert_eq!(world.ask("uptime", WAIT).await, Err(UplinkError::Offline));
}

#[tokio::test]
async fn a_revoked_relay_hears_why() {
    let world = world();
    let (served, _stop) = world.serve(ECHO).await;
    world.uplinks.disconnect(world.target);
    assert!(matches!(
        served.await.expect("ran"),
        End::GoAway(GoAwayReason::Revoked)
    ));
}

async fn appears(path: &std::path::Path) {
    let look = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), look)
        .await
        .expect("appears");
}
