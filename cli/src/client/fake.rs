//! A gateway for tests: answers each path with a given text and remembers what it was asked.

use std::sync::{Arc, Mutex};

use reqwest::Url;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use zeroize::Zeroizing;

use super::Gateway;

type Answers = Arc<Vec<(&'static str, String)>>;

/// The fake; ends with its last holder.
pub(crate) struct Fake {
    pub(crate) gateway: Gateway,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Fake {
    /// Answers a request whose first line starts with a given text; anything else is 404.
    pub(crate) async fn answering<const N: usize>(answers: [(&'static str, String); N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, log) = (Arc::new(answers.to_vec()), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answers), Arc::clone(&log)));
            }
        });
        // As main does it; the tests of one process share it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        assert!(Url::parse(&url).is_ok());
        let gateway = Gateway {
            http,
            url,
            token: Some(Zeroizing::new("tgk_T_S".into())),
            profile: None,
        };
        Self { gateway, asked, task }
    }

    /// Every request so far, head and body.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A JSON answer.
pub(crate) fn json(status: u16, body: &str) -> String {
    whole(status, "application/json", body)
}

/// A stream of events.
pub(crate) fn events(body: &str) -> String {
    whole(200, "text/event-stream", body)
}

/// A stream that is cut off before its end.
pub(crate) fn cut(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len() + 1
    )
}

fn whole(status: u16, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

async fn serve(mut stream: TcpStream, answers: Answers, log: Arc<Mutex<Vec<String>>>) {
    let request = read(&mut stream).await;
    let known = answers.iter().find(|(start, _)| request.starts_with(start));
    let answer = known.map_or_else(|| json(404, "{}"), |(_, answer)| answer.clone());
    log.lock().unwrap().push(request);
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return text.into_owned();
            }
        }
        assert!(
            stream.read_buf(&mut bytes).await.unwrap() > 0,
            "the request ended early"
        );
    }
}
