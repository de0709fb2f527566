//! Reads the lines of many files, one file after the other, on a thread of its own: reading and hashing files keeps one
//! processor as busy as checking rows keeps the other. A few blocks are all that is held.

use std::{
    io::Read,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
};

use ring::digest::{Context, SHA256};

use super::files::{self, FileFault};

/// What is read at once.
const BLOCK: usize = 256 * 1024;
/// The longest line; the gateway's have less than half of it.
const LONGEST_LINE: usize = 256 * 1024;
/// Blocks between reader and taker.
const AHEAD: usize = 3;

/// What is found in the files, in order.
#[derive(Debug)]
pub(super) enum Found<'a> {
    /// Whole lines, each with its end; the last of a file may lack it.
    Lines(&'a [u8]),
    /// A line that is longer than any. Nothing more is read of this file.
    TooLong,
    /// The end of a file that was read to its end.
    End(Digested),
    /// The file cannot be read.
    Fault(FileFault),
}

/// What a file was.
pub(super) struct Digested {
    pub(super) bytes: u64,
    pub(super) context: Context,
}

impl std::fmt::Debug for Digested {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digested({} bytes)", self.bytes)
    }
}

enum Sent {
    Lines(Vec<u8>),
    TooLong,
    End(Digested),
    Fault(FileFault),
}

/// Reads `paths` and gives what is found to `take`, with the number of the file, until that breaks off.
pub(super) fn each<B>(
    paths: &[PathBuf],
    mut take: impl FnMut(usize, Found<'_>) -> ControlFlow<B>,
) -> Option<B> {
    std::thread::scope(|scope| {
        let (send, sent) = sync_channel(AHEAD);
        let (give_back, spares) = sync_channel(AHEAD + 1);
        let reader = Reader { send, spares };
        scope.spawn(move || {
            for (number, path) in paths.iter().enumerate() {
                // Nobody wants more when the other side is gone.
                if reader.file(number, path).is_none() {
                    break;
                }
            }
        });
        for (number, one) in sent {
            let taken = match one {
                Sent::Lines(block) => {
                    let taken = take(number, Found::Lines(&block));
                    // Where there is no room the block is let go.
                    let _ = give_back.try_send(block);
                    taken
                }
                Sent::TooLong => take(number, Found::TooLong),
                Sent::End(digested) => take(number, Found::End(digested)),
                Sent::Fault(fault) => take(number, Found::Fault(fault)),
            };
            if let ControlFlow::Break(value) = taken {
                return Some(value);
            }
        }
        None
    })
}

struct Reader {
    send: SyncSender<(usize, Sent)>,
    spares: Receiver<Vec<u8>>,
}

impl Reader {
    fn file(&self, number: usize, path: &Path) -> Option<()> {
        let last = self
            .lines(number, path)
            .unwrap_or_else(|fault| Some(Sent::Fault(fault)))?;
        self.send.send((number, last)).ok()
    }

    // What to send last; nothing when nobody listens any more.
    fn lines(&self, number: usize, path: &Path) -> Result<Option<Sent>, FileFault> {
        let mut file = files::open(path)?;
        let mut digested = Digested {
            bytes: 0,
            context: Context::new(&SHA256),
        };
        let mut block = self.spares.try_recv().unwrap_or_default();
        let mut kept = 0;
        loop {
            block.resize(kept + BLOCK, 0);
            let count = fill(&mut file, &mut block[kept..]).map_err(|error| FileFault::io(path, error))?;
            digested.bytes += count as u64;
            digested.context.update(&block[kept..kept + count]);
            block.truncate(kept + count);
            let at_end = count < BLOCK;
            let whole = match block.iter().rposition(|byte| *byte == b'\n') {
                _ if at_end => block.len(),
                Some(place) => place + 1,
                None => 0,
            };
            if block.len() - whole > LONGEST_LINE {
                return Ok(Some(Sent::TooLong));
            }
            let mut next = self.spares.try_recv().unwrap_or_default();
            next.clear();
            next.extend_from_slice(&block[whole..]);
            kept = next.len();
            block.truncate(whole);
            let full = std::mem::replace(&mut block, next);
            if !full.is_empty() && self.send.send((number, Sent::Lines(full))).is_err() {
                return Ok(None);
            }
            if at_end {
                return Ok(Some(Sent::End(digested)));
            }
        }
    }
}

// Less than asked for only at the end of the file.
fn fill(file: &mut std::fs::File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(contents: &[&[u8]]) -> Vec<(usize, String)> {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..contents.len())
            .map(|at| dir.path().join(at.to_string()))
            .collect();
        for (path, content) in paths.iter().zip(contents) {
            std::fs::write(path, content).unwrap();
        }
        let mut told = Vec::new();
        let ended = each(&paths, |number, one| {
            told.push((
                number,
                match one {
                    Found::Lines(lines) => String::from_utf8_lossy(lines).into_owned(),
                    Found::TooLong => "too long".into(),
                    Found::End(end) => format!("{} bytes", end.bytes),
                    Found::Fault(fault) => fault.to_string(),
                },
            ));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(ended, None);
        told
    }

    #[test]
    fn files_are_read_in_order_and_their_lines_stay_whole() {
        let long = format!("{}\n{}\n", "a".repeat(BLOCK - 10), "b".repeat(100));
        let told = found(&[b"a\nb\n", b"", b"no end", long.as_bytes()]);
        let (lines, rest): (Vec<_>, Vec<_>) = told.iter().partition(|(_, text)| !text.ends_with("bytes"));
        let of = |number| -> String {
            lines
                .iter()
                .filter(|(file, _)| *file == number)
                .map(|(_, text)| &**text)
                .collect()
        };
        assert_eq!(
            (of(0).as_str(), of(1).as_str(), of(2).as_str()),
            ("a\nb\n", "", "no end")
        );
        assert_eq!(of(3), long);
        assert!(
            lines
                .iter()
                .filter(|(file, _)| *file == 3)
                .all(|(_, text)| text.ends_with('\n'))
        );
        assert_eq!(rest.len(), 4);
    }

    #[test]
    fn a_line_without_end_is_given_up_soon() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        std::fs::File::create(&path)
            .unwrap()
            .set_len(10_000_000_000)
            .unwrap();
        let found = each(&[path], |_, one| {
            ControlFlow::Break(matches!(one, Found::TooLong))
        });
        assert_eq!(found, Some(true));
    }

    #[test]
    fn links_folders_and_files_that_are_not_there_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::fs::write(dir.path().join("file"), "a\n").unwrap();
        std::os::unix::fs::symlink(dir.path().join("file"), &link).unwrap();
        for path in [link, dir.path().to_owned(), dir.path().join("none")] {
            let found = each(&[path], |_, one| match one {
                Found::Fault(fault) => ControlFlow::Break(fault.to_string()),
                other => panic!("{other:?}"),
            });
            assert!(found.is_some());
        }
    }
}
