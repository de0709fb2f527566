//! HTTP/1.1 by hand, so that a peer can also answer as no sound server would.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

use super::{Asked, Says};

/// More than any head a test sends.
const LONGEST_HEAD: usize = 64 * 1024;

/// A listener on loopback. Dropping it ends it with its connections.
#[derive(Debug)]
pub(super) struct Listening {
    url: String,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Listening {
    pub(super) async fn start(answering: impl Fn(Asked) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, answering) = (Arc::clone(&connections), Arc::new(answering));
        let task = tokio::spawn(async move {
            let mut talks = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let Ok((stream, _)) = accepted else { continue };
                        count.fetch_add(1, Ordering::SeqCst);
                        let answering = Arc::clone(&answering);
                        talks.spawn(async move { talk(stream, &*answering).await });
                    }
                    Some(_) = talks.join_next() => {}
                }
            }
        });
        Self {
            url,
            connections,
            task,
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn talk(mut stream: TcpStream, answering: &(dyn Fn(Asked) -> Says + Send + Sync)) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Some(asked) = read(&mut stream, &mut buffer).await {
        let Some((wire, ends)) = answering(asked).wire() else {
            // Nothing is said, but who leaves is let go.
            let _ = stream.read(&mut [0; 1]).await;
            return;
        };
        if stream.write_all(&wire).await.is_err() || ends {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Asked> {
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = buffer.split_off(end + 4);
            break std::mem::replace(buffer, rest);
        }
        if buffer.len() > LONGEST_HEAD || stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    while buffer.len() < length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let rest = buffer.split_off(length);
    Some(Asked {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body: std::mem::replace(buffer, rest),
    })
}
