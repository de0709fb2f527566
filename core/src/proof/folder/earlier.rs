//! What an earlier run left in a folder: files of rows that follow one another, the last perhaps cut short.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use ring::digest::{Context, SHA256};

use super::{FolderError, JoinPoint, LONGEST_LINE, Listed, Segment, failed};
use crate::{
    audit::export::{Format, Link},
    proof::{
        files,
        lines::{self, Found},
        manifest::{MANIFEST, Manifest, segment_start},
    },
};

const LONGEST_MANIFEST: u64 = 64 * 1024 * 1024;

/// The rows that are there.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// Complete files.
    pub(super) done: Vec<Listed>,
    /// The last one, to go on with.
    pub(super) open: Option<Segment>,
    /// Place of the first row and the hash before it.
    pub(super) first: Option<JoinPoint>,
    /// The last row.
    pub(super) last: Option<JoinPoint>,
    /// How many.
    pub(super) count: i64,
    /// Whose they are.
    pub(super) tenant: String,
}

impl Earlier {
    /// Looks at what lies in `dir`.
    pub(super) fn read(dir: &Path, format: Format) -> Result<Self, FolderError> {
        check_manifest(dir, format)?;
        let mut earlier = Self::default();
        let mut paths = segments(dir, format)?;
        let last = paths.pop();
        for path in paths {
            let whole = earlier.rows(&path, format)?;
            if whole.torn {
                return Err(earlier.broken(path));
            }
            let kept = Segment::go_on(&path, whole.bytes, whole.context)?;
            earlier.done.push(kept.close()?);
        }
        if let Some(path) = last {
            let whole = earlier.rows(&path, format)?;
            if whole.rows == 0 {
                // A run ended before its first row was written.
                fs::remove_file(&path).map_err(|error| failed(&path, error))?;
            } else {
                earlier.open = Some(Segment::go_on(&path, whole.bytes, whole.context)?);
            }
        }
        Ok(earlier)
    }

    fn rows(&mut self, path: &PathBuf, format: Format) -> Result<Whole, FolderError> {
        let mut whole = Whole {
            bytes: 0,
            rows: 0,
            torn: false,
            context: Context::new(&SHA256),
        };
        let mut at_header = !format.header().is_empty();
        let ended = lines::each(std::slice::from_ref(path), |_, found| match found {
            Found::Lines(block) => {
                for line in block.split_inclusive(|byte| *byte == b'\n') {
                    whole.torn = !line.ends_with(format.line_end().as_bytes());
                    let fits = match (at_header, whole.torn) {
                        (true, false) => line == format.header().as_bytes(),
                        (false, false) => self.follows(format, line),
                        (true, true) => format.header().as_bytes().starts_with(line),
                        (false, true) => line.len() <= LONGEST_LINE && begins_like_a_row(format, line),
                    };
                    if fits && whole.torn {
                        continue;
                    }
                    if !fits {
                        return ControlFlow::Break(self.broken(path.clone()));
                    }
                    whole.rows += i64::from(!at_header);
                    at_header = false;
                    whole.bytes += line.len() as u64;
                    whole.context.update(line);
                }
                ControlFlow::Continue(())
            }
            Found::TooLong => ControlFlow::Break(self.broken(path.clone())),
            Found::Fault(fault) => ControlFlow::Break(fault.into()),
            Found::End(_) => ControlFlow::Continue(()),
        });
        match ended {
            Some(error) => Err(error),
            None => Ok(whole),
        }
    }

    fn follows(&mut self, format: Format, line: &[u8]) -> bool {
        let Ok(link) = Link::of(format, line) else {
            return false;
        };
        if let Some(last) = self.last
            && (link.seq != last.seq + 1 || link.prev != last.hash || link.tenant != self.tenant)
        {
            return false;
        }
        if self.first.is_none() {
            self.tenant = link.tenant.to_owned();
            self.first = Some(JoinPoint {
                seq: link.seq,
                hash: link.prev,
            });
        }
        self.last = Some(JoinPoint {
            seq: link.seq,
            hash: link.hash,
        });
        self.count += 1;
        true
    }

    fn broken(&self, path: PathBuf) -> FolderError {
        FolderError::Broken {
            path,
            after: self.last.map_or(0, |last| last.seq),
        }
    }
}

/// The whole lines of a file.
struct Whole {
    bytes: u64,
    rows: i64,
    /// There is more, which is no whole line.
    torn: bool,
    context: Context,
}

// What a write that was cut short leaves.
fn begins_like_a_row(format: Format, line: &[u8]) -> bool {
    match format {
        Format::Ndjson => line.iter().zip(b"{\"seq\":").all(|(one, other)| one == other),
        Format::Csv => line.first().is_some_and(u8::is_ascii_digit),
    }
}

fn check_manifest(dir: &Path, format: Format) -> Result<(), FolderError> {
    let path = dir.join(MANIFEST);
    let text = match files::read(&path, LONGEST_MANIFEST) {
        Ok(text) => text,
        Err(fault) if fault.is_missing() => return Ok(()),
        Err(fault) => return Err(fault.into()),
    };
    let manifest = Manifest::parse(&text).map_err(|source| FolderError::Manifest { path, source })?;
    match manifest.format() == format {
        true => Ok(()),
        false => Err(other_format(dir)),
    }
}

fn segments(dir: &Path, format: Format) -> Result<Vec<PathBuf>, FolderError> {
    let mut starts = Vec::new();
    for entry in fs::read_dir(dir).map_err(|error| failed(dir, error))? {
        let name = entry.map_err(|error| failed(dir, error))?.file_name();
        let name = name.to_string_lossy();
        if let Some(start) = segment_start(&name, format) {
            starts.push((start, dir.join(&*name)));
        } else if Format::ALL
            .iter()
            .any(|other| segment_start(&name, *other).is_some())
        {
            return Err(other_format(dir));
        }
    }
    starts.sort_unstable();
    Ok(starts.into_iter().map(|(_, path)| path).collect())
}

fn other_format(dir: &Path) -> FolderError {
    FolderError::Other {
        path: dir.to_owned(),
        what: "it is written in another format",
    }
}
