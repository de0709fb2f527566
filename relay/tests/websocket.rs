//! The whole relay over real WebSockets, plain and TLS, against the gateway's own room: enrols, runs a real command
//! under a real guard, comes back, and stops.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{SinkExt, StreamExt, future::BoxFuture};
use rustls::{ServerConfig, crypto::ring::default_provider};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::{
    accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{Request, Response},
    },
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{CHANNEL_LABEL, ChannelBinding, Octets, Offer, PublicKey, Secret},
    ids::{TargetId, TenantId},
};
use toolgate_core::{
    keys::Keyring,
    uplinks::{
        Enrolments, QUEUE, RedeemError, RelayRecord, Standing, StoreUnavailable, UplinkEvents, Uplinks,
        secret_hash,
    },
};
use toolgate_relay::{GuardProgram, HostConfig, RelayError, RelayState, TrustRoots, run_host};

#[derive(Default)]
struct Store {
    token: Mutex<Option<[u8; 32]>>,
    relay: Mutex<Option<RelayRecord>>,
}

impl Enrolments for Store {
    fn find<'a>(
        &'a self,
        _: &'a TenantId,
        relay: TargetId,
    ) -> BoxFuture<'a, Result<Option<RelayRecord>, StoreUnavailable>> {
        let found = self
            .relay
            .lock()
            .expect("lock")
            .clone()
            .filter(|record| record.target == relay);
        Box::pin(async { Ok(found) })
    }

    fn redeem<'a>(
        &'a self,
        tenant: &'a TenantId,
        hash: [u8; 32],
        public_key: PublicKey,
        offer: Offer,
    ) -> BoxFuture<'a, Result<RelayRecord, RedeemError>> {
        let known = self
            .token
            .lock()
            .expect("lock")
            .take_if(|token| *token == hash)
            .is_some();
        let record = RelayRecord {
            tenant: tenant.clone(),
            target: TargetId::mint(),
            public_key,
            offer,
            standing: Standing::Active,
        };
        if known {
            *self.relay.lock().expect("lock") = Some(record.clone());
        }
        Box::pin(async move {
            if known {
                Ok(record)
            } else {
                Err(RedeemError::Refused)
            }
        })
    }
}

struct Quiet;

impl UplinkEvents for Quiet {}

/// A gateway that is only its uplinks.
struct Gateway {
    uplinks: Uplinks,
    store: Arc<Store>,
    key: PublicKey,
    tenant: TenantId,
    address: SocketAddr,
    ca: Option<String>,
    seen: Arc<Mutex<Vec<String>>>,
    /// Cuts every open connection.
    cut: watch::Sender<u32>,
    dir: tempfile::TempDir,
}

impl Gateway {
    async fn start(tls: bool) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let keys = Arc::new(Keyring::open(dir.path()).expect("keys"));
        let key = Octets(keys.gateway_identity().public_key());
        let store = Arc::new(Store::default());
        let uplinks = Uplinks::new(keys, Arc::clone(&store) as _, Arc::new(Quiet));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("an address");
        let (acceptor, ca) = if tls { server_tls() } else { (None, None) };
        let seen = Arc::new(Mutex::default());
        let (cut, _) = watch::channel(0);
        tokio::spawn(accept(
            listener,
            acceptor,
            uplinks.clone(),
            Arc::clone(&seen),
            cut.clone(),
        ));
        Self {
            uplinks,
            store,
            key,
            tenant: TenantId::mint(),
            address,
            ca,
            seen,
            cut,
            dir,
        }
    }

    fn token(&self) -> EnrolmentToken {
        let secret = Secret::new([7; 32]);
        *self.store.token.lock().expect("lock") = Some(secret_hash(&secret));
        EnrolmentToken {
            tenant: self.tenant.clone(),
            secret,
            gateway_key: self.key,
        }
    }

    fn config(&self, token: Option<EnrolmentToken>) -> (HostConfig, watch::Receiver<RelayState>) {
        let (state, watched) = watch::channel(RelayState::Connecting);
        let (scheme, roots) = match &self.ca {
            None => ("http", TrustRoots::Platform),
            Some(pem) => {
                let path = self.dir.path().join("ca.pem");
                std::fs::write(&path, pem).expect("writes");
                ("https", TrustRoots::File(path))
            }
        };
        let config = HostConfig {
            gateway_url: format!("{scheme}://localhost:{}", self.address.port()),
            enrolment_token: token,
            name: "db-1".to_owned(),
            state_dir: self.dir.path().join("relay"),
            guard: GuardProgram {
                program: env!("CARGO_BIN_EXE_toolgate-guard").into(),
                arguments: vec!["__guard".into()],
            },
            roots,
            allow_root: true,
            built_in: false,
            state: Some(state),
        };
        (config, watched)
    }

    fn run(&self, token: Option<EnrolmentToken>) -> Running {
        let (config, state) = self.config(token);
        let stop = CancellationToken::new();
        Running {
            task: tokio::spawn(run_host(config, stop.clone())),
            state,
            stop,
        }
    }

    fn target(&self) -> TargetId {
        self.store
            .relay
            .lock()
            .expect("lock")
            .as_ref()
            .expect("enrolled")
            .target
    }

    async fn ask(&self, command: &str) -> serde_json::Value {
        let params =
            serde_json::json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}});
        let answer = self
            .uplinks
            .request(
                &self.tenant,
                self.target(),
                "tools/call",
                params.to_string().into(),
                Duration::from_secs(10),
            )
            .await
            .expect("answered");
        serde_json::from_slice(&answer).expect("json")
    }
}

struct Running {
    task: JoinHandle<Result<(), RelayError>>,
    state: watch::Receiver<RelayState>,
    stop: CancellationToken,
}

impl Running {
    async fn until(&mut self, wanted: impl Fn(&RelayState) -> bool) {
        let seen = timeout(
            Duration::from_secs(20),
            self.state.wait_for(|state| wanted(state)),
        )
        .await;
        seen.expect("in time").expect("a running relay");
    }

    async fn connected(&mut self) {
        self.until(|state| matches!(state, RelayState::Connected { .. }))
            .await;
    }

    async fn stopped(self) -> Result<(), RelayError> {
        self.stop.cancel();
        timeout(Duration::from_secs(5), self.task)
            .await
            .expect("stops")
            .expect("ran")
    }
}

fn server_tls() -> (Option<TlsAcceptor>, Option<String>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .expect("a configuration");
    (Some(TlsAcceptor::from(Arc::new(config))), Some(made.cert.pem()))
}

async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    uplinks: Uplinks,
    seen: Arc<Mutex<Vec<String>>>,
    cut: watch::Sender<u32>,
) {
    while let Ok((tcp, _)) = listener.accept().await {
        let (tls, uplinks, seen, mut cut) =
            (tls.clone(), uplinks.clone(), Arc::clone(&seen), cut.subscribe());
        tokio::spawn(async move {
            tokio::select! {
                () = connection(tcp, tls, uplinks, seen) => {}
                _ = cut.changed() => {}
            }
        });
    }
}

async fn connection(
    tcp: TcpStream,
    tls: Option<TlsAcceptor>,
    uplinks: Uplinks,
    seen: Arc<Mutex<Vec<String>>>,
) {
    let Some(tls) = tls else {
        return uplink(tcp, None, uplinks, seen).await;
    };
    let Ok(stream) = tls.accept(tcp).await else { return };
    let exporter = stream
        .get_ref()
        .1
        .export_keying_material([0; 32], CHANNEL_LABEL, None)
        .expect("an exporter");
    uplink(stream, Some(ChannelBinding(exporter)), uplinks, seen).await;
}

async fn uplink<S>(
    stream: S,
    channel: Option<ChannelBinding>,
    uplinks: Uplinks,
    seen: Arc<Mutex<Vec<String>>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    #[allow(clippy::result_large_err, reason = "the shape of the library's callback")]
    let note = |request: &Request, response: Response| {
        let mut seen = seen.lock().expect("lock");
        seen.push(format!("path: {}", request.uri().path()));
        seen.extend(request.headers().keys().map(|name| name.as_str().to_owned()));
        Ok(response)
    };
    let Ok(socket) = accept_hdr_async(stream, note).await else {
        return;
    };
    let (mut sink, stream) = socket.split();
    let incoming = stream.filter_map(async |message| match message {
        Ok(Message::Binary(bytes)) => Some(Ok(bytes)),
        Ok(_) => None,
        Err(_) => Some(Err(toolgate_core::uplinks::TransportError)),
    });
    let (outgoing, mut queued) = mpsc::channel::<Bytes>(QUEUE);
    let write = async {
        while let Some(message) = queued.recv().await {
            if sink.send(Message::Binary(message)).await.is_err() {
                break;
            }
        }
        let _ = sink.close().await;
    };
    tokio::join!(uplinks.attach(Box::pin(incoming), outgoing, channel), write);
}

#[tokio::test]
async fn a_relay_enrols_runs_a_real_command_and_stops() {
    let gateway = Gateway::start(false).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    let result = gateway.ask("uptime").await;
    let text = result["structuredContent"]["stdout"].as_str().expect("text");
    assert!(text.contains("load average"), "{text}");
    assert_eq!(result["content"][0]["text"], text);
    let table = gateway.ask("df -h").await;
    assert!(
        table["structuredContent"]["stdout"]
            .as_str()
            .expect("text")
            .contains("Mounted on"),
        "{table}"
    );
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn a_relay_asks_for_the_uplink_and_says_nothing_a_browser_would() {
    let gateway = Gateway::start(false).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    let seen = gateway.seen.lock().expect("lock").clone();
    assert!(seen.contains(&"path: /uplink".to_owned()), "{seen:?}");
    for header in ["origin", "cookie", "authorization", "sec-websocket-extensions"] {
        assert!(!seen.contains(&header.to_owned()), "{seen:?}");
    }
}

#[tokio::test]
async fn a_relay_comes_back_after_a_cut_and_after_a_restart_with_its_used_token() {
    let gateway = Gateway::start(false).await;
    let token = gateway.token();
    let mut relay = gateway.run(Some(token.clone()));
    relay.connected().await;
    let first = gateway.target();
    gateway.cut.send_modify(|cut| *cut += 1);
    relay
        .until(|state| matches!(state, RelayState::Waiting { .. }))
        .await;
    relay.connected().await;
    assert!(relay.stopped().await.is_ok());

    let mut relay = gateway.run(Some(token));
    relay.connected().await;
    assert_eq!(gateway.target(), first);
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn over_tls_both_ends_sign_the_same_connection() {
    let gateway = Gateway::start(true).await;
    let mut relay = gateway.run(Some(gateway.token()));
    relay.connected().await;
    assert!(gateway.ask("uptime").await["structuredContent"]["exit_code"] == 0);
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused() {
    let (gateway, other) = (Gateway::start(true).await, Gateway::start(true).await);
    let (mut config, state) = gateway.config(Some(gateway.token()));
    let foreign = gateway.dir.path().join("foreign.pem");
    std::fs::write(&foreign, other.ca.as_deref().expect("a certificate")).expect("writes");
    config.roots = TrustRoots::File(foreign);
    let stop = CancellationToken::new();
    let mut relay = Running {
        task: tokio::spawn(run_host(config, stop.clone())),
        state,
        stop,
    };
    relay
        .until(|state| matches!(state, RelayState::Waiting { why, .. } if why.contains("certificate")))
        .await;
    assert!(gateway.seen.lock().expect("lock").is_empty());
}

#[tokio::test]
async fn another_gateway_behind_the_same_address_is_not_believed() {
    let (gateway, other) = (Gateway::start(false).await, Gateway::start(false).await);
    let (mut config, state) = gateway.config(Some(gateway.token()));
    config.gateway_url = format!("http://127.0.0.1:{}", other.address.port());
    *other.store.token.lock().expect("lock") = Some(secret_hash(&Secret::new([7; 32])));
    let stop = CancellationToken::new();
    let mut relay = Running {
        task: tokio::spawn(run_host(config, stop.clone())),
        state,
        stop,
    };
    relay
        .until(|state| matches!(state, RelayState::Waiting { why, .. } if why.contains("pinned")))
        .await;
    assert!(
        other.store.token.lock().expect("lock").is_some(),
        "the secret never reached it"
    );
    assert!(relay.stopped().await.is_ok());
}

#[tokio::test]
async fn a_token_that_does_not_work_ends_the_relay_with_a_clear_word() {
    let gateway = Gateway::start(false).await;
    let token = EnrolmentToken {
        secret: Secret::new([8; 32]),
        ..gateway.token()
    };
    let relay = gateway.run(Some(token));
    let outcome = timeout(Duration::from_secs(5), relay.task)
        .await
        .expect("ends")
        .expect("ran");
    assert!(matches!(outcome, Err(RelayError::TokenRefused)), "{outcome:?}");
}

#[tokio::test]
async fn what_cannot_run_at_all_is_told_before_anything_is_dialled() {
    let gateway = Gateway::start(false).await;
    let refused = async |change: fn(&mut HostConfig)| {
        let (mut config, _) = gateway.config(None);
        change(&mut config);
        run_host(config, CancellationToken::new())
            .await
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(|_| {}).await.contains("not enrolled"));
    assert!(
        refused(|config| config.gateway_url = "http://gate.example".to_owned())
            .await
            .contains("use https")
    );
    assert!(
        refused(|config| config.gateway_url = "gate".to_owned())
            .await
            .contains("gateway URL")
    );
    assert!(
        refused(|config| config.state_dir = "/proc/none".into())
            .await
            .contains("state directory")
    );
    if std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0) {
        assert!(
            refused(|config| config.allow_root = false)
                .await
                .contains("--allow-root")
        );
    }
    assert!(gateway.seen.lock().expect("lock").is_empty());
}
