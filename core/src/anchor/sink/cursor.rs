//! How far a sink has taken the files, kept beside them.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::anchor::files::{Mark, day_files, is_day_file};

/// The end of what was taken.
#[derive(Debug)]
pub(super) struct Cursor {
    folder: PathBuf,
    path: PathBuf,
    /// Whose cursor it is: a receiver at another address begins with the oldest file.
    peer: String,
    at: Mark,
}

/// Lines to take, and where they end.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) lines: Vec<u8>,
    end: Mark,
}

impl Cursor {
    /// Reads it; one that is not there or belongs to another peer begins with the oldest file.
    pub(super) fn open(folder: &Path, sink: &str, peer: &str) -> Self {
        let path = folder.join(format!("{sink}.cursor"));
        let at = fs::read_to_string(&path)
            .ok()
            .and_then(|text| parse(&text, peer))
            .unwrap_or_default();
        Self {
            folder: folder.to_owned(),
            path,
            peer: peer.to_owned(),
            at,
        }
    }

    /// The next whole lines, at most so many bytes, none past the durable end; `None` where there are none.
    pub(super) fn next(&mut self, durable: &Mark, most: u64) -> io::Result<Option<Batch>> {
        for name in day_files(&self.folder)? {
            if name < self.at.file || name > durable.file {
                continue;
            }
            let mut file = File::open(self.folder.join(&name))?;
            let there = file.metadata()?.len();
            let end = if name == durable.file {
                there.min(durable.length)
            } else {
                there
            };
            let mut from = if name == self.at.file { self.at.length } else { 0 };
            if from > end {
                tracing::warn!(
                    file = name,
                    "a checkpoint file is shorter than what a sink took of it; it is told again"
                );
                from = 0;
            }
            let mut lines = Vec::new();
            file.seek(SeekFrom::Start(from))?;
            file.take((end - from).min(most)).read_to_end(&mut lines)?;
            lines.truncate(
                lines
                    .iter()
                    .rposition(|byte| *byte == b'\n')
                    .map_or(0, |at| at + 1),
            );
            if !lines.is_empty() {
                let end = Mark {
                    length: from + lines.len() as u64,
                    file: name,
                };
                return Ok(Some(Batch { lines, end }));
            }
        }
        Ok(None)
    }

    /// Keeps in mind that a batch was taken.
    pub(super) fn taken(&mut self, batch: &Batch) -> io::Result<()> {
        self.at = batch.end.clone();
        let draft = self.path.with_extension("new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        writeln!(file, "{} {} {}", self.at.file, self.at.length, self.peer)?;
        file.sync_data()?;
        fs::rename(&draft, &self.path)
    }
}

fn parse(text: &str, peer: &str) -> Option<Mark> {
    let mut words = text.split_ascii_whitespace();
    let (file, length, whose) = (words.next()?, words.next()?, words.next()?);
    let sound = is_day_file(file) && whose == peer && words.next().is_none();
    sound.then_some(())?;
    Some(Mark {
        file: file.to_owned(),
        length: length.parse().ok()?,
    })
}
