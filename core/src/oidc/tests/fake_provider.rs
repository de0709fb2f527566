//! A provider that says whatever a test wants it to say.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::identity::jwt::signer::Signer;

/// Path → status and body.
type Answers = Arc<Mutex<BTreeMap<String, (u16, String)>>>;

/// What is asked of it, as it came.
type Asked = Arc<Mutex<Vec<String>>>;

pub(super) struct FakeProvider {
    pub(super) issuer: String,
    answers: Answers,
    asked: Asked,
}

impl FakeProvider {
    pub(super) async fn start() -> Self {
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let (answers, asked) = (Answers::default(), Asked::default());
        let (told, heard) = (Arc::clone(&answers), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&told), Arc::clone(&heard)));
            }
        });
        let fake = Self {
            issuer,
            answers,
            asked,
        };
        fake.describe(|_| ());
        fake
    }

    /// Publishes its document with a change.
    pub(super) fn describe(&self, change: impl FnOnce(&mut Value)) {
        let at = |path: &str| format!("{}{path}", self.issuer);
        let mut document = json!({
            "issuer": self.issuer,
            "authorization_endpoint": at("/auth"),
            "token_endpoint": at("/token"),
            "jwks_uri": at("/jwks"),
            "userinfo_endpoint": at("/me"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        change(&mut document);
        self.answer("/.well-known/openid-configuration", 200, &document);
    }

    pub(super) fn publish(&self, signers: &[&Signer]) {
        let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
        self.answer("/jwks", 200, &json!({ "keys": keys }));
    }

    /// Gives this ID token for any code.
    pub(super) fn give(&self, id_token: &str) {
        let answer = json!({"access_token": "access", "token_type": "Bearer", "id_token": id_token});
        self.answer("/token", 200, &answer);
    }

    pub(super) fn answer(&self, path: &str, status: u16, body: &Value) {
        self.say(path, status, &body.to_string());
    }

    pub(super) fn say(&self, path: &str, status: u16, body: &str) {
        let said = (status, body.to_owned());
        self.answers.lock().unwrap().insert(path.into(), said);
    }

    /// Requests to this path, whole.
    pub(super) fn asked(&self, path: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let of_it = asked.iter().filter(|it| it.split(' ').nth(1) == Some(path));
        of_it.cloned().collect()
    }
}

async fn serve(mut stream: TcpStream, answers: Answers, asked: Asked) {
    let mut text = String::new();
    let mut part = [0; 4096];
    // Requests of the tests are short, and their bodies come with their heads or right after.
    while let Ok(read) = stream.read(&mut part).await {
        text.push_str(&String::from_utf8_lossy(&part[..read]));
        if read == 0 || is_whole(&text) {
            break;
        }
    }
    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
    asked.lock().unwrap().push(text);
    let (status, body) = answers
        .lock()
        .unwrap()
        .get(&path)
        .cloned()
        .unwrap_or((404, String::new()));
    let answer = format!(
        "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}

fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    body.len() >= length.unwrap_or(0)
}
