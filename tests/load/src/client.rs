//! An HTTP/1.1 client that costs little: one connection kept alive, requests made beforehand, answers cut by length
//! or by chunk.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The body, chunks and all.
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    /// Sends one request and reads its whole answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<Reply> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let (head, status, length) = loop {
            self.read().await?;
            if let Some(head) = find(&self.buffer, b"\r\n\r\n") {
                let text = std::str::from_utf8(&self.buffer[..head]).map_err(|_| bad("head is no text"))?;
                break (head + 4, status_of(text)?, length_of(text));
            }
        };
        match length {
            Some(length) => {
                while self.buffer.len() < head + length {
                    self.read().await?;
                }
            }
            None => {
                while !self.buffer[head..].ends_with(b"0\r\n\r\n") {
                    self.read().await?;
                }
            }
        }
        Ok(Reply {
            status,
            body: self.buffer[head..].to_vec(),
        })
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn status_of(head: &str) -> io::Result<u16> {
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| bad("no status"))
}

fn length_of(head: &str) -> Option<usize> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
}

fn bad(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
