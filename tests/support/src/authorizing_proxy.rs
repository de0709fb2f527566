//! A proxy that adds a credential to every request, for peers that have no way to send one.
//!
//! It changes nothing else: not a header, not its case, not a space around a value, so that what a peer tries reaches
//! the gateway as it was sent.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::{JoinHandle, JoinSet},
};

use crate::Caller;

/// The longest head of a request.
const HEAD: usize = 64 * 1024;

/// A running proxy. Dropping it closes it and every connection through it.
#[derive(Debug)]
pub struct AuthorizingProxy {
    url: String,
    task: JoinHandle<()>,
}

impl AuthorizingProxy {
    /// One before the gateway of this caller, with its token, on a port of loopback.
    ///
    /// # Errors
    /// When there is no port.
    ///
    /// # Panics
    /// When the caller's URL is not http:// and an address.
    pub async fn start(caller: &Caller) -> io::Result<Self> {
        let address = caller
            .url()
            .strip_prefix("http://")
            .and_then(|address| address.parse::<SocketAddr>().ok())
            .expect("http:// and an address");
        let line = format!("Authorization: Bearer {}\r\n", caller.token());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        Ok(Self {
            url,
            task: tokio::spawn(accept(listener, address, line)),
        })
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for AuthorizingProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, address: SocketAddr, line: String) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let line = line.clone();
        connections.spawn(async move {
            let Ok(gateway) = TcpStream::connect(address).await else {
                return;
            };
            let _ = (client.set_nodelay(true), gateway.set_nodelay(true));
            let (from_client, mut to_client) = client.into_split();
            let (mut from_gateway, to_gateway) = gateway.into_split();
            // Whichever side ends takes the other with it: leaving is how a client cancels.
            tokio::select! {
                _ = requests(from_client, to_gateway, &line) => {}
                _ = tokio::io::copy(&mut from_gateway, &mut to_client) => {}
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Passes requests on, one after another, each with the line behind its first.
async fn requests(mut client: OwnedReadHalf, mut gateway: OwnedWriteHalf, line: &str) -> io::Result<()> {
    let mut read = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if read.len() > HEAD || client.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        };
        let first = read.windows(2).position(|two| two == b"\r\n").unwrap_or(0) + 2;
        let length = content_length(&read[..end])?;
        gateway.write_all(&read[..first]).await?;
        gateway.write_all(line.as_bytes()).await?;
        gateway.write_all(&read[first..end]).await?;
        read.drain(..end);
        while read.len() < length {
            if client.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        }
        gateway.write_all(&read[..length]).await?;
        read.drain(..length);
    }
}

fn content_length(head: &[u8]) -> io::Result<usize> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    if head.contains("\r\ntransfer-encoding:") {
        return Err(io::Error::other("no peer of these tests sends chunks"));
    }
    let length = head
        .split("\r\n")
        .find_map(|line| line.strip_prefix("content-length:"));
    length.map_or(Ok(0), |length| length.trim().parse().map_err(io::Error::other))
}
