//! A whole export as one tar archive, made as it is read: what `Folder` writes file by file, without a disk.
//!
//! Rows come first, in files of a size that is held in memory; checkpoints are read twice, once for their length and
//! digest, which stand before them; the manifest comes last. Unpacked, it is a folder that `verify_export` takes.

mod checkpoints;
mod tar;

use std::{collections::VecDeque, ops::Range, path::PathBuf};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use toolgate_contract::ids::TenantId;

use self::checkpoints::{Checkpoints, Measured};
use super::{
    JoinPoint,
    manifest::{CHECKPOINTS, KEYS, Listed, MANIFEST, Manifest, SUMS, Told, segment_name},
};
use crate::{
    anchor,
    audit::export::{CHUNK, Export, Format, Segment},
    rfc3339,
    store::StoreError,
};

/// A file of rows ends with the line that reaches this many bytes.
const SEGMENT: usize = 1024 * 1024;

/// An archive under way.
#[derive(Debug)]
pub struct Archive {
    export: Export,
    /// Where checkpoints and their keys lie.
    folder: PathBuf,
    tenant: TenantId,
    /// The place before the first row, and the last place.
    after: i64,
    through: i64,
    format: Format,
    now_us: i64,
    segment_bytes: usize,
    stage: Stage,
    rows: Option<Rows>,
    files: Vec<Listed>,
    /// What is made and not read yet.
    out: VecDeque<Bytes>,
}

/// What comes next.
#[derive(Debug)]
enum Stage {
    Rows,
    Measure,
    Checkpoints(Box<Checkpoints>),
    Rest(Measured),
    End,
}

/// The rows so far.
#[derive(Debug)]
struct Rows {
    first: JoinPoint,
    last: JoinPoint,
    count: i64,
    newest_file: i64,
}

impl Archive {
    pub(super) fn new(
        export: Export,
        folder: PathBuf,
        tenant: &TenantId,
        places: Range<i64>,
        format: Format,
        now_us: i64,
    ) -> Self {
        Self {
            export,
            folder,
            tenant: tenant.clone(),
            after: places.start,
            through: places.end,
            format,
            now_us,
            segment_bytes: SEGMENT,
            stage: Stage::Rows,
            rows: None,
            files: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// When store or checkpoints cannot be read: what was given until then is no whole archive.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, StoreError> {
        loop {
            if let Some(bytes) = self.out.pop_front() {
                return Ok(Some(bytes));
            }
            self.stage = match std::mem::replace(&mut self.stage, Stage::End) {
                Stage::Rows => match self.export.next_segment(self.segment_bytes, self.through).await? {
                    Some(segment) => {
                        self.take(segment);
                        Stage::Rows
                    }
                    None => Stage::Measure,
                },
                Stage::Measure => self.begin_checkpoints().await?,
                Stage::Checkpoints(checkpoints) => self.go_on(checkpoints).await?,
                Stage::Rest(measured) => {
                    self.finish(measured).await?;
                    Stage::End
                }
                Stage::End => return Ok(None),
            };
        }
    }

    fn take(&mut self, segment: Segment) {
        let point = |seq, hash: Vec<u8>| JoinPoint {
            seq,
            hash: hash.try_into().unwrap_or_default(),
        };
        let rows = self.rows.get_or_insert_with(|| Rows {
            first: point(segment.first_seq, segment.first_prev),
            last: point(segment.last_seq, Vec::new()),
            count: 0,
            newest_file: 0,
        });
        rows.last = point(segment.last_seq, segment.last_hash);
        rows.count += segment.count;
        // Places of a record that was tampered with may go down; names never do.
        rows.newest_file = segment.first_seq.max(rows.newest_file.saturating_add(1));
        let name = segment_name(rows.newest_file, self.format);
        self.add(&name, segment.text, true);
    }

    async fn begin_checkpoints(&mut self) -> Result<Stage, StoreError> {
        let opened = Checkpoints::measure(&self.folder, &self.tenant, self.after..self.through).await?;
        let (checkpoints, measured) = opened;
        self.files.push(Listed {
            name: CHECKPOINTS.into(),
            bytes: measured.bytes,
            sha256: measured.sha256.clone(),
        });
        self.out.push_back(self.header(CHECKPOINTS, measured.bytes));
        Ok(Stage::Checkpoints(Box::new(checkpoints)))
    }

    async fn go_on(&mut self, mut checkpoints: Box<Checkpoints>) -> Result<Stage, StoreError> {
        if let Some(lines) = checkpoints.next_chunk().await? {
            self.out.push_back(lines);
            return Ok(Stage::Checkpoints(checkpoints));
        }
        let measured = checkpoints.end()?;
        self.out.push_back(tar::padding(measured.bytes));
        Ok(Stage::Rest(measured))
    }

    async fn finish(&mut self, measured: Measured) -> Result<(), StoreError> {
        let Some(rows) = self.rows.take() else {
            return Err(StoreError::Engine(
                "rows that were signed for are not there".into(),
            ));
        };
        let folder = self.folder.clone();
        let keys = checkpoints::aside(move || {
            anchor::public_keys(&folder).map_err(|fault| StoreError::Engine(format!("checkpoints: {fault}")))
        })
        .await?;
        let lines: String = keys.lines().map(|line| line + "\n").collect();
        self.add(KEYS, lines.into_bytes(), true);
        let manifest = Manifest::from(Told {
            format: self.format,
            origin: measured.origin.unwrap_or_else(|| keys.origin().to_owned()),
            tenant_id: self.tenant.to_string(),
            first: rows.first,
            last: rows.last,
            count: rows.count,
            exported_at: rfc3339::format(self.now_us),
            exported_by: format!("toolgate {}", env!("CARGO_PKG_VERSION")),
            files: std::mem::take(&mut self.files),
        });
        self.add(MANIFEST, manifest.to_text().into_bytes(), false);
        self.add(SUMS, manifest.sums().into_bytes(), false);
        self.out.push_back(tar::end());
        Ok(())
    }

    fn add(&mut self, name: &str, content: Vec<u8>, listed: bool) {
        let bytes = content.len() as u64;
        if listed {
            self.files.push(Listed {
                name: name.to_owned(),
                bytes,
                sha256: HEXLOWER.encode(digest(&SHA256, &content).as_ref()),
            });
        }
        self.out.push_back(self.header(name, bytes));
        let mut content = Bytes::from(content);
        while !content.is_empty() {
            let piece = content.split_to(content.len().min(CHUNK));
            self.out.push_back(piece);
        }
        let padding = tar::padding(bytes);
        if !padding.is_empty() {
            self.out.push_back(padding);
        }
    }

    fn header(&self, name: &str, bytes: u64) -> Bytes {
        let path = format!("toolgate-audit-{}/{name}", self.tenant);
        tar::header(&path, bytes, self.now_us / 1_000_000)
    }
}

#[cfg(test)]
pub(crate) mod tests;
