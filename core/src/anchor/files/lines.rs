//! Reading checkpoint files line by line, in constant memory.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Take},
    path::{Path, PathBuf},
};

use super::{day_files, is_day_file};
use crate::anchor::{
    checkpoint::{Checkpoint, CheckpointFault},
    line::LONGEST,
    root::Root,
};

/// One line, read and not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::anchor) enum Line {
    /// A public key: read with all others from `keys.ndjson`.
    Key,
    /// A checkpoint.
    Checkpoint(Checkpoint),
    /// The root of a round, its last line.
    Root(Root),
}

impl Line {
    pub(in crate::anchor) fn parse(text: &str) -> Result<Self, CheckpointFault> {
        if text.starts_with("{\"type\":\"checkpoint\"") {
            Checkpoint::parse(text).map(Self::Checkpoint)
        } else if text.starts_with("{\"type\":\"root\"") {
            Root::parse(text).map(Self::Root)
        } else if text.starts_with("{\"type\":\"key\"") && text.len() <= LONGEST {
            Ok(Self::Key)
        } else {
            Err(CheckpointFault::Malformed("line of a checkpoint file"))
        }
    }
}

/// The lines of the files of a folder, the oldest first, as far as the files went when they were opened here: what a
/// running gateway appends afterwards is not seen, so that a chain read later is never behind its checkpoints.
#[derive(Debug)]
pub(in crate::anchor) struct Lines {
    folder: PathBuf,
    left: VecDeque<(String, u64)>,
    open: Option<(String, Take<BufReader<File>>)>,
    number: u64,
    text: Vec<u8>,
}

/// Where a line stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// Number of the line in it, from 1.
    pub line: u64,
}

/// A line's bytes with its end, and where it stands.
#[derive(Debug)]
pub(in crate::anchor) struct Found<'a> {
    pub(in crate::anchor) place: Place,
    pub(in crate::anchor) bytes: &'a [u8],
}

impl Found<'_> {
    /// The line without its end; empty where it is no text.
    pub(in crate::anchor) fn text(&self) -> &str {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl Lines {
    /// The lines of all files in `folder`.
    pub(in crate::anchor) fn of(folder: &Path) -> io::Result<Self> {
        Self::of_files(folder, day_files(folder)?)
    }

    /// The lines of these files in `folder`.
    pub(in crate::anchor) fn of_files(folder: &Path, names: Vec<String>) -> io::Result<Self> {
        let mut left = VecDeque::with_capacity(names.len());
        for name in names.into_iter().filter(|name| is_day_file(name)) {
            let length = fs::metadata(folder.join(&name))?.len();
            left.push_back((name, length));
        }
        Ok(Self {
            folder: folder.to_owned(),
            left,
            open: None,
            number: 0,
            text: Vec::new(),
        })
    }

    /// The next line. What a crash, or a write that is under way, left at the very end is no line yet.
    pub(in crate::anchor) fn next(&mut self) -> io::Result<Option<Found<'_>>> {
        loop {
            if self.open.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some((name, reader)) = &mut self.open else {
                return Ok(None);
            };
            self.text.clear();
            let longest = LONGEST as u64 + 1;
            Read::by_ref(reader)
                .take(longest)
                .read_until(b'\n', &mut self.text)?;
            let unfinished = self.text.last() != Some(&b'\n');
            if self.text.is_empty() || (unfinished && self.text.len() <= LONGEST && self.left.is_empty()) {
                self.open = None;
                continue;
            }
            self.number += 1;
            let place = Place {
                file: name.clone(),
                line: self.number,
            };
            return Ok(Some(Found {
                place,
                bytes: &self.text,
            }));
        }
    }

    fn open_next(&mut self) -> io::Result<bool> {
        let Some((name, length)) = self.left.pop_front() else {
            return Ok(false);
        };
        let file = File::open(self.folder.join(&name))?;
        self.open = Some((name, BufReader::with_capacity(64 * 1024, file).take(length)));
        self.number = 0;
        Ok(true)
    }
}
