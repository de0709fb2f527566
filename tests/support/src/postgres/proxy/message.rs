//! Messages of PostgreSQL's protocol, version 3, whole and uninterpreted.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// More is no message of a test.
const LIMIT: u32 = 64 << 20;
/// Asks for TLS.
const SSL_REQUEST: u32 = 80_877_103;
/// The same for GSSAPI.
const GSS_REQUEST: u32 = 80_877_104;

/// One message with its header; `kind` is 0 for the first of a connection, which has none.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: u8,
    pub(super) bytes: Vec<u8>,
}

impl Message {
    /// The next message; an error at the end of the connection.
    pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let kind = from.read_u8().await?;
        Self::rest(from, kind, vec![kind]).await
    }

    /// The first message of a client.
    pub(super) async fn read_first(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        Self::rest(from, 0, Vec::new()).await
    }

    async fn rest(from: &mut (impl AsyncRead + Unpin), kind: u8, mut bytes: Vec<u8>) -> io::Result<Self> {
        let length = from.read_u32().await?;
        if !(4..LIMIT).contains(&length) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        bytes.extend(length.to_be_bytes());
        let start = bytes.len();
        bytes.resize(start + (length - 4) as usize, 0);
        from.read_exact(&mut bytes[start..]).await?;
        Ok(Self { kind, bytes })
    }

    /// Whether a first message asks for encryption, which there is none of.
    pub(super) fn asks_for_encryption(&self) -> bool {
        let code = self.bytes.get(4..8).and_then(|code| code.try_into().ok());
        let code = code.map(u32::from_be_bytes);
        self.kind == 0 && (code == Some(SSL_REQUEST) || code == Some(GSS_REQUEST))
    }

    /// The transaction status in a ReadyForQuery.
    pub(super) fn status(&self) -> Option<u8> {
        (self.kind == b'Z').then(|| self.bytes.get(5).copied())?
    }

    /// The strings that it begins with: of Query the statement, of Parse a name and the statement, of Bind a portal and
    /// a statement's name, of Execute a portal.
    pub(super) fn strings<const N: usize>(&self) -> [String; N] {
        let mut strings = self.bytes.get(5..).unwrap_or_default().split(|byte| *byte == 0);
        std::array::from_fn(|_| String::from_utf8_lossy(strings.next().unwrap_or_default()).into_owned())
    }
}
