//! A relay played by hand, frame by frame, against the real room.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::future::BoxFuture;
use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair},
};
use tokio::{sync::Notify, task::JoinHandle};
use tokio_stream::wrappers::ReceiverStream;
use toolgate_contract::frame::{
    Challenge, FrameId, Hello, Octets, Offer, Proof, PublicKey, Secret, Session, Transcript,
};

use super::*;

mod calls;
mod conversations;
mod handshakes;
mod hostile;
mod hosts;
mod identities;
mod presences;
mod projects;

/// Relays and tokens in memory.
#[derive(Default)]
struct Memory {
    relays: Mutex<HashMap<TargetId, RelayRecord>>,
    tokens: Mutex<HashMap<[u8; 32], TargetId>>,
    down: Mutex<bool>,
    /// When set, `find` waits here after it has read.
    pause: Mutex<Option<Arc<Notify>>>,
    asked: Notify,
}

impl Enrolments for Memory {
    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        relay: TargetId,
    ) -> BoxFuture<'a, Result<Option<RelayRecord>, StoreUnavailable>> {
        Box::pin(async move {
            if *self.down.lock().expect("lock") {
                return Err(StoreUnavailable);
            }
            let found = self
                .relays
                .lock()
                .expect("lock")
                .get(&relay)
                .filter(|r| r.tenant == *tenant)
                .cloned();
            let pause = self.pause.lock().expect("lock").take();
            if let Some(pause) = pause {
                self.asked.notify_one();
                pause.notified().await;
            }
            Ok(found)
        })
    }

    fn redeem<'a>(
        &'a self,
        tenant: &'a TenantId,
        secret_hash: [u8; 32],
        public_key: PublicKey,
        offer: Offer,
    ) -> BoxFuture<'a, Result<RelayRecord, RedeemError>> {
        Box::pin(async move {
            if *self.down.lock().expect("lock") {
                return Err(StoreUnavailable.into());
            }
            let target = self
                .tokens
                .lock()
                .expect("lock")
                .remove(&secret_hash)
                .ok_or(RedeemError::Refused)?;
            let record = RelayRecord {
                tenant: tenant.clone(),
                target,
                public_key,
                offer,
                standing: Standing::Active,
            };
            self.relays.lock().expect("lock").insert(target, record.clone());
            Ok(record)
        })
    }
}

#[derive(Default)]
struct Told {
    alarms: AtomicUsize,
    refused: AtomicUsize,
    connected: AtomicUsize,
    disconnected: AtomicUsize,
    said: Mutex<Vec<(String, Bytes)>>,
    servers: Mutex<Vec<ServerState>>,
    presented: Mutex<Vec<(TenantId, TargetId, PublicKey)>>,
}

impl UplinkEvents for Told {
    fn connected(&self, _: &RelayRecord) {
        self.connected.fetch_add(1, Ordering::SeqCst);
    }

    fn disconnected(&self, _: &RelayRecord) {
        self.disconnected.fetch_add(1, Ordering::SeqCst);
    }

    fn refused(&self, _: &TenantId, _: GoAwayReason) {
        self.refused.fetch_add(1, Ordering::SeqCst);
    }

    fn clone_suspected(&self, _: &RelayRecord) {
        self.alarms.fetch_add(1, Ordering::SeqCst);
    }

    fn presented(&self, tenant: &TenantId, target: TargetId, key: PublicKey) {
        let told = (tenant.clone(), target, key);
        self.presented.lock().expect("lock").push(told);
    }

    fn said(&self, _: &RelayRecord, said: Said<'_>) {
        match said {
            Said::Notification { method, params } => {
                self.said.lock().expect("lock").push((method.to_owned(), params));
            }
            Said::Server(state) => self.servers.lock().expect("lock").push(state),
        }
    }
}

struct World {
    uplinks: Uplinks,
    store: Arc<Memory>,
    told: Arc<Told>,
    tenant: TenantId,
    gateway_key: PublicKey,
    _dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let keys = Arc::new(Keyring::open(dir.path()).expect("keys"));
        let gateway_key = Octets(keys.gateway_identity().public_key());
        let (store, told) = (Arc::new(Memory::default()), Arc::new(Told::default()));
        let uplinks = Uplinks::new(keys, Arc::clone(&store) as _, Arc::clone(&told) as _);
        Self {
            uplinks,
            store,
            told,
            tenant: TenantId::mint(),
            gateway_key,
            _dir: dir,
        }
    }

    /// A relay that has enrolled earlier.
    fn enrolled(&self) -> Relay {
        self.enrolled_as(Offer::Host)
    }

    /// The relay of a project that has enrolled earlier.
    fn project(&self) -> Relay {
        self.enrolled_as(Offer::Project)
    }

    fn enrolled_as(&self, offer: Offer) -> Relay {
        let mut relay = Relay {
            offer,
            ..self.stranger()
        };
        let target = TargetId::mint();
        relay.target = Some(target);
        let record = RelayRecord {
            tenant: self.tenant.clone(),
            target,
            public_key: relay.public_key(),
            offer,
            standing: Standing::Active,
        };
        self.store.relays.lock().expect("lock").insert(target, record);
        relay
    }

    /// A relay nobody knows yet.
    fn stranger(&self) -> Relay {
        Relay {
            key: key(),
            target: None,
            secret: None,
            offer: Offer::Host,
            tenant: self.tenant.to_string(),
        }
    }

    fn token(&self) -> Secret {
        self.token_for(TargetId::mint())
    }

    fn token_for(&self, target: TargetId) -> Secret {
        let mut bytes = [0; 32];
        ring::rand::SecureRandom::fill(&SystemRandom::new(), &mut bytes).expect("random");
        let secret = Secret::new(bytes);
        self.store
            .tokens
            .lock()
            .expect("lock")
            .insert(secret_hash(&secret), target);
        secret
    }

    fn dial(&self, channel: Option<ChannelBinding>) -> Wire {
        let (to_gateway, from_relay) = mpsc::channel(64);
        let (to_relay, from_gateway) = mpsc::channel(QUEUE);
        let uplinks = self.uplinks.clone();
        let incoming = Box::pin(futures::StreamExt::map(ReceiverStream::new(from_relay), Ok));
        let served = tokio::spawn(async move { uplinks.attach(incoming, to_relay, channel).await });
        Wire {
            to_gateway,
            from_gateway,
            session: None,
            served,
        }
    }

    /// Dials and proves itself.
    async fn connect(&self, relay: &Relay) -> Wire {
        let mut wire = self.dial(None);
        wire.shake(relay).await.expect("let in");
        wire
    }

    /// A project whose relay is connected.
    async fn connected_project(&self) -> (Relay, Wire) {
        let relay = self.project();
        let wire = self.connect(&relay).await;
        (relay, wire)
    }

    /// How the relay of a project is doing, which is connected.
    fn presence(&self, relay: &Relay) -> Presence {
        self.uplinks
            .presence(&self.tenant, relay.target())
            .expect("connected")
    }

    fn ask(
        &self,
        target: TargetId,
        params: &'static str,
        wait: Duration,
    ) -> JoinHandle<Result<Bytes, UplinkError>> {
        let (uplinks, tenant) = (self.uplinks.clone(), self.tenant.clone());
        tokio::spawn(async move {
            uplinks
                .request(
                    &tenant,
                    target,
                    "tools/call",
                    Bytes::from_static(params.as_bytes()),
                    wait,
                )
                .await
        })
    }
}

fn key() -> Ed25519KeyPair {
    let bytes = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("random");
    Ed25519KeyPair::from_pkcs8(bytes.as_ref()).expect("a key")
}

struct Relay {
    key: Ed25519KeyPair,
    target: Option<TargetId>,
    secret: Option<Secret>,
    offer: Offer,
    tenant: String,
}

impl Relay {
    fn public_key(&self) -> PublicKey {
        Octets(self.key.public_key().as_ref().try_into().expect("32 bytes"))
    }

    fn target(&self) -> TargetId {
        self.target.expect("enrolled")
    }

    fn hello(&self, nonce: u8) -> Hello {
        Hello {
            tenant: self.tenant.clone(),
            relay: self.target.map(|target| target.to_string()),
            public_key: self.public_key(),
            nonce: Octets([nonce; 32]),
            offer: self.offer,
            name: "db-1".to_owned(),
            software: "by hand".to_owned(),
        }
    }

    fn proof(&self, hello: &Hello, challenge: &Challenge, channel: Option<&ChannelBinding>) -> Proof {
        let signed = transcript(hello, challenge, channel).relay_bytes();
        let signature = Octets(self.key.sign(&signed).as_ref().try_into().expect("64 bytes"));
        Proof {
            signature,
            enrolment: self.secret.clone(),
        }
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

/// The relay's end of one connection.
struct Wire {
    to_gateway: mpsc::Sender<Bytes>,
    from_gateway: mpsc::Receiver<Bytes>,
    session: Option<Session>,
    served: JoinHandle<()>,
}

impl Wire {
    async fn send(&self, frame: Frame) {
        self.send_raw(frame.encode().expect("encodes")).await;
    }

    async fn send_raw(&self, message: Bytes) {
        // Sending to a gateway that has hung up is what some tests do.
        let _ = self.to_gateway.send(message).await;
    }

    async fn receive(&mut self) -> Option<Frame> {
        self.from_gateway
            .recv()
            .await
            .map(|message| Frame::decode(message).expect("a frame"))
    }

    /// The next request.
    async fn request(&mut self) -> Frame {
        loop {
            let frame = self.receive().await.expect("connected");
            if frame.header.kind == Kind::Request {
                return frame;
            }
        }
    }

    /// The reason of the goaway that ends the connection.
    async fn reason(&mut self) -> Option<GoAwayReason> {
        let mut reason = None;
        while let Some(frame) = self.receive().await {
            if let Ok(away) = frame.read::<GoAway>(Kind::GoAway) {
                reason = Some(away.reason);
            }
        }
        reason
    }

    async fn greet(&mut self, hello: &Hello) -> Challenge {
        self.send(Frame::message(Kind::Hello, hello)).await;
        self.receive()
            .await
            .expect("an answer")
            .read(Kind::Challenge)
            .expect("a challenge")
    }

    async fn shake(&mut self, relay: &Relay) -> Result<String, GoAwayReason> {
        static NONCE: AtomicUsize = AtomicUsize::new(1);
        let hello = relay.hello(NONCE.fetch_add(1, Ordering::SeqCst) as u8);
        let challenge = self.greet(&hello).await;
        self.send(Frame::message(
            Kind::Proof,
            &relay.proof(&hello, &challenge, None),
        ))
        .await;
        self.session = Some(Session::new(&hello.nonce));
        self.verdict().await
    }

    async fn verdict(&mut self) -> Result<String, GoAwayReason> {
        let frame = self.receive().await.expect("an answer");
        match frame.header.kind {
            Kind::Ready => Ok(frame.read::<Ready>(Kind::Ready).expect("ready").relay),
            _ => Err(frame.read::<GoAway>(Kind::GoAway).expect("goaway").reason),
        }
    }

    async fn answer(&self, id: &FrameId, body: &'static str) {
        self.send(Frame::new(Kind::Response, id.clone(), body)).await;
    }

    /// A question of the server, the `n`th of this relay.
    fn question(&self, n: u64, conversation: Option<FrameId>, about: Option<FrameId>) -> Frame {
        let id = self.session.as_ref().expect("connected").request(n);
        let mut frame = Frame::request(id, "sampling/createMessage", 0, "{\"n\":1}");
        frame.header.deadline_ms = None;
        frame.within(conversation).about(about)
    }

    /// The next frame that is no ping.
    async fn next(&mut self) -> Frame {
        loop {
            let frame = self.receive().await.expect("connected");
            if frame.header.kind != Kind::Ping {
                return frame;
            }
        }
    }

    /// The id and the code of the next answer.
    async fn refusal(&mut self) -> (FrameId, Option<RefusalCode>) {
        let frame = self.next().await;
        assert_eq!(frame.header.kind, Kind::Response);
        (frame.header.id, frame.header.error)
    }
}
