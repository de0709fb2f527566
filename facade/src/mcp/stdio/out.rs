//! What is said to the peer: whole lines, one after the other, by the one task that owns the output.

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};

/// Lines that wait for a peer that reads slowly; whoever has another one waits.
const WAITING: usize = 64;

/// Where lines go. Clones share the output.
#[derive(Debug, Clone)]
pub(super) struct Out(mpsc::Sender<Bytes>);

impl Out {
    /// The way to a writer, and its lines.
    pub(super) fn new() -> (Self, mpsc::Receiver<Bytes>) {
        let (sender, lines) = mpsc::channel(WAITING);
        (Self(sender), lines)
    }

    /// Says one message; false when nobody takes it any more. Cancel safe: a line is said whole or not at all.
    pub(super) async fn say(&self, message: Bytes) -> bool {
        self.0.send(on_one_line(message)).await.is_ok()
    }

    /// Ends when nobody takes lines any more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}

/// Writes lines until the last way to it is gone, or the peer takes nothing for this long.
pub(super) async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Bytes>,
    patience: Duration,
) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        timeout(patience, one(&mut output, &line)).await??;
    }
    Ok(())
}

async fn one(output: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    output.write_all(line).await?;
    output.write_all(b"\n").await?;
    output.flush().await
}

/// A newline in JSON stands between its parts only, where a blank means the same.
fn on_one_line(message: Bytes) -> Bytes {
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if !message.iter().any(ends) {
        return message;
    }
    let mut line = BytesMut::from(&message[..]);
    line.iter_mut()
        .filter(|byte| ends(byte))
        .for_each(|byte| *byte = b' ');
    line.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_are_whole_lines_in_the_order_in_which_they_are_said() {
        let (out, lines) = Out::new();
        for message in ["{\"a\":\n1}", "{\"b\":\"\\n\"}", "{}\r\n"] {
            assert!(out.say(message.into()).await);
        }
        drop(out);
        let mut written = Vec::new();
        write(&mut written, lines, Duration::from_secs(1))
            .await
            .expect("memory is written");
        assert_eq!(
            String::from_utf8(written).expect("text"),
            "{\"a\": 1}\n{\"b\":\"\\n\"}\n{}  \n"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (out, lines) = Out::new();
        let (mine, theirs) = tokio::io::duplex(4);
        let writing = tokio::spawn(write(mine, lines, Duration::from_secs(30)));
        assert!(out.say("0123456789".into()).await);
        let error = writing.await.expect("a task").expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(!out.say("{}".into()).await);
        drop(theirs);
    }
}
