//! What a peer was asked.

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncReadExt};

/// One request, as it arrived.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "for the tests of other rooms too")]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path_and_query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

#[allow(dead_code, reason = "for the tests of other rooms too")]
impl Asked {
    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }

    /// A header, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// The next request of a connection; none once it has ended.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<Asked> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        more(stream, buffer).await?;
    };
    let head = String::from_utf8(buffer.drain(..end + 4).collect()).ok()?;
    let mut lines = head.trim_end().split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path_and_query) = (first.next()?.to_owned(), first.next()?.to_owned());
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::try_from(name).ok()?;
        headers.append(name, HeaderValue::try_from(value.trim()).ok()?);
    }
    let length = headers.get("content-length");
    let length: usize = length.and_then(|n| n.to_str().ok()?.parse().ok()).unwrap_or(0);
    while buffer.len() < length {
        more(stream, buffer).await?;
    }
    let body = buffer.drain(..length).collect();
    Some(Asked {
        method,
        path_and_query,
        headers,
        body,
    })
}

async fn more(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<()> {
    let read = stream.read_buf(buffer).await.ok()?;
    (read > 0).then_some(())
}
