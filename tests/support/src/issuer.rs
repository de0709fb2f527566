//! An issuer of tokens: publishes its keys, signs, rotates, and goes down.

mod signer;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};
use toolgate_core::config::JwtConfig;

pub use self::signer::{Signer, unsigned};

/// What tokens of it have to say of whom they are for.
pub const AUDIENCE: &str = "https://gate.example/mcp";

/// A running issuer. Dropping it ends it.
#[derive(Debug)]
pub struct Issuer {
    url: String,
    set: watch::Sender<Option<String>>,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Issuer {
    /// Starts with these keys published.
    pub async fn start(signers: &[&Signer]) -> Self {
        // Whoever reads the keys has TLS at hand, and finds it installed by `main`. Fails where it was installed before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (set, sets) = watch::channel(Some(written(signers)));
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let answer = sets.borrow().clone();
                // Who is down still has a port; nothing comes out of it.
                if let Some(set) = answer {
                    answer_with(stream, &set, &count).await;
                }
            }
        });
        Self {
            url,
            set,
            asked,
            task,
        }
    }

    /// Its name, as `iss` says it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.url
    }

    /// Publishes these keys in place of the former.
    pub fn publish(&self, signers: &[&Signer]) {
        self.set.send_replace(Some(written(signers)));
    }

    /// Ends every connection without an answer until keys are published again.
    pub fn go_down(&self) {
        self.set.send_replace(None);
    }

    /// How often the keys were read.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Settings that trust it.
    #[must_use]
    pub fn settings(&self) -> JwtConfig {
        JwtConfig {
            issuer: self.url.clone(),
            audience: AUDIENCE.into(),
            jwks_url: format!("{}/keys", self.url),
            ..JwtConfig::default()
        }
    }

    /// What a good token of this subject says for an hour from `now_us` on.
    #[must_use]
    pub fn claims(&self, subject: &str, role: &str, now_us: i64) -> Value {
        let now = now_us / 1_000_000;
        json!({
            "iss": self.url, "aud": [AUDIENCE], "sub": subject, "toolgate_role": role,
            "iat": now, "nbf": now, "exp": now + 3_600,
        })
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn written(signers: &[&Signer]) -> String {
    let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
    json!({ "keys": keys }).to_string()
}

/// Answers only what a reader of keys may ask.
async fn answer_with(mut stream: TcpStream, set: &str, asked: &AtomicUsize) {
    let mut head = [0; 4096];
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut head)).await;
    let count = read.ok().and_then(Result::ok).unwrap_or_default();
    let (status, body) = match head[..count].starts_with(b"GET /keys HTTP/1.1\r\n") {
        true => ("200 OK", set),
        false => ("405 Method Not Allowed", ""),
    };
    asked.fetch_add(1, Ordering::SeqCst);
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}
