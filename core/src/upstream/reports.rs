//! How a call tells what it is doing while it goes on: progress and log lines, to whoever asked for them.
//!
//! Telling never waits and never fails: what does not fit into the queue is left out, and what nobody asked for is not
//! even made. Order is kept, progress only grows. Neither arguments nor results nor secrets have a place here.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

/// Reports that wait to be read at most; further ones are left out.
const QUEUE: usize = 64;
/// Bytes of a text, and of a log line's data, at most.
const LONGEST: usize = 4_096;

/// Levels of log lines, as RFC 5424 orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For whoever looks for a fault.
    Debug,
    /// What goes on.
    Info,
    /// Ordinary, and worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// A part does not work.
    Critical,
    /// Something has to be done at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl Level {
    /// Every level, the least first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level of this word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// Something that is told of a call while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// How far it has come.
    Progress {
        /// More than every time before.
        progress: f64,
        /// Where it will end, if that is known.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// A line for whoever debugs it.
    Log {
        /// How bad it is.
        level: Level,
        /// Who says it.
        logger: &'static str,
        /// What.
        data: Value,
    },
    /// A project's server says something, byte for byte.
    Said {
        /// The notification's method.
        method: Arc<str>,
        /// Its parameters; empty where there are none.
        params: Bytes,
    },
    /// A project's server asks the client something.
    Asked {
        /// What the answer has to name.
        id: Arc<str>,
        /// The method.
        method: Arc<str>,
        /// Its parameters; empty where there are none.
        params: Bytes,
    },
}

/// What of it is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Progress.
    pub progress: bool,
    /// Log lines of this level and those above.
    pub level: Option<Level>,
    /// Everything that a project's server says and asks, for a client that speaks to it through the pipe.
    pub everything: bool,
}

/// Where a call tells what it is doing. Cheap to clone; clones tell to the same reader.
#[derive(Debug, Clone, Default)]
pub struct Reports(Option<Arc<Line>>);

/// The reader's end.
pub type Told = mpsc::Receiver<Report>;

#[derive(Debug)]
struct Line {
    wanted: Wanted,
    queue: mpsc::Sender<Report>,
    told: AtomicBool,
    // Held while a report is queued, so that order is that of the numbers.
    last: Mutex<Option<f64>>,
}

impl Reports {
    /// For a call of which nothing is to be told before its end.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// For a call whose reader wants this.
    #[must_use]
    pub fn wanted(wanted: Wanted) -> (Self, Told) {
        let (queue, told) = mpsc::channel(QUEUE);
        let line = Line {
            wanted,
            queue,
            told: AtomicBool::new(false),
            last: Mutex::new(None),
        };
        (Self(Some(Arc::new(line))), told)
    }

    /// Tells how far the call has come. Numbers that do not grow are left out.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(line) = self.0.as_deref().filter(|line| line.wanted.progress) else {
            return;
        };
        let mut last = line.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !progress.is_finite() || last.is_some_and(|last| progress <= last) {
            return;
        }
        let report = Report::Progress {
            progress,
            total: total.filter(|total| total.is_finite()),
            message: message.map(bounded),
        };
        if line.tell(report) {
            *last = Some(progress);
        }
    }

    /// Tells a line of this level, made only if somebody wants it. One that is too long is left out.
    pub fn log(&self, level: Level, logger: &'static str, data: impl FnOnce() -> Value) {
        let Some(line) = self.0.as_deref() else {
            return;
        };
        if line.wanted.level.is_none_or(|least| level < least) {
            return;
        }
        let data = data();
        if data.to_string().len() <= LONGEST {
            line.tell(Report::Log { level, logger, data });
        }
    }

    /// Whether progress is wanted.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.0.as_deref().is_some_and(|line| line.wanted.progress)
    }

    /// Passes on what a project's server says, if it is wanted: progress and log lines like those of the gateway,
    /// anything else through the pipe only. Whether a log line is of the wanted level is its server's to know.
    pub fn said(&self, method: &str, params: Bytes) {
        let Some(line) = self.0.as_deref() else {
            return;
        };
        let wanted = match method {
            _ if line.wanted.everything => true,
            "notifications/progress" => line.wanted.progress,
            "notifications/message" => line.wanted.level.is_some(),
            _ => false,
        };
        if wanted {
            line.tell(Report::Said {
                method: method.into(),
                params,
            });
        }
    }

    /// Passes on what a project's server asks its client; false where nobody can be asked, or too much waits.
    #[must_use]
    pub fn asked(&self, id: &str, method: &str, params: Bytes) -> bool {
        let line = self.0.as_deref().filter(|line| line.wanted.everything);
        line.is_some_and(|line| {
            line.tell(Report::Asked {
                id: id.into(),
                method: method.into(),
                params,
            })
        })
    }

    /// Whether anything was told that its reader may have passed on.
    #[must_use]
    pub fn any_told(&self) -> bool {
        self.0
            .as_deref()
            .is_some_and(|line| line.told.load(Ordering::SeqCst))
    }
}

impl Line {
    fn tell(&self, report: Report) -> bool {
        let queued = self.queue.try_send(report).is_ok();
        if queued {
            self.told.store(true, Ordering::SeqCst);
        }
        queued
    }
}

fn bounded(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn everything() -> (Reports, Told) {
        Reports::wanted(Wanted {
            progress: true,
            level: Some(Level::Debug),
            ..Wanted::default()
        })
    }

    fn read(told: &mut Told) -> Vec<Report> {
        std::iter::from_fn(|| told.try_recv().ok()).collect()
    }

    fn numbers(told: &mut Told) -> Vec<f64> {
        let number = |report| match report {
            Report::Progress { progress, .. } => Some(progress),
            _ => None,
        };
        read(told).into_iter().filter_map(number).collect()
    }

    #[test]
    fn progress_only_grows() {
        let (reports, mut told) = everything();
        for progress in [0.0, 0.0, 2.5, 1.0, f64::NAN, f64::INFINITY, 2.5, 3.0] {
            reports.clone().progress(progress, Some(f64::NAN), None);
        }
        assert_eq!(numbers(&mut told), [0.0, 2.5, 3.0]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_order_is_kept() {
        let (reports, mut told) = everything();
        let most = u32::try_from(QUEUE).unwrap();
        for n in 0..most * 2 {
            reports.progress(f64::from(n), None, None);
        }
        let expected: Vec<f64> = (0..most).map(f64::from).collect();
        assert_eq!(numbers(&mut told), expected);
        // A number that was left out was not told: the next one needs only be more than those that were.
        reports.progress(f64::from(most), None, None);
        assert_eq!(numbers(&mut told), [f64::from(most)]);
    }

    #[test]
    fn levels_are_those_of_rfc_5424_in_order() {
        let words: Vec<&str> = Level::ALL.into_iter().map(Level::as_str).collect();
        assert_eq!(
            words.join(" "),
            "debug info notice warning error critical alert emergency"
        );
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        for word in ["", "Debug", "trace", "fatal"] {
            assert_eq!(Level::parse(word), None, "{word}");
        }
    }

    #[test]
    fn only_what_is_wanted_is_told_and_nothing_else_is_made() {
        for (wanted, expected) in Level::ALL.into_iter().zip((1..=8).rev()) {
            let (reports, mut told) = Reports::wanted(Wanted {
                progress: false,
                level: Some(wanted),
                ..Wanted::default()
            });
            for level in Level::ALL {
                reports.log(level, "test", || {
                    assert!(level >= wanted);
                    json!("said")
                });
            }
            reports.progress(1.0, None, None);
            assert_eq!(read(&mut told).len(), expected, "{wanted:?}");
        }
        let (silent, mut told) = Reports::wanted(Wanted::default());
        for reports in [silent, Reports::none()] {
            reports.progress(1.0, None, None);
            reports.log(Level::Emergency, "test", || unreachable!("nobody wants it"));
            assert!(!reports.any_told());
        }
        assert_eq!(read(&mut told), []);
    }

    #[test]
    fn texts_are_bounded_and_a_reader_who_left_is_told_nothing() {
        let (reports, mut told) = everything();
        reports.progress(1.0, None, Some(&"ä".repeat(LONGEST)));
        reports.log(Level::Error, "test", || json!("x".repeat(LONGEST)));
        let [
            Report::Progress {
                message: Some(text), ..
            },
        ] = &read(&mut told)[..]
        else {
            panic!("one report");
        };
        assert_eq!(text.len(), LONGEST);
        assert!(reports.any_told());
        let (reports, told) = everything();
        drop(told);
        reports.progress(1.0, None, None);
        assert!(!reports.any_told());
    }
}
