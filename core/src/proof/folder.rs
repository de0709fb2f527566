//! Writes an export into a folder: rows in files of a bounded size, then checkpoints, keys and the manifest.
//!
//! Takes the lines of the gateway's export as they come. What breaks off is gone on with by the next run, after the
//! last whole line; whether that joins on to what is there is checked. The manifest comes last, so a folder without one
//! is an export that is not finished.

mod earlier;
mod evidence;
mod segment;

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use self::{earlier::Earlier, evidence::Evidence, segment::Segment};
use super::{
    FileFault, ManifestFault,
    manifest::{Listed, MANIFEST, Manifest, SUMS, Told, segment_name},
};
use crate::audit::export::{Format, Line, LineFault, Link};

/// A file of rows ends with the line that reaches this many bytes.
const SEGMENT: u64 = 64 * 1024 * 1024;
/// A line that a gateway sends is never longer.
const LONGEST_LINE: usize = 256 * 1024;

/// A folder that an export is written to.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    format: Format,
    rows: Earlier,
    /// Where the last file of rows begins.
    newest_file: i64,
    /// The row that the gateway must begin with, to show that it joins on.
    joins: Option<JoinPoint>,
    /// Whether a manifest may be there.
    sealed: bool,
    evidence: Option<Evidence>,
    /// A line whose end has not come yet.
    rest: Vec<u8>,
    line: Line,
    segment_bytes: u64,
}

/// A row by which two pieces of a chain are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinPoint {
    /// Its place.
    pub seq: i64,
    /// Its hash.
    pub hash: [u8; 32],
}

/// Why an export cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system said no.
    #[error("cannot write {path}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What is there cannot be read.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The manifest that is there is none.
    #[error("{path} of an earlier export cannot be read: {source}; export into another folder", path = .path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: ManifestFault,
    },
    /// What is there is of another kind.
    #[error("{path} holds an export that does not fit: {what}; export into another folder", path = .path.display())]
    Other {
        /// The folder.
        path: PathBuf,
        /// How it differs.
        what: &'static str,
    },
    /// A line that is there is none of an export, or does not follow the one before it.
    #[error(
        "{path}: what comes after row {after} does not follow it; verify that export, and export into another folder",
        path = .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The last row that follows.
        after: i64,
    },
    /// The gateway's record does not go on where the export ends.
    #[error("the gateway's record does not join on to this export: {0}")]
    Parted(String),
    /// The gateway sent something else than rows.
    #[error("the gateway sent what is no line of an export")]
    Line(#[from] LineFault),
    /// The gateway sent something else than checkpoints and keys.
    #[error("the gateway sent what is no checkpoint or key: {0}")]
    Evidence(String),
    /// The gateway has nothing.
    #[error("there are no rows to export")]
    Nothing,
}

impl FolderError {
    /// Whether the record or the export was changed, so that nobody should just try again.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        matches!(self, Self::Parted(_) | Self::Broken { .. })
    }
}

impl Folder {
    /// Opens `dir` for an export, makes it where it is missing, and looks at what an earlier one left there.
    ///
    /// # Errors
    /// When the folder cannot be written, or holds something that this export cannot go on from.
    pub fn open(dir: &Path, format: Format) -> Result<Self, FolderError> {
        Self::open_with(dir, format, SEGMENT)
    }

    fn open_with(dir: &Path, format: Format, segment_bytes: u64) -> Result<Self, FolderError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|error| failed(dir, error))?;
        let rows = Earlier::read(dir, format)?;
        Ok(Self {
            dir: dir.to_owned(),
            format,
            newest_file: rows.last.map_or(0, |last| last.seq),
            joins: rows.last,
            sealed: true,
            rows,
            evidence: None,
            rest: Vec::new(),
            line: Line::default(),
            segment_bytes,
        })
    }

    /// The row that an earlier run ended with. The gateway is then asked for rows from this one on.
    #[must_use]
    pub fn last(&self) -> Option<JoinPoint> {
        self.rows.last
    }

    /// Place of the first row, once there is one.
    #[must_use]
    pub fn first_seq(&self) -> Option<i64> {
        self.rows.first.map(|first| first.seq)
    }

    /// Rows in the folder.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.rows.count
    }

    /// Takes a piece of the gateway's export, which may end in the middle of a line. Rows after place `through` are
    /// left away.
    ///
    /// # Errors
    /// When it cannot be written, is no export, or does not join on.
    pub fn take_rows(&mut self, piece: &[u8], through: i64) -> Result<(), FolderError> {
        self.unseal()?;
        self.each_line(piece, |folder, line| folder.row(line, through))
    }

    /// Forgets a line whose end has not come: nothing more is read.
    pub fn drop_rest(&mut self) {
        self.rest.clear();
    }

    /// Says that the gateway has no more rows for now.
    ///
    /// # Errors
    /// When its last line was cut short, or the row that the export ends with is not on its record any more.
    pub fn end_of_rows(&mut self) -> Result<(), FolderError> {
        self.end_of_lines()?;
        match self.joins.take() {
            None => Ok(()),
            Some(joins) => Err(FolderError::Parted(format!(
                "row {}, the last of the export, is not on the record any more: its end was cut off, or an older copy \
                 was put back",
                joins.seq
            ))),
        }
    }

    /// Takes a piece of what the gateway says about the export: public keys and checkpoints.
    ///
    /// # Errors
    /// When it cannot be written, or is something else.
    pub fn take_evidence(&mut self, piece: &[u8]) -> Result<(), FolderError> {
        self.unseal()?;
        self.each_line(piece, |folder, line| {
            let mut evidence = match folder.evidence.take() {
                Some(evidence) => evidence,
                None => Evidence::begin(&folder.dir)?,
            };
            evidence.take(line)?;
            folder.evidence = Some(evidence);
            Ok(())
        })
    }

    /// Says that this was all. Gives the place of the newest checkpoint: rows up to there belong to the export.
    ///
    /// # Errors
    /// When the last line was cut short.
    pub fn end_of_evidence(&mut self) -> Result<Option<i64>, FolderError> {
        self.end_of_lines()?;
        Ok(self.evidence.as_ref().and_then(Evidence::covers))
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// When it cannot be written, or there is nothing to finish.
    pub fn finish(mut self, exported_at: String, exported_by: String) -> Result<Manifest, FolderError> {
        let (Some(first), Some(last)) = (self.rows.first, self.rows.last) else {
            return Err(FolderError::Nothing);
        };
        if let Some(open) = self.rows.open.take() {
            self.rows.done.push(open.close()?);
        }
        let evidence = match self.evidence.take() {
            Some(evidence) => evidence,
            None => Evidence::begin(&self.dir)?,
        };
        let (origin, signed) = evidence.finish(&self.dir)?;
        let mut files = self.rows.done;
        files.extend(signed);
        let manifest = Manifest::from(Told {
            format: self.format,
            origin,
            tenant_id: self.rows.tenant,
            first,
            last,
            count: self.rows.count,
            exported_at,
            exported_by,
            files,
        });
        put(&self.dir, MANIFEST, &manifest.to_text())?;
        put(&self.dir, SUMS, &manifest.sums())?;
        Ok(manifest)
    }

    fn each_line(
        &mut self,
        mut piece: &[u8],
        mut take: impl FnMut(&mut Self, &[u8]) -> Result<(), FolderError>,
    ) -> Result<(), FolderError> {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            let (line, after) = piece.split_at(end + 1);
            piece = after;
            if self.rest.is_empty() {
                take(self, line)?;
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                take(self, &whole)?;
                whole.clear();
                self.rest = whole;
            }
        }
        self.rest.extend_from_slice(piece);
        if self.rest.len() > LONGEST_LINE {
            return Err(LineFault.into());
        }
        Ok(())
    }

    fn end_of_lines(&mut self) -> Result<(), FolderError> {
        match std::mem::take(&mut self.rest).is_empty() {
            true => Ok(()),
            false => Err(LineFault.into()),
        }
    }

    fn row(&mut self, line: &[u8], through: i64) -> Result<(), FolderError> {
        let link = Link::of(Format::Ndjson, line)?;
        if let Some(joins) = self.joins.take() {
            return joined(joins, &link);
        }
        if link.seq > through {
            return Ok(());
        }
        self.make_room(link.seq)?;
        let Some(open) = &mut self.rows.open else {
            return Ok(());
        };
        match self.format {
            Format::Ndjson => open.write(line)?,
            Format::Csv => {
                self.line.read(Format::Ndjson, link.tenant, line)?;
                let mut text = Vec::with_capacity(line.len());
                self.format.write(&mut text, link.tenant, &self.line.row());
                open.write(&text)?;
            }
        }
        self.count_in(&link);
        Ok(())
    }

    // An open file that has room.
    fn make_room(&mut self, seq: i64) -> Result<(), FolderError> {
        let full = |open: &Segment| open.bytes() >= self.segment_bytes;
        if self.rows.open.as_ref().is_some_and(full)
            && let Some(full) = self.rows.open.take()
        {
            self.rows.done.push(full.close()?);
        }
        if self.rows.open.is_none() {
            // Places of a record that was tampered with may go down; names never do.
            self.newest_file = seq.max(self.newest_file.saturating_add(1));
            let mut open = Segment::create(&self.dir.join(segment_name(self.newest_file, self.format)))?;
            open.write(self.format.header().as_bytes())?;
            self.rows.open = Some(open);
        }
        Ok(())
    }

    fn count_in(&mut self, link: &Link<'_>) {
        if self.rows.first.is_none() {
            self.rows.tenant = link.tenant.to_owned();
            self.rows.first = Some(JoinPoint {
                seq: link.seq,
                hash: link.prev,
            });
        }
        self.rows.last = Some(JoinPoint {
            seq: link.seq,
            hash: link.hash,
        });
        self.rows.count += 1;
    }

    // What was said of the files is not true any more once one of them grows.
    fn unseal(&mut self) -> Result<(), FolderError> {
        if !std::mem::take(&mut self.sealed) {
            return Ok(());
        }
        for name in [SUMS, MANIFEST] {
            let path = self.dir.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path, error)),
                _ => {}
            }
        }
        Ok(())
    }
}

fn joined(joins: JoinPoint, link: &Link<'_>) -> Result<(), FolderError> {
    if link.seq == joins.seq && link.hash == joins.hash {
        return Ok(());
    }
    Err(FolderError::Parted(if link.seq == joins.seq {
        format!(
            "row {} has another hash on the record than in the export, so one of them was changed",
            joins.seq
        )
    } else {
        format!("row {} was asked for, and row {} came", joins.seq, link.seq)
    }))
}

fn put(dir: &Path, name: &str, content: &str) -> Result<(), FolderError> {
    let (draft, path) = (dir.join(name).with_extension("new"), dir.join(name));
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(dir)?.sync_all()
    };
    write().map_err(|error| failed(&path, error))
}

fn failed(path: &Path, source: io::Error) -> FolderError {
    FolderError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
