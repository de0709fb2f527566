//! The checkpoint files of a data directory: `checkpoints/<date>.ndjson`, one a day, only ever appended to.
//!
//! Every file begins with the public keys and a checkpoint of every tenant, so that it stands by itself. One round of the
//! keeper is one write, and it is synced before it counts. A line that a crash cut short is cut off, and told.

mod lines;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use tokio::sync::watch;

pub use self::lines::Place;
pub(super) use self::lines::{Found, Line, Lines};

const ENDING: &str = ".ndjson";

/// How far the files are durable: nothing past it may be told to anybody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Name of the newest file; empty before the first.
    pub(super) file: String,
    /// Its bytes that are durable.
    pub(super) length: u64,
}

/// Appends rounds to the files.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    open: Option<Open>,
    durable: watch::Sender<Mark>,
}

#[derive(Debug)]
struct Open {
    name: String,
    file: File,
    length: u64,
}

impl Files {
    /// Opens the newest file of `folder` and mends its end.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let mut files = Self {
            folder: folder.to_owned(),
            open: None,
            durable: watch::Sender::new(Mark::default()),
        };
        if let Some(newest) = day_files(folder)?.pop() {
            files.open_file(&newest)?;
            files.tell();
        }
        Ok(files)
    }

    /// Where the durable end is, from now on.
    pub(super) fn durable(&self) -> watch::Receiver<Mark> {
        self.durable.subscribe()
    }

    /// The file that lines of this date go to, and whether it is a new one. A clock that went back a day begins no
    /// older file: the order of the files is that of the rounds.
    pub(super) fn file_of(&self, date: &str) -> (String, bool) {
        let name = format!("{date}{ENDING}");
        match &self.open {
            Some(open) if open.name >= name => (open.name.clone(), open.length == 0),
            _ => (name, true),
        }
    }

    /// Appends whole lines durably.
    pub(super) fn append(&mut self, name: &str, lines: &[u8]) -> io::Result<()> {
        if self
            .open
            .as_ref()
            .is_none_or(|open| open.name != name || !self.is_in_place(open))
        {
            self.open_file(name)?;
        }
        let open = self.open.as_mut().ok_or(io::ErrorKind::NotFound)?;
        // What an append that failed half way left behind.
        if open.file.metadata()?.len() > open.length {
            open.file.set_len(open.length)?;
        }
        open.file.write_all(lines)?;
        open.file.sync_data()?;
        open.length += lines.len() as u64;
        self.tell();
        Ok(())
    }

    fn open_file(&mut self, name: &str) -> io::Result<()> {
        let path = self.folder.join(name);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)?;
        let length = mend(&mut file, &path)?;
        File::open(&self.folder)?.sync_all()?;
        self.open = Some(Open {
            name: name.to_owned(),
            file,
            length,
        });
        Ok(())
    }

    // Somebody may have removed, replaced or cut it. The lines go on where they can be found.
    fn is_in_place(&self, open: &Open) -> bool {
        let path = self.folder.join(&open.name);
        let same = (|| {
            let (there, ours) = (fs::metadata(&path)?, open.file.metadata()?);
            io::Result::Ok(
                there.dev() == ours.dev() && there.ino() == ours.ino() && ours.len() >= open.length,
            )
        })();
        let same = same.unwrap_or(false);
        if !same {
            tracing::error!(path = %path.display(), "a checkpoint file was removed, replaced or cut by somebody else");
        }
        same
    }

    fn tell(&self) {
        if let Some(open) = &self.open {
            self.durable.send_replace(Mark {
                file: open.name.clone(),
                length: open.length,
            });
        }
    }
}

/// Names of the files in `folder`, the oldest first.
pub(super) fn day_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        names.extend(name.to_str().filter(|name| is_day_file(name)).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether this is `<year>-<month>-<day>.ndjson`.
pub(super) fn is_day_file(name: &str) -> bool {
    let Some(date) = name.strip_suffix(ENDING) else {
        return false;
    };
    date.len() == 10
        && date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Cuts off what stands after the last line's end; gives the length that is left.
fn mend(file: &mut File, path: &Path) -> io::Result<u64> {
    let length = file.metadata()?.len();
    // No line is longer than this.
    let tail = length.min(super::line::LONGEST as u64);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut bytes = Vec::new();
    file.take(tail).read_to_end(&mut bytes)?;
    let cut = bytes.iter().rev().take_while(|byte| **byte != b'\n').count() as u64;
    if cut > 0 && cut == tail && length > tail {
        return Err(io::Error::other(
            "its last line is longer than any of ours: move the file away",
        ));
    }
    if cut > 0 {
        tracing::warn!(path = %path.display(), bytes = cut, "the last line of a checkpoint file was cut short, as by a crash, and is removed");
        file.set_len(length - cut)?;
        file.sync_all()?;
    }
    Ok(length - cut)
}

#[cfg(test)]
mod tests;
