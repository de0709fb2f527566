//! One open file of a transcript: reads what is new, and notices when what was read is no longer there.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::Path,
    time::{Instant, SystemTime},
};

use rustix::fs::OFlags;

use crate::lines::{Lines, Piece};

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;
/// Bytes before our place that are compared: a file that was cut and written again differs there.
const REMEMBERED: usize = 256;

/// A file on its file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

/// What one reading came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Read {
    /// Bytes.
    pub(crate) bytes: u64,
    /// There may be more.
    pub(crate) more: bool,
    /// The file was cut, and is read from its beginning.
    pub(crate) cut: bool,
}

/// An open file and our place in it.
#[derive(Debug)]
pub(crate) struct Open {
    file: File,
    identity: Identity,
    at: u64,
    before: Vec<u8>,
    modified: Option<SystemTime>,
    grew: Instant,
    lines: Lines,
    longest: usize,
    looked_at: usize,
}

impl Open {
    /// Opens a regular file. The error of anything else says what it is.
    pub(crate) fn at(path: &Path, longest: usize, now: Instant) -> io::Result<Self> {
        // Opening alone would change a device, or wait at a pipe.
        regular(&std::fs::metadata(path)?)?;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
            .open(path)?;
        let metadata = file.metadata()?;
        regular(&metadata)?;
        Ok(Self {
            identity: identity(&metadata),
            file,
            at: 0,
            before: Vec::new(),
            modified: None,
            grew: now,
            lines: Lines::new(longest),
            longest,
            looked_at: 0,
        })
    }

    /// Leaves out what is there already, and the rest of a line that has begun.
    pub(crate) fn skip_to_end(&mut self) -> io::Result<()> {
        self.at = self.file.metadata()?.len();
        self.before = self.last_before(self.at)?;
        if self.before.last().is_some_and(|last| *last != b'\n') {
            self.lines = Lines::in_the_middle(self.longest);
        }
        Ok(())
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// When it last had something new.
    pub(crate) fn grew(&self) -> Instant {
        self.grew
    }

    /// Bytes of a line that has not ended.
    pub(crate) fn held(&self) -> usize {
        self.lines.held()
    }

    /// The line that has not ended, where it is whole. The same bytes are looked at once.
    pub(crate) fn take_whole(&mut self) -> Option<Vec<u8>> {
        if std::mem::replace(&mut self.looked_at, self.lines.held()) == self.lines.held() {
            return None;
        }
        let whole = self.lines.take_whole();
        self.looked_at = self.lines.held();
        whole
    }

    /// Begins again with an empty line: what was held belongs to a file that is no more.
    pub(crate) fn begin_anew(&mut self) {
        self.at = 0;
        self.before.clear();
        self.lines = Lines::new(self.longest);
    }

    /// Reads about so many bytes. Where the file was cut it reads none, and says so: what is held is to be looked at
    /// before [`Open::begin_anew`].
    pub(crate) fn read(
        &mut self,
        about: usize,
        now: Instant,
        found: &mut dyn FnMut(Piece<'_>),
    ) -> io::Result<Read> {
        let metadata = self.file.metadata()?;
        let modified = metadata.modified().ok();
        let cut = Read {
            cut: true,
            ..Read::default()
        };
        if metadata.len() < self.at {
            return Ok(cut);
        }
        if metadata.len() == self.at && modified == self.modified {
            return Ok(Read::default());
        }
        let mut chunk = vec![0; CHUNK];
        let mut read = Read::default();
        loop {
            if !self.is_where_it_was()? {
                return Ok(Read {
                    bytes: read.bytes,
                    ..cut
                });
            }
            let count = match self.file.read_at(&mut chunk, self.at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                count => count?,
            };
            // It may have been cut just now, and these bytes be of the middle of another line.
            if count > 0 && !self.is_where_it_was()? {
                return Ok(Read {
                    bytes: read.bytes,
                    ..cut
                });
            }
            if count == 0 {
                self.modified = modified;
                return Ok(read);
            }
            self.went_on(&chunk[..count], now);
            self.lines.push(&chunk[..count], found);
            read.bytes += count as u64;
            if read.bytes >= about as u64 {
                read.more = true;
                return Ok(read);
            }
        }
    }

    fn went_on(&mut self, bytes: &[u8], now: Instant) {
        self.grew = now;
        self.looked_at = 0;
        self.at += bytes.len() as u64;
        let kept = bytes.len().min(REMEMBERED);
        let old = self.before.len().saturating_sub(REMEMBERED - kept);
        self.before.drain(..old);
        self.before.extend_from_slice(&bytes[bytes.len() - kept..]);
    }

    fn is_where_it_was(&self) -> io::Result<bool> {
        Ok(self.last_before(self.at)? == self.before)
    }

    fn last_before(&self, place: u64) -> io::Result<Vec<u8>> {
        let length = place.min(REMEMBERED as u64);
        // At most as many as are remembered.
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        match self.file.read_exact_at(&mut bytes, place - length) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// Which file stands at a path.
pub(crate) fn identity_at(path: &Path) -> io::Result<Identity> {
    std::fs::metadata(path).map(|metadata| identity(&metadata))
}

fn identity(metadata: &std::fs::Metadata) -> Identity {
    Identity(metadata.dev(), metadata.ino())
}

fn regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        false => Err(io::Error::other("it is no regular file")),
    }
}
