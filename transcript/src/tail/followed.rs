//! One path: the file that stands there, and those that stood there and may still be written to.

use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{Looked, Reader};
use crate::{
    lines::Piece,
    open::{Open, identity_at},
    turn::Turns,
};

/// Bytes of one file that are read in one look.
const A_LITTLE: usize = 1024 * 1024;
/// Files that are still read after they left the path; the oldest gives way.
const LEFT: usize = 4;

/// A path that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    path: PathBuf,
    here: Option<Open>,
    left: Vec<(Open, Instant)>,
    turns: Turns,
    looked: bool,
    unread: Option<String>,
    unopened: Option<String>,
}

impl Followed {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            here: None,
            left: Vec::new(),
            turns: Turns::default(),
            looked: false,
            unread: None,
            unopened: None,
        }
    }

    /// Reads what is new, oldest file first.
    pub(super) fn look(&mut self, now: Instant, reader: &mut Reader) -> Looked {
        let mut all = self.look_at_left(now, reader);
        if let Some(open) = &mut self.here {
            let mut file = Reading {
                path: &self.path,
                turns: &mut self.turns,
                reader,
            };
            match file.look(open, now) {
                Ok(looked) => {
                    all = sum(all, looked);
                    self.unread = None;
                }
                Err(error) => complain(&self.path, &mut self.unread, &error),
            }
        }
        // While there is more of the one that was, the next may wait.
        if !all.more {
            match self.look_at_path(now, reader.settings.longest_line, reader.settings.from_end) {
                Ok(another) => {
                    all.more = another;
                    self.unopened = None;
                }
                Err(error) => complain(&self.path, &mut self.unopened, &error),
            }
            self.looked = true;
        }
        all
    }

    /// Tells what is held.
    pub(super) fn finish(mut self, reader: &mut Reader) {
        let mut file = Reading {
            path: &self.path,
            turns: &mut self.turns,
            reader,
        };
        let left = self.left.into_iter().map(|(open, _)| open);
        for mut open in left.chain(self.here) {
            file.end(&mut open, "the tailer ends");
        }
    }

    fn look_at_left(&mut self, now: Instant, reader: &mut Reader) -> Looked {
        let mut all = Looked::default();
        let grace = reader.settings.grace;
        let mut file = Reading {
            path: &self.path,
            turns: &mut self.turns,
            reader,
        };
        self.left.retain_mut(|(open, left)| {
            // A file that left cannot be mended; it is given up when reading fails.
            let looked = file.look(open, now).unwrap_or_default();
            all = sum(all, looked);
            let stays = looked.more || now.duration_since(open.grew().max(*left)) < grace;
            if !stays {
                file.end(open, "it was rotated away");
            }
            stays
        });
        while self.left.len() > LEFT {
            let (mut oldest, _) = self.left.remove(0);
            file.end(&mut oldest, "it was rotated away");
        }
        all
    }

    /// True where another file stands there than before.
    fn look_at_path(&mut self, now: Instant, longest: usize, from_end: bool) -> io::Result<bool> {
        let known = self.here.as_ref().map(Open::identity);
        match identity_at(&self.path) {
            Ok(identity) if known == Some(identity) => return Ok(false),
            // Between two files there is none; what was there may still be written to.
            Err(error) if error.kind() == io::ErrorKind::NotFound && known.is_some() => return Ok(false),
            Ok(_) | Err(_) => {}
        }
        let mut open = Open::at(&self.path, longest, now)?;
        if from_end && !self.looked {
            open.skip_to_end()?;
        }
        tracing::info!(path = %self.path.display(), again = known.is_some(), "a transcript is followed");
        self.left.extend(self.here.replace(open).map(|old| (old, now)));
        Ok(true)
    }
}

// Once for each trouble, not at each look.
fn complain(path: &Path, said: &mut Option<String>, error: &io::Error) {
    let trouble = error.to_string();
    if said.as_ref() == Some(&trouble) {
        return;
    }
    let path = path.display();
    if error.kind() == io::ErrorKind::NotFound {
        tracing::info!(%path, "there is no transcript yet; it is waited for");
    } else {
        tracing::warn!(%path, %error, "a transcript cannot be read; trying again");
    }
    *said = Some(trouble);
}

/// One file while it is read.
struct Reading<'a> {
    path: &'a Path,
    turns: &'a mut Turns,
    reader: &'a mut Reader,
}

impl Reading<'_> {
    fn look(&mut self, open: &mut Open, now: Instant) -> io::Result<Looked> {
        let read = open.read(A_LITTLE, now, &mut |piece| self.take(piece))?;
        if read.cut {
            self.end(open, "the file was cut");
            tracing::info!(path = %self.path.display(), "a transcript was cut and is read from its beginning");
            open.begin_anew();
        } else if read.bytes == 0
            && open.held() > 0
            && now.duration_since(open.grew()) >= self.reader.settings.quiet
            && let Some(line) = open.take_whole()
        {
            self.take(Piece::Line(&line));
        }
        Ok(Looked {
            bytes: read.bytes,
            more: read.more || read.cut,
        })
    }

    fn take(&mut self, piece: Piece<'_>) {
        let path = self.path.display();
        match piece {
            Piece::Line(line) => {
                if !self.reader.read(line, self.turns) {
                    tracing::debug!(%path, bytes = line.len(), "a line of a transcript is no JSON object");
                }
            }
            Piece::TooLong => tracing::warn!(
                %path,
                longest = self.reader.settings.longest_line,
                "a line of a transcript is too long and is skipped; a report in it is not seen"
            ),
        }
    }

    // Nothing more comes of this file.
    fn end(&mut self, open: &mut Open, why: &str) {
        match open.take_whole() {
            Some(line) => self.take(Piece::Line(&line)),
            None if open.held() > 0 => {
                let (path, bytes) = (self.path.display(), open.held());
                tracing::warn!(%path, bytes, "half a line of a transcript is lost: {why}");
            }
            None => {}
        }
    }
}

fn sum(one: Looked, other: Looked) -> Looked {
    Looked {
        bytes: one.bytes + other.bytes,
        more: one.more || other.more,
    }
}
