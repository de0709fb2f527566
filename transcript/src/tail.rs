//! Follows paths for as long as it is asked to, whatever happens to the files there.
//!
//! Each [`Tail::look`] reads what is new and returns; nothing here waits. What is promised: every line that stands in
//! the file at its path when it is looked at is read, once, and so is every line that is written to a file after it was
//! renamed or deleted, until it has been quiet for [`Settings::grace`]. What was written and cut away again between two
//! looks was never seen; nor was a file that came and went at its path between two looks.

mod followed;

use std::{
    collections::BTreeSet,
    fmt,
    path::PathBuf,
    time::{Duration, Instant},
};

use self::followed::Followed;
use crate::{
    lines::LONGEST_LINE,
    record::{self, Work},
    tool::REPORT_TOOL,
};

/// Records between two rests, where one of a report, which may be long, is as good as many.
const RECORDS: u32 = 32;
const REPORT: u32 = 8;

/// How transcripts are followed.
pub struct Settings {
    /// The tool whose calls are reports, as it stands in transcripts.
    pub report_tool: String,
    /// What the agent works on, for the records of its reports.
    pub work: Work,
    /// Leaves out what stands in the files when they are first looked at.
    pub from_end: bool,
    /// A longer line is skipped.
    pub longest_line: usize,
    /// A whole object without the end of its line is taken for a line when nothing came for so long.
    pub quiet: Duration,
    /// How long a file that is no longer at its path is read on, counted from its last growth.
    pub grace: Duration,
    /// Called after every few records, so that whoever writes the log can keep up.
    pub rest: Box<dyn FnMut() + Send>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            report_tool: REPORT_TOOL.into(),
            work: Work::default(),
            from_end: false,
            longest_line: LONGEST_LINE,
            quiet: Duration::from_millis(500),
            grace: Duration::from_secs(5),
            rest: Box::new(|| {}),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("report_tool", &self.report_tool)
            .field("from_end", &self.from_end)
            .finish_non_exhaustive()
    }
}

/// What one look came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Looked {
    /// Bytes that were read.
    pub bytes: u64,
    /// There may be more to read at once.
    pub more: bool,
}

/// The transcripts that are followed. Holds no more than one line of each open file.
#[derive(Debug)]
pub struct Tail {
    followed: Vec<Followed>,
    reader: Reader,
}

/// What reads the lines of all of them.
#[derive(Debug)]
struct Reader {
    settings: Settings,
    records: u32,
}

impl Tail {
    /// Follows these paths; one that is given twice once.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>, settings: Settings) -> Self {
        let mut seen = BTreeSet::new();
        let paths = paths.into_iter().filter(|path| seen.insert(path.clone()));
        Self {
            followed: paths.map(Followed::new).collect(),
            reader: Reader { settings, records: 0 },
        }
    }

    /// Reads what is new, not more than a little of each file, so that none keeps the others waiting.
    pub fn look(&mut self, now: Instant) -> Looked {
        let mut all = Looked::default();
        for followed in &mut self.followed {
            let looked = followed.look(now, &mut self.reader);
            all.bytes += looked.bytes;
            all.more |= looked.more;
        }
        all
    }

    /// Tells what is still held: lines that are whole but have not ended. Nothing is read.
    pub fn finish(mut self) {
        for followed in self.followed {
            followed.finish(&mut self.reader);
        }
    }
}

impl Reader {
    fn read(&mut self, line: &[u8], turns: &mut crate::Turns) -> bool {
        let Self { settings, records } = self;
        crate::read(line, &settings.report_tool, turns, &mut |block, issue| {
            record::tell(&settings.work, block, issue);
            *records += if issue.is_some() { REPORT } else { 1 };
            if *records >= RECORDS {
                *records = 0;
                (settings.rest)();
            }
        })
    }
}

#[cfg(test)]
mod tests;
