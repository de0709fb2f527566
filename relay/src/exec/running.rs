//! One program while it runs: its two pipes and the lifeline of its guard.

use std::{io, os::unix::net::UnixStream as StdUnixStream};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    process::{Child, ChildStderr, ChildStdout},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{ExecError, Finished, Report, capture::Capture, ended};

/// A program under its guard. Dropping it drops the lifeline, and the guard kills.
#[derive(Debug)]
pub(super) struct Running {
    lifeline: UnixStream,
    stdout: ChildStdout,
    stderr: ChildStderr,
    started: Instant,
}

/// A guard's word is one short line.
const MAX_REPORT: usize = 64;

impl Running {
    pub(super) fn new(lifeline: StdUnixStream, child: &mut Child) -> io::Result<Self> {
        lifeline.set_nonblocking(true)?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok(Self {
            lifeline: UnixStream::from_std(lifeline)?,
            stdout,
            stderr,
            started: Instant::now(),
        })
    }

    /// Reads until the program has ended, the output is full, or nobody waits any more.
    pub(super) async fn finish(
        &mut self,
        deadline: Instant,
        cancelled: &CancellationToken,
    ) -> Result<Finished, ExecError> {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(ExecError::Cancelled),
            finished = self.read() => finished,
            () = sleep_until(deadline) => Err(ExecError::TimedOut),
        }
    }

    async fn read(&mut self) -> Result<Finished, ExecError> {
        let mut capture = Capture::default();
        self.drain(&mut capture).await.map_err(ExecError::Spawn)?;
        if capture.is_full() {
            // Ends the lifeline one way: the guard kills, and still tells how the program ended.
            let _ = self.lifeline.shutdown().await;
        }
        let report = self.report().await;
        let (exit_code, signal) = ended(report)?;
        let truncated = capture.is_full();
        let (stdout, stderr) = capture.into_streams();
        Ok(Finished {
            exit_code,
            signal,
            stdout,
            stderr,
            truncated,
            duration: self.started.elapsed(),
        })
    }

    async fn drain(&mut self, capture: &mut Capture) -> io::Result<()> {
        let (mut out, mut err) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
        let (mut out_open, mut err_open) = (true, true);
        while (out_open || err_open) && !capture.is_full() {
            // Both reads are cancel-safe: what was not awaited to the end was not read.
            tokio::select! {
                read = self.stdout.read(&mut out), if out_open => {
                    let length = read?;
                    out_open = length > 0;
                    capture.stdout(&out[..length]);
                }
                read = self.stderr.read(&mut err), if err_open => {
                    let length = read?;
                    err_open = length > 0;
                    capture.stderr(&err[..length]);
                }
            }
        }
        Ok(())
    }

    async fn report(&mut self) -> Option<Report> {
        let mut said = [0; MAX_REPORT];
        let mut length = 0;
        while length < said.len() && !said[..length].contains(&b'\n') {
            match self.lifeline.read(&mut said[length..]).await {
                Ok(0) | Err(_) => break,
                Ok(more) => length += more,
            }
        }
        Report::read(&said[..length])
    }
}
