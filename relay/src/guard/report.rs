//! What the guard tells the relay over the lifeline: one line.

use std::{io::Write, os::unix::process::ExitStatusExt, process::ExitStatus};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// By itself, with this code.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It never began; the system's error number.
    Failed(i32),
}

impl Report {
    pub(super) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, Some(signal)) => Self::Signal(signal),
            // Neither exited nor killed is not possible for a process that was waited for.
            (None, None) => Self::Failed(0),
        }
    }

    /// Sends the line. Nobody listening any more is no error: there is nobody to tell.
    pub(super) fn send(self, mut to: impl Write) {
        let (word, number) = match self {
            Self::Exit(code) => ("exit", code),
            Self::Signal(signal) => ("signal", signal),
            Self::Failed(error) => ("failed", error),
        };
        let _ = to.write_all(format!("{word} {number}\n").as_bytes());
    }

    /// Reads the first line of what a guard said.
    pub(crate) fn read(said: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(said).ok()?.lines().next()?;
        let (word, number) = line.split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "exit" => Some(Self::Exit(number)),
            "signal" => Some(Self::Signal(number)),
            "failed" => Some(Self::Failed(number)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sent_report_is_read_back() {
        for report in [
            Report::Exit(0),
            Report::Exit(255),
            Report::Signal(9),
            Report::Failed(13),
        ] {
            let mut line = Vec::new();
            report.send(&mut line);
            assert_eq!(Report::read(&line), Some(report));
        }
        assert_eq!(Report::read(b"failed 2\nexit 126\n"), Some(Report::Failed(2)));
        for said in ["", "exit", "exit x", "left 1"] {
            assert_eq!(Report::read(said.as_bytes()), None, "{said}");
        }
    }
}
