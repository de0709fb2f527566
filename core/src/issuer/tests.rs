use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::watch,
    task::JoinHandle,
    time::Instant,
};

use super::*;
use crate::identity::jwt::signer::Signer;

const NOW_S: i64 = 1_767_225_600;
const ISSUER: &str = "https://issuer.example";

fn config(jwks_url: &str) -> JwtConfig {
    // Fails where another test was first, which is as good.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    JwtConfig {
        issuer: ISSUER.into(),
        audience: "gate".into(),
        jwks_url: jwks_url.into(),
        ..JwtConfig::default()
    }
}

fn token(signer: &Signer) -> String {
    signer.token(
        &json!({"iss": ISSUER, "aud": "gate", "sub": "a", "exp": NOW_S + 100_000, "toolgate_role": "agent"}),
    )
}

fn set(signers: &[&Signer]) -> String {
    let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
    let body = json!({ "keys": keys }).to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Serves an answer that can be changed, and counts; hangs where it is empty.
struct Peer {
    url: String,
    answer: watch::Sender<String>,
    asked: Arc<AtomicUsize>,
}

impl Peer {
    async fn start(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (answer, answers) = watch::channel(answer);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 4096];
                let n = stream.read(&mut head).await.unwrap_or_default();
                assert!(
                    head[..n].starts_with(b"GET /jwks HTTP/1.1\r\n"),
                    "only this is ever asked"
                );
                count.fetch_add(1, Ordering::SeqCst);
                let answer = answers.borrow().clone();
                tokio::spawn(async move {
                    match answer.is_empty() {
                        true => std::future::pending().await,
                        false => stream.write_all(answer.as_bytes()).await.unwrap_or_default(),
                    }
                });
            }
        });
        Self { url, answer, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

struct Given {
    issuer: Issuer,
    clock: Clock,
    stop: CancellationToken,
    keeper: JoinHandle<()>,
}

impl Given {
    fn new(config: &JwtConfig) -> Self {
        let clock = Clock::manual(NOW_S * 1_000_000);
        let issuer = Issuer::new(config, TenantId::mint(), clock.clone()).unwrap();
        let stop = CancellationToken::new();
        let keeper = tokio::spawn(issuer.clone().keep(stop.clone()));
        Self {
            issuer,
            clock,
            stop,
            keeper,
        }
    }

    async fn judge(&self, signer: &Signer) -> Result<(), Refused> {
        self.issuer.judge(&token(signer)).await.map(drop)
    }

    async fn end(self) {
        self.stop.cancel();
        self.keeper.await.unwrap();
    }
}

#[tokio::test]
async fn a_new_key_is_found_once_and_unknown_ones_cost_one_read_a_minute() {
    let (old, new, never) = (Signer::eddsa("old"), Signer::eddsa("new"), Signer::eddsa("never"));
    let peer = Peer::start(set(&[&old])).await;
    let given = Given::new(&config(&peer.url));
    assert_eq!(
        given.judge(&old).await,
        Ok(()),
        "the first caller waits for the first read"
    );
    assert_eq!(peer.asked(), 1);

    peer.answer.send_replace(set(&[&new]));
    assert_eq!(given.judge(&new).await, Ok(()), "a rotated key is read");
    assert_eq!(
        given.judge(&old).await,
        Err(Refused::KeyUnknown),
        "the former one is gone"
    );
    for _ in 0..50 {
        assert_eq!(given.judge(&never).await, Err(Refused::KeyUnknown));
    }
    assert_eq!(peer.asked(), 2, "within a minute nothing more is asked");

    given.clock.advance(Duration::from_secs(60));
    let many = futures::future::join_all((0..50).map(|_| given.judge(&never)));
    assert!(many.await.into_iter().all(|it| it == Err(Refused::KeyUnknown)));
    assert_eq!(peer.asked(), 3, "and then once for all of them");
    given.end().await;
}

#[tokio::test]
async fn while_the_issuer_is_down_or_talks_nonsense_its_former_keys_stay() {
    let (held, unknown) = (Signer::es256("held"), Signer::es256("unknown"));
    let peer = Peer::start(set(&[&held])).await;
    let given = Given::new(&config(&peer.url));
    assert_eq!(given.judge(&held).await, Ok(()));
    let big = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(300 * 1024));
    for (count, answer) in [
        "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"keys\": []}".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>".to_owned(),
        "no HTTP".to_owned(),
        big,
    ]
    .into_iter()
    .enumerate()
    {
        peer.answer.send_replace(answer);
        given.clock.advance(Duration::from_secs(61));
        assert_eq!(given.judge(&unknown).await, Err(Refused::KeyUnknown), "{count}");
        assert_eq!(peer.asked(), count + 2, "it was asked");
        assert_eq!(given.judge(&held).await, Ok(()), "{count}");
    }
    given.end().await;
}

#[tokio::test]
async fn a_call_waits_two_seconds_for_keys_and_known_ones_not_at_all() {
    let (held, unknown) = (Signer::eddsa("held"), Signer::eddsa("unknown"));
    let peer = Peer::start(set(&[&held])).await;
    let given = Given::new(&config(&peer.url));
    assert_eq!(given.judge(&held).await, Ok(()));
    peer.answer.send_replace(String::new());
    given.clock.advance(Duration::from_secs(61));
    let begun = Instant::now();
    let (waited, other) = tokio::join!(given.judge(&unknown), async {
        let judged = given.judge(&held).await;
        (judged, begun.elapsed())
    });
    assert_eq!(waited, Err(Refused::KeyUnknown));
    let took = begun.elapsed();
    assert!(took >= PATIENCE && took < PATIENCE * 2, "{took:?}");
    assert_eq!(other.0, Ok(()));
    assert!(other.1 < Duration::from_secs(1), "{:?}", other.1);
    given.end().await;
}

#[tokio::test]
async fn keys_are_read_from_a_file_as_well_and_anew() {
    let (one, two) = (Signer::rs256("one"), Signer::eddsa("two"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("jwks.json");
    let write = |signer: &Signer| std::fs::write(&path, json!({"keys": [signer.jwk()]}).to_string()).unwrap();
    write(&one);
    let mut settings = config("");
    settings.jwks_file = Some(path.clone());
    let given = Given::new(&settings);
    assert_eq!(given.judge(&one).await, Ok(()));
    write(&two);
    assert_eq!(given.judge(&two).await, Ok(()));
    std::fs::remove_file(&path).unwrap();
    given.clock.advance(Duration::from_secs(61));
    assert_eq!(given.judge(&one).await, Err(Refused::KeyUnknown));
    assert_eq!(given.judge(&two).await, Ok(()), "what was read last stays");
    given.end().await;
}

#[test]
fn settings_that_cannot_be_used_are_told() {
    let check = |change: fn(&mut JwtConfig), expected: &str| {
        let mut settings = config("https://issuer.example/jwks");
        change(&mut settings);
        let told = Issuer::new(&settings, TenantId::mint(), Clock::manual(0));
        let told = told.map(drop).unwrap_err().to_string();
        assert!(told.starts_with(expected), "{told}");
    };
    check(|it| it.audience.clear(), "jwt.issuer: ");
    check(|it| it.jwks_url.clear(), "jwt.jwks_url: ");
    check(|it| it.jwks_file = Some("/keys".into()), "jwt.jwks_url: ");
    check(
        |it| it.jwks_url = "http://issuer.example/jwks".into(),
        "jwt.jwks_url: ",
    );
    check(
        |it| it.jwks_url = "http://169.254.169.254/jwks".into(),
        "jwt.jwks_url: ",
    );
    check(
        |it| it.jwks_url = "https://169.254.169.254/jwks".into(),
        "jwt.jwks_url: ",
    );
    check(
        |it| it.jwks_url = "https://user:pass@issuer.example/jwks".into(),
        "jwt.jwks_url: ",
    );
    check(|it| it.jwks_url = "file:///etc/passwd".into(), "jwt.jwks_url: ");
    check(|it| it.tenant = "mine".into(), "jwt.tenant: ");
    check(|it| it.default_role = "root".into(), "jwt.default_role: ");
}
