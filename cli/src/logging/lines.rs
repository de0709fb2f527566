//! The way of lines to a writer that may stall or fail: a bounded queue and one thread.
//!
//! Whoever logs leaves the line here and goes on. Lines beyond the bound are lost and counted, lines that cannot be
//! written are lost.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

/// Bytes that may wait.
const ROOM: usize = 1024 * 1024;

/// Where lines are left. Clones share the queue.
#[derive(Debug, Clone)]
pub(super) struct Lines(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    writing: bool,
    lost: u64,
}

impl Lines {
    /// Starts the thread that writes to `out`; it ends with the process.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let theirs = Arc::clone(&queue);
        std::thread::Builder::new()
            .name("log".into())
            .spawn(move || theirs.write_to(out))?;
        Ok(Self(queue))
    }

    /// Leaves a line. Does not wait.
    pub(super) fn push(&self, line: Vec<u8>) {
        let mut state = self.0.state();
        if state.bytes + line.len() > ROOM {
            state.lost += 1;
            return;
        }
        state.bytes += line.len();
        state.waiting.push_back(line);
        drop(state);
        self.0.changed.notify_all();
    }

    /// Waits until everything is written, at most so long; false when it is not.
    pub(super) fn flush(&self, patience: Duration) -> bool {
        let busy = |state: &mut State| state.writing || !state.waiting.is_empty();
        let waited = self.0.changed.wait_timeout_while(self.0.state(), patience, busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Queue {
    fn write_to(&self, mut out: impl Write) {
        loop {
            let (line, lost) = self.next();
            // Nobody can be told that telling fails.
            drop(out.write_all(&line).and_then(|()| out.flush()));
            self.state().writing = false;
            self.changed.notify_all();
            if lost > 0 {
                tracing::warn!(
                    lines = lost,
                    "lines of the log were lost: standard error was not read in time"
                );
            }
        }
    }

    /// The next line, and how many were lost when it is the last one that waits.
    fn next(&self) -> (Vec<u8>, u64) {
        let empty = |state: &mut State| state.waiting.is_empty();
        let waited = self.changed.wait_while(self.state(), empty);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let line = state.waiting.pop_front().unwrap_or_default();
        state.bytes -= line.len();
        state.writing = true;
        let lost = match state.waiting.is_empty() {
            true => std::mem::take(&mut state.lost),
            false => 0,
        };
        (line, lost)
    }

    // Nothing under this lock can panic half-way but for want of memory.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The formatter hands over one whole line at a time.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    /// Hands over what is written, each time once it is let.
    struct Stalling {
        let_go: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Stalling {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.let_go.recv();
            drop(self.written.send(bytes.to_vec()));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Failing(Sender<()>);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(());
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stalls_keeps_nobody_waiting_and_the_queue_is_bounded() {
        let (free, let_go) = channel();
        let (written, read) = channel();
        let lines = Lines::start(Stalling { let_go, written }).unwrap();
        for _ in 0..64 {
            lines.push(vec![b'x'; ROOM / 16]);
        }
        assert!(lines.0.state().bytes <= ROOM);
        assert!(lines.0.state().lost >= 47);
        lines.flush(Duration::from_millis(1));
        drop(free);
        lines.flush(SOON);
        assert!((16..=17).contains(&read.try_iter().count()));
        assert_eq!(lines.0.state().bytes, 0);
    }

    #[test]
    fn lines_that_cannot_be_written_are_lost_and_later_ones_tried() {
        let (tried, tries) = channel();
        let lines = Lines::start(Failing(tried)).unwrap();
        lines.push(b"one\n".to_vec());
        lines.flush(SOON);
        lines.push(b"two\n".to_vec());
        lines.flush(SOON);
        assert_eq!(tries.try_iter().count(), 2);
    }
}
