//! A server as a child process: messages are lines of its standard input and output.
//!
//! It runs under the guard, so that nothing it starts outlives the relay. What it prints to standard error is logged,
//! cut, and means nothing.

use std::{ffi::OsString, io, process::Stdio, time::Duration};

use bytes::Bytes;
use futures::{FutureExt, future::FusedFuture};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncWriteExt,
    process::{ChildStdin, ChildStdout, Command},
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use toolgate_contract::frame::RefusalCode;

use super::{
    child_log,
    lines::{Line, Lines},
    message, oversized, startable,
    wire::{Busy, Heard, LONGEST, QUEUE, Unanswered},
};
use crate::{
    exec::GuardProgram,
    guard::{KEEP, SERVE},
};

/// What a server gets to end by itself, once its input has ended.
const GRACE: Duration = Duration::from_secs(2);
/// What its guard gets on top of that.
const CLEAN_UP: Duration = Duration::from_secs(2);
/// What was written before the end is still read.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// What the relay and the rest of this product are told begins so. None of it is the server's: whoever reads the
/// one-time token could enrol in the relay's place, whoever reads a caller's could call.
const NOT_FOR_SERVERS: &[u8] = b"TOOLGATE_";

/// What is run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) guard: GuardProgram,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
}

/// One running server. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Child {
    input: mpsc::Sender<Bytes>,
    stop: CancellationToken,
    _stop: DropGuard,
}

impl Child {
    /// Starts a server, which is heard through `heard` and owned by `tasks`.
    pub(crate) fn start(
        program: &Program,
        heard: mpsc::Sender<Heard>,
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        startable::check(&program.program)?;
        let mut command = Command::new(&program.guard.program);
        for name in not_for_servers() {
            command.env_remove(name);
        }
        let mut process = command
            .args(&program.guard.arguments)
            .args([SERVE, &GRACE.as_millis().to_string(), KEEP, "--"])
            .arg(&program.program)
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (input, queued) = mpsc::channel(QUEUE);
        let stop = CancellationToken::new();
        let running = Running {
            process,
            heard,
            stop: stop.clone(),
        };
        tasks.spawn(child_log::keep(stderr));
        tasks.spawn(running.run(stdin, stdout, queued));
        Ok(Self {
            input,
            stop: stop.clone(),
            _stop: stop.drop_guard(),
        })
    }

    pub(crate) fn send(&self, message: Bytes) -> Result<(), Busy> {
        self.input
            .try_send(message::on_one_line(message))
            .map_err(|_| Busy)
    }

    pub(crate) fn close(&self) {
        self.stop.cancel();
    }
}

struct Running {
    process: tokio::process::Child,
    heard: mpsc::Sender<Heard>,
    stop: CancellationToken,
}

impl Running {
    async fn run(mut self, stdin: ChildStdin, stdout: ChildStdout, queued: mpsc::Receiver<Bytes>) {
        let mut reading = Box::pin(read(stdout, self.heard.clone()).fuse());
        let writing = Box::pin(write(stdin, queued));
        let why = tokio::select! {
            () = self.stop.cancelled() => "it was told to end".to_owned(),
            () = &mut reading => "it closed its output".to_owned(),
            () = writing => "it closed its input".to_owned(),
            status = self.process.wait() => ended(status),
        };
        // With the writer its input has ended: that is how a server is asked to leave. It may still write meanwhile.
        let mut leaving = Box::pin(self.leave(why));
        let why = loop {
            tokio::select! {
                why = &mut leaving => break why,
                () = &mut reading, if !reading.is_terminated() => {}
            }
        };
        drop(leaving);
        if !reading.is_terminated() {
            let _ = timeout(LAST_WORDS, reading).await;
        }
        let _ = self.heard.send(Heard::Ended { why }).await;
    }

    async fn leave(&mut self, why: String) -> String {
        let why = tokio::select! {
            status = self.process.wait() => return ended(status),
            () = sleep(GRACE + CLEAN_UP) => why,
        };
        let id = self.process.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = timeout(CLEAN_UP, self.process.wait()).await;
        why
    }
}

/// Names of variables that are set and not passed on.
fn not_for_servers() -> impl Iterator<Item = OsString> {
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| name.as_encoded_bytes().starts_with(NOT_FOR_SERVERS))
}

fn ended(status: io::Result<std::process::ExitStatus>) -> String {
    match status.map(|status| status.code()) {
        Ok(Some(0)) => "it ended".to_owned(),
        Ok(Some(code)) => format!("it ended with exit code {code}"),
        Ok(None) => "it was killed".to_owned(),
        Err(error) => format!("it is lost: {error}"),
    }
}

async fn write(mut stdin: ChildStdin, mut queued: mpsc::Receiver<Bytes>) {
    while let Some(message) = queued.recv().await {
        let written = async {
            stdin.write_all(&message).await?;
            stdin.write_all(b"\n").await?;
            stdin.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, heard: mpsc::Sender<Heard>) {
    let mut lines = Lines::new(stdout, LONGEST);
    let mut is_first = true;
    while let Ok(Some(line)) = lines.next().await {
        let messages = match line {
            Line::Whole(line) => understood(line, std::mem::take(&mut is_first)),
            Line::TooLong { head, tail } => too_long(&head, &tail),
        };
        for message in messages {
            if heard.send(message).await.is_err() {
                return;
            }
        }
    }
}

fn understood(mut line: Bytes, is_first: bool) -> Vec<Heard> {
    if is_first && line.starts_with(b"\xef\xbb\xbf") {
        line = line.slice(3..);
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    match message::read(&line) {
        Ok(messages) => messages
            .into_iter()
            .map(|said| Heard::Said { said, about: None })
            .collect(),
        Err(message::Unreadable) => {
            tracing::warn!(
                bytes = line.len(),
                "the server wrote a line that is no message; it is passed over"
            );
            Vec::new()
        }
    }
}

/// Whoever waits for what is too long hears so at once, where the line shows whose answer it is.
fn too_long(head: &[u8], tail: &[u8]) -> Vec<Heard> {
    tracing::warn!("the server wrote a message that is over the limit of 8 MiB; it is passed over");
    let id = oversized::answered(head, tail);
    let why = Unanswered::refused(RefusalCode::TooLarge, "the result is over the limit of 8 MiB");
    id.map(|id| Heard::Failed { id, why }).into_iter().collect()
}
