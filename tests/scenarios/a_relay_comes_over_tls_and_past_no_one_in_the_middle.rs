//! Relay and gateway sign the exporter of the TLS connection they share: a relay enrols and comes back over TLS, and
//! whoever ends TLS between them, even with a certificate that the relay believes, gets no relay.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use rcgen::generate_simple_self_signed;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tokio_util::sync::CancellationToken;
use toolgate_contract::enrolment::EnrolmentToken;
use toolgate_facade::tls;
use toolgate_relay::{GuardProgram, HostConfig, RelayError, RelayState, TrustRoots, run_host};
use toolgate_test_support::{World, binary};

const PATIENCE: Duration = Duration::from_secs(15);

#[tokio::test]
async fn a_relay_comes_over_tls_and_past_no_one_in_the_middle() {
    let made = generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), &certificate).unwrap();
    std::fs::write(folder.path().join("key.pem"), &key).unwrap();
    let world = World::new().tls(certificate.into(), key.into()).start().await;
    let (_, token) = world.admin().add_host("web-1").await.unwrap();
    let gateway = address(world.url());
    let middle = in_the_middle(gateway, folder.path()).await;
    let wire = passes_on(gateway).await;

    // Enrolment: never through the one in the middle, and its token is not spent by the attempt.
    let relay = Running::start(folder.path(), middle, Some(&token));
    relay.is_told("something in between").await;
    relay.stop().await.unwrap();
    // A wire that only passes bytes on is no party to the TLS connection.
    let relay = Running::start(folder.path(), wire, Some(&token));
    relay.connects().await;
    assert!(world.run("uptime").await.unwrap().text().contains("load average"));
    relay.stop().await.unwrap();

    // Coming back, with the key alone.
    let relay = Running::start(folder.path(), middle, None);
    relay.is_told("something in between").await;
    relay.stop().await.unwrap();
    assert_eq!(world.run("uptime").await.unwrap_err().reason, "RELAY_OFFLINE");
    let relay = Running::start(folder.path(), gateway, None);
    relay.connects().await;
    assert!(world.run("uptime").await.unwrap().text().contains("load average"));
    relay.stop().await.unwrap();
}

fn address(url: &str) -> SocketAddr {
    url.strip_prefix("https://").unwrap().parse().unwrap()
}

/// Ends TLS with the gateway's own certificate and key, and dials on with TLS of its own.
async fn in_the_middle(gateway: SocketAddr, folder: &Path) -> SocketAddr {
    let (certificate, key) = (folder.join("ca.pem"), folder.join("key.pem"));
    let acceptor = TlsAcceptor::from(tls::load(&certificate, &key).unwrap());
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&certificate).unwrap())
        .unwrap();
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, connector) = (acceptor.clone(), connector.clone());
            tokio::spawn(async move {
                let mut relay = acceptor.accept(stream).await.ok()?;
                let name = ServerName::try_from("127.0.0.1").ok()?;
                let stream = TcpStream::connect(gateway).await.ok()?;
                let mut gateway = connector.connect(name, stream).await.ok()?;
                copy_bidirectional(&mut relay, &mut gateway).await.ok()
            });
        }
    });
    own
}

async fn passes_on(gateway: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut relay, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut gateway = TcpStream::connect(gateway).await.ok()?;
                copy_bidirectional(&mut relay, &mut gateway).await.ok()
            });
        }
    });
    own
}

/// The real relay, with one state directory over all its runs.
struct Running {
    task: JoinHandle<Result<(), RelayError>>,
    state: watch::Receiver<RelayState>,
    stop: CancellationToken,
}

impl Running {
    fn start(folder: &Path, gateway: SocketAddr, token: Option<&str>) -> Self {
        let (sender, state) = watch::channel(RelayState::Connecting);
        let stop = CancellationToken::new();
        let config = HostConfig {
            gateway_url: format!("wss://{gateway}"),
            enrolment_token: token.map(|token| EnrolmentToken::parse(token).unwrap()),
            name: "web-1".into(),
            state_dir: folder.join("relay"),
            guard: GuardProgram {
                program: binary(),
                arguments: vec!["__guard".into()],
            },
            roots: TrustRoots::File(folder.join("ca.pem")),
            allow_root: true,
            built_in: false,
            state: Some(sender),
        };
        Self {
            task: tokio::spawn(run_host(config, stop.clone())),
            state,
            stop,
        }
    }

    async fn connects(&self) {
        let mut state = self.state.clone();
        let arrived = state.wait_for(|state| matches!(state, RelayState::Connected { .. }));
        let arrived = tokio::time::timeout(PATIENCE, arrived).await;
        assert!(matches!(arrived, Ok(Ok(_))), "{:?}", self.state.borrow());
    }

    async fn is_told(&self, part: &str) {
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| !matches!(state, RelayState::Connecting));
        let settled = tokio::time::timeout(PATIENCE, settled).await.unwrap().unwrap();
        let RelayState::Waiting { why, .. } = &*settled else {
            panic!("the relay believes the one in the middle: {:?}", *settled);
        };
        assert!(why.contains(part), "{why}");
    }

    async fn stop(self) -> Result<(), RelayError> {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap()
    }
}
