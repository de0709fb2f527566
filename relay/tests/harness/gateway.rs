//! A gateway that is only its uplinks, behind real WebSockets, and relays that run against it.

#![allow(dead_code, reason = "each test binary uses its part")]

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
pub(crate) struct Store {
    pub(crate) token: Mutex<Option<[u8; 32]>>,
    pub(crate) relay: Mutex<Option<RelayRecord>>,
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

pub(crate) struct Quiet;

impl UplinkEvents for Quiet {}

/// The guard of this build, or where a test inside a namespace finds its copy.
#[allow(
    clippy::disallowed_methods,
    reason = "the only way in for a test that is a process"
)]
fn guard() -> std::path::PathBuf {
    std::env::var_os("TOOLGATE_TEST_GUARD")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_toolgate-guard").into())
        .into()
}

/// A gateway that is only its uplinks.
pub(crate) struct Gateway {
    pub(crate) uplinks: Uplinks,
    pub(crate) store: Arc<Store>,
    pub(crate) key: PublicKey,
    pub(crate) tenant: TenantId,
    pub(crate) address: SocketAddr,
    pub(crate) ca: Option<String>,
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    /// Cuts every open connection.
    pub(crate) cut: watch::Sender<u32>,
    pub(crate) dir: tempfile::TempDir,
}

impl Gateway {
    pub(crate) async fn start(tls: bool) -> Self {
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

    pub(crate) fn token(&self) -> EnrolmentToken {
        let secret = Secret::new([7; 32]);
        *self.store.token.lock().expect("lock") = Some(secret_hash(&secret));
        EnrolmentToken {
            tenant: self.tenant.clone(),
            secret,
            gateway_key: self.key,
        }
    }

    pub(crate) fn config(&self, token: Option<EnrolmentToken>) -> (HostConfig, watch::Receiver<RelayState>) {
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
                program: guard(),
                arguments: vec!["__guard".into()],
            },
            roots,
            allow_root: true,
            built_in: false,
            state: Some(state),
        };
        (config, watched)
    }

    pub(crate) fn run(&self, token: Option<EnrolmentToken>) -> Running {
        let (config, state) = self.config(token);
        let stop = CancellationToken::new();
        Running {
            task: tokio::spawn(run_host(config, stop.clone())),
            state,
            stop,
        }
    }

    pub(crate) fn target(&self) -> TargetId {
        self.store
            .relay
            .lock()
            .expect("lock")
            .as_ref()
            .expect("enrolled")
            .target
    }

    pub(crate) async fn ask(&self, command: &str) -> serde_json::Value {
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

pub(crate) struct Running {
    pub(crate) task: JoinHandle<Result<(), RelayError>>,
    pub(crate) state: watch::Receiver<RelayState>,
    pub(crate) stop: CancellationToken,
}

impl Running {
    pub(crate) async fn until(&mut self, wanted: impl Fn(&RelayState) -> bool) {
        let seen = timeout(
            Duration::from_secs(20),
            self.state.wait_for(|state| wanted(state)),
        )
        .await;
        seen.expect("in time").expect("a running relay");
    }

    pub(crate) async fn connected(&mut self) {
        self.until(|state| matches!(state, RelayState::Connected { .. }))
            .await;
    }

    pub(crate) async fn stopped(self) -> Result<(), RelayError> {
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
