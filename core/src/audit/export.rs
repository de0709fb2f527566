//! Exports the record in the order of the chain: each line one event and all that is needed to check it.
//!
//! Members are named as in the events that REST lists, with the chain's own beside them. `bytes` is what was hashed and
//! sealed; the other members repeat it for the reader. A row has exactly one line, so a verifier writes the line anew
//! and compares. Memory does not grow with the record: one batch of rows is held, and chunks are cut at [`CHUNK`].

mod csv;
mod line;
mod ndjson;

use bytes::Bytes;
use data_encoding::Encoding;
use toolgate_contract::ids::TenantId;

pub use self::line::{Line, LineFault, Link};
use super::{StoredRow, rows::Batch};
use crate::store::{Store, StoreError};

/// A chunk ends with the line that reaches this many bytes.
pub const CHUNK: usize = 64 * 1024;
/// Rows that are written in one go.
const YIELD_AFTER: i64 = 64;

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// One JSON object a line.
    #[default]
    Ndjson,
    /// RFC 4180, with a line of names before the rows.
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] = &[Self::Ndjson, Self::Csv];

    /// The name, which is also how files end.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == text)
    }

    /// What stands before the first row, with its end; empty where there is nothing.
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Self::Ndjson => "",
            Self::Csv => csv::HEADER,
        }
    }

    /// How lines end.
    #[must_use]
    pub fn line_end(self) -> &'static str {
        match self {
            Self::Ndjson => "\n",
            Self::Csv => "\r\n",
        }
    }

    /// Adds the line of `row`, with its end.
    pub fn write(self, out: &mut Vec<u8>, tenant: &str, row: &StoredRow<'_>) {
        match self {
            Self::Ndjson => ndjson::write(out, tenant, row),
            Self::Csv => csv::write(out, tenant, row),
        }
        out.extend_from_slice(self.line_end().as_bytes());
    }
}

/// Some rows in a row, written, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Place of the first row.
    pub first_seq: i64,
    /// Hash of the row before it, as the first row names it.
    pub first_prev: Vec<u8>,
    /// Place of the last row.
    pub last_seq: i64,
    /// Its hash.
    pub last_hash: Vec<u8>,
    /// How many rows.
    pub count: i64,
    /// The rows as a file of them is written: with what stands before the first.
    pub text: Vec<u8>,
}

/// An export under way.
#[derive(Debug)]
pub struct Export {
    store: Store,
    tenant: TenantId,
    format: Format,
    batch: Batch,
    /// Rows of the batch that are written.
    written: usize,
    /// Where the next batch begins; `None` after the last.
    after: Option<i64>,
    header: &'static str,
}

impl Export {
    /// Exports what comes after place `after_seq`; 0 for all.
    #[must_use]
    pub fn new(store: Store, tenant: TenantId, after_seq: i64, format: Format) -> Self {
        Self {
            store,
            tenant,
            format,
            batch: Batch::default(),
            written: 0,
            after: Some(after_seq),
            header: format.header(),
        }
    }

    /// Some whole lines; `None` at the end.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut chunk = Vec::with_capacity(CHUNK + 4 * 1024);
        chunk.extend_from_slice(std::mem::take(&mut self.header).as_bytes());
        while chunk.len() < CHUNK {
            if let Some(row) = self.batch.row(self.written) {
                self.format.write(&mut chunk, self.tenant.as_str(), &row);
                self.written += 1;
            } else if !self.turn_page().await? {
                break;
            }
        }
        Ok((!chunk.is_empty()).then(|| chunk.into()))
    }

    /// Rows up to place `through`, as many as fill a file of `bytes`; `None` at the end. For exports that are not taken by
    /// chunks.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn next_segment(&mut self, bytes: usize, through: i64) -> Result<Option<Segment>, StoreError> {
        let mut segment: Option<Segment> = None;
        loop {
            let Some(row) = self.batch.row(self.written) else {
                if self.turn_page().await? {
                    continue;
                }
                return Ok(segment);
            };
            if row.seq > through {
                return Ok(segment);
            }
            let open = segment.get_or_insert_with(|| Segment::begin(&row, self.format));
            open.add(&row, self.format, self.tenant.as_str());
            self.written += 1;
            if open.text.len() >= bytes {
                return Ok(segment);
            }
            // Writing is work for a processor, and others wait for it.
            if open.count % YIELD_AFTER == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    async fn turn_page(&mut self) -> Result<bool, StoreError> {
        let Some(after) = self.after else { return Ok(false) };
        let spare = std::mem::take(&mut self.batch);
        self.batch = spare.read(&self.store, &self.tenant, after).await?;
        (self.after, self.written) = (self.batch.next, 0);
        Ok(true)
    }
}

impl Segment {
    fn begin(row: &StoredRow<'_>, format: Format) -> Self {
        Self {
            first_seq: row.seq,
            first_prev: row.prev.to_vec(),
            last_seq: row.seq,
            last_hash: Vec::new(),
            count: 0,
            text: format.header().into(),
        }
    }

    fn add(&mut self, row: &StoredRow<'_>, format: Format, tenant: &str) {
        format.write(&mut self.text, tenant, row);
        self.last_seq = row.seq;
        self.last_hash = row.hash.to_vec();
        self.count += 1;
    }
}

/// Adds `bytes` in hexadecimal or base64.
fn encoded(out: &mut Vec<u8>, encoding: &Encoding, bytes: &[u8]) {
    let at = out.len();
    out.resize(at + encoding.encode_len(bytes.len()), 0);
    encoding.encode_mut(bytes, &mut out[at..]);
}

#[cfg(test)]
mod tests;
