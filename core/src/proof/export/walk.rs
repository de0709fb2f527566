//! One pass over the files of an export.

use std::{
    io::{BufRead, BufReader, Read},
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use data_encoding::HEXLOWER;
use toolgate_contract::ids::TenantId;

use super::{Asked, FileFault, differs_from_sums};
use crate::{
    anchor::{Checkpoint, PublicKeys},
    audit::{
        Head,
        export::Line,
        verify::{ChainVerifier, Testimonies, Testimony, Verdict, Verification},
    },
    proof::{
        files,
        lines::{self, Digested, Found},
        manifest::{CHECKPOINTS, Listed, Manifest},
        testimony::of_line,
    },
};

/// The longest line of a checkpoint.
const LONGEST: u64 = 4096;
/// No checkpoint was heard yet.
const NEVER: i64 = i64::MIN;

/// A pass under way.
pub(super) struct Walk<'a> {
    asked: &'a Asked<'a>,
    manifest: &'a Manifest,
    tenant: &'a TenantId,
    verifier: ChainVerifier,
    line: Line,
    rows: i64,
    at_header: bool,
    /// What only the manifest shows, the first of it.
    differs: Option<(i64, String)>,
    /// Time of the last checkpoint that was heard.
    signed_us: Arc<AtomicI64>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        asked: &'a Asked<'a>,
        manifest: &'a Manifest,
        tenant: &'a TenantId,
        keys: PublicKeys,
    ) -> Self {
        let start = Head {
            seq: manifest.first_seq - 1,
            hash: Manifest::hash(&manifest.first_prev).unwrap_or_default(),
        };
        let origin = keys.origin().to_owned();
        let signed_us = Arc::new(AtomicI64::new(NEVER));
        let testimonies = checkpoints(
            asked.dir.join(CHECKPOINTS),
            tenant.clone(),
            keys,
            Arc::clone(&signed_us),
        );
        let verifier = ChainVerifier::of_export(tenant.clone(), asked.keys.clone());
        let mut differs = (manifest.origin != origin).then(|| {
            let text = format!(
                "the manifest names the record {}, and the keys are those of {origin}",
                manifest.origin
            );
            (0, text)
        });
        let verifier = match manifest.first_seq {
            // The beginning of a chain is known, whatever the manifest says.
            1 if start != Head::genesis(tenant) => {
                differs.get_or_insert((
                    1,
                    "the manifest names another hash before the first row than the tenant's".into(),
                ));
                verifier
            }
            1 => verifier,
            _ => verifier.starting_after(start),
        };
        Self {
            asked,
            manifest,
            tenant,
            verifier: verifier.hearing(testimonies),
            line: Line::default(),
            rows: 0,
            at_header: false,
            differs,
            signed_us,
        }
    }

    /// The verdict, and the time of the last checkpoint where there is one and nothing is wrong.
    pub(super) fn run(mut self) -> Result<(Verification, Option<i64>), FileFault> {
        let (manifest, asked) = (self.manifest, self.asked);
        if let Some(text) = differs_from_sums(asked.dir, manifest)? {
            self.differ(0, text);
        }
        let segments: Vec<&Listed> = manifest.segments().collect();
        let paths: Vec<PathBuf> = segments.iter().map(|file| asked.dir.join(&file.name)).collect();
        let mut before = None;
        let broken = lines::each(&paths, |number, found| {
            if before.replace(number) != Some(number) {
                self.at_header = !manifest.format().header().is_empty();
            }
            self.found(segments[number], found)
        });
        if let Some(Err(fault)) = broken {
            return Err(fault);
        }
        for file in manifest.files.iter().filter(|file| !segments.contains(file)) {
            self.small(file)?;
        }
        let signed_us = Arc::clone(&self.signed_us);
        let found = self.finish();
        // All that were heard were met, or the verdict is another.
        let signed_us = signed_us.load(Ordering::Relaxed);
        let signed_us = (found.is_intact() && signed_us != NEVER).then_some(signed_us);
        Ok((found, signed_us))
    }

    // Breaks off without a fault once nothing more can change the verdict.
    fn found(&mut self, file: &Listed, found: Found<'_>) -> ControlFlow<Result<(), FileFault>> {
        match found {
            Found::Lines(block) => {
                for line in block.split_inclusive(|byte| *byte == b'\n') {
                    if self.line(file, line).is_break() {
                        return ControlFlow::Break(Ok(()));
                    }
                }
                (self.asked.progress)(self.rows);
            }
            Found::TooLong => {
                self.verifier
                    .unreadable(&format!("{} holds a line that is longer than any row", file.name));
                return ControlFlow::Break(Ok(()));
            }
            Found::End(digested) => self.digested(file, digested),
            // Its rows are missing, and the chain says so.
            Found::Fault(fault) if fault.is_missing() => self.differ(0, format!("{} is missing", file.name)),
            Found::Fault(fault) => return ControlFlow::Break(Err(fault)),
        }
        ControlFlow::Continue(())
    }

    fn line(&mut self, file: &Listed, text: &[u8]) -> ControlFlow<()> {
        let format = self.manifest.format();
        if std::mem::take(&mut self.at_header) {
            return match text == format.header().as_bytes() {
                true => ControlFlow::Continue(()),
                false => self.unreadable(file, "the line of names"),
            };
        }
        if self.line.read(format, self.tenant.as_str(), text).is_err() {
            return self.unreadable(file, "a line");
        }
        self.rows += 1;
        self.verifier.push(&self.line.row());
        ControlFlow::Continue(())
    }

    fn unreadable(&mut self, file: &Listed, what: &str) -> ControlFlow<()> {
        let text = format!("{what} of {} is not as an export writes it", file.name);
        self.verifier.unreadable(&text);
        ControlFlow::Break(())
    }

    fn digested(&mut self, file: &Listed, digested: Digested) {
        let sha256 = HEXLOWER.encode(digested.context.finish().as_ref());
        if digested.bytes != file.bytes || sha256 != file.sha256 {
            self.differ(
                0,
                format!("{} is not the file that the manifest lists", file.name),
            );
        }
    }

    // The lines of these are read elsewhere.
    fn small(&mut self, file: &Listed) -> Result<(), FileFault> {
        let mut fault = None;
        let path = self.asked.dir.join(&file.name);
        lines::each(&[path], |_, found| {
            match found {
                Found::Lines(_) => return ControlFlow::Continue(()),
                Found::TooLong => self.differ(0, format!("{} holds a line that is too long", file.name)),
                Found::End(digested) => self.digested(file, digested),
                Found::Fault(found) if found.is_missing() => {
                    self.differ(0, format!("{} is missing", file.name))
                }
                Found::Fault(found) => fault = Some(found),
            }
            ControlFlow::Break(())
        });
        fault.map_or(Ok(()), Err)
    }

    fn differ(&mut self, seq: i64, text: String) {
        self.differs.get_or_insert((seq, text));
    }

    fn finish(self) -> Verification {
        let manifest = self.manifest;
        let end = Head {
            seq: manifest.last_seq,
            hash: Manifest::hash(&manifest.last_hash).unwrap_or_default(),
        };
        let mut found = self.verifier.finish(Some(end));
        if !found.is_intact() {
            return found;
        }
        let uncovered = found.covered < manifest.last_seq || found.checkpoints == 0;
        let (verdict, seq, message) = if let Some((seq, text)) = self.differs {
            (Verdict::Edited, seq, text)
        } else if found.rows != manifest.count {
            let text = format!(
                "the manifest counts {} rows, and there are {}",
                manifest.count, found.rows
            );
            (Verdict::Edited, 0, text)
        } else if uncovered {
            let first = found.covered.max(manifest.first_seq - 1) + 1;
            let text = format!(
                "no checkpoint covers the rows from {first} to {}",
                manifest.last_seq
            );
            (Verdict::BadSignature, first, text)
        } else {
            return found;
        };
        (found.verdict, found.seq, found.message) = (verdict, seq, message);
        found
    }
}

/// What the file of checkpoints says, line by line.
fn checkpoints(path: PathBuf, tenant: TenantId, keys: PublicKeys, signed_us: Arc<AtomicI64>) -> Testimonies {
    let unsound = |why: String| Testimony::Unsound { seq: 0, why };
    let file = match files::open(&path) {
        Ok(file) => file,
        Err(fault) if fault.is_missing() => return Box::new(std::iter::empty()),
        Err(fault) => return Box::new(std::iter::once(unsound(fault.to_string()))),
    };
    let mut reader = BufReader::new(file);
    let keys = Arc::new(keys);
    Box::new(std::iter::from_fn(move || {
        let mut line = Vec::new();
        match Read::by_ref(&mut reader)
            .take(LONGEST)
            .read_until(b'\n', &mut line)
        {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(unsound(FileFault::io(&path, error).to_string())),
        }
        let text = line
            .strip_suffix(b"\n")
            .and_then(|line| std::str::from_utf8(line).ok());
        Some(match text {
            Some(text) => {
                let said = of_line(text, &tenant, &keys);
                if let (Testimony::Sound(_), Ok(checkpoint)) = (&said, Checkpoint::parse(text)) {
                    signed_us.store(checkpoint.time_us, Ordering::Relaxed);
                }
                said
            }
            None => unsound("a line of the checkpoints is cut short".into()),
        })
    }))
}
