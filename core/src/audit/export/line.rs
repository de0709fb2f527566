//! Reads a line of an export back into a row, strictly: the members of the chain are taken from where they stand, the
//! line is written anew from them, and what differs by a byte is no line of that row.

use std::str;

use data_encoding::{BASE64, Encoding, HEXLOWER};

use super::Format;
use crate::audit::StoredRow;

/// Why a line is no row of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this line is no row of an export: something changed or cut it")]
pub struct LineFault;

/// One line, read into memory that is used again for the next.
#[derive(Debug, Default)]
pub struct Line {
    seq: i64,
    algorithm: i64,
    key_id: String,
    prev: Vec<u8>,
    hash: Vec<u8>,
    mac: Vec<u8>,
    bytes: Vec<u8>,
    agrees: bool,
    again: Vec<u8>,
}

impl Line {
    /// Reads `text`, with its end, as a row of `tenant`.
    ///
    /// # Errors
    /// When the members of the chain cannot be found or read. Other members that differ from what the bytes say are
    /// told by [`Line::row`].
    pub fn read(&mut self, format: Format, tenant: &str, text: &[u8]) -> Result<(), LineFault> {
        let pieces = match format {
            Format::Ndjson => Pieces::of_ndjson(text),
            Format::Csv => Pieces::of_csv(text),
        };
        self.take(&pieces.ok_or(LineFault)?).ok_or(LineFault)?;
        let mut again = std::mem::take(&mut self.again);
        again.clear();
        format.write(&mut again, tenant, &self.row());
        self.agrees = again == text;
        self.again = again;
        Ok(())
    }

    /// The row.
    #[must_use]
    pub fn row(&self) -> StoredRow<'_> {
        StoredRow {
            seq: self.seq,
            prev: &self.prev,
            bytes: &self.bytes,
            hash: &self.hash,
            mac: &self.mac,
            algorithm: self.algorithm,
            key_id: &self.key_id,
            columns_agree: self.agrees,
        }
    }

    fn take(&mut self, pieces: &Pieces<'_>) -> Option<()> {
        self.seq = number(pieces.seq)?;
        self.algorithm = number(pieces.algorithm)?;
        self.key_id.clear();
        self.key_id.push_str(str::from_utf8(pieces.key_id).ok()?);
        decode(&HEXLOWER, pieces.prev, &mut self.prev)?;
        decode(&HEXLOWER, pieces.hash, &mut self.hash)?;
        decode(&HEXLOWER, pieces.mac, &mut self.mac)?;
        decode(&BASE64, pieces.bytes, &mut self.bytes)
    }
}

/// Where a line says that it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link<'a> {
    /// Its place.
    pub seq: i64,
    /// Hash of the row before.
    pub prev: [u8; 32],
    /// Its hash.
    pub hash: [u8; 32],
    /// Whose row it is.
    pub tenant: &'a str,
}

impl<'a> Link<'a> {
    /// What `text`, a line with its end, says of its place in the chain. Nothing else of it is looked at.
    ///
    /// # Errors
    /// When these members cannot be found or read.
    pub fn of(format: Format, text: &'a [u8]) -> Result<Self, LineFault> {
        let pieces = match format {
            Format::Ndjson => Pieces::of_ndjson(text),
            Format::Csv => Pieces::of_csv(text),
        };
        let hash = |text: &[u8]| HEXLOWER.decode(text).ok()?.try_into().ok();
        let read = |pieces: Pieces<'a>| {
            Some(Self {
                seq: number(pieces.seq)?,
                prev: hash(pieces.prev)?,
                hash: hash(pieces.hash)?,
                tenant: str::from_utf8(pieces.tenant).ok()?,
            })
        };
        pieces.and_then(read).ok_or(LineFault)
    }
}

/// The members of the chain as they stand in a line. Whether the rest is as it should be shows when it is written anew,
/// so nothing here needs to be precise about texts that no genuine line has.
struct Pieces<'a> {
    seq: &'a [u8],
    tenant: &'a [u8],
    algorithm: &'a [u8],
    key_id: &'a [u8],
    prev: &'a [u8],
    hash: &'a [u8],
    mac: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Pieces<'a> {
    // {"seq":1,…,"tenantId":"T","algorithm":1,"keyId":"K","prev":"P","hash":"H","mac":"M","bytes":"B"}
    fn of_ndjson(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_suffix(b"\"}\n")?;
        let (rest, bytes) = member(rest, b"\",\"bytes\":")?;
        let (rest, mac) = member(rest, b"\",\"mac\":")?;
        let (rest, hash) = member(rest, b"\",\"hash\":")?;
        let (rest, prev) = member(rest, b"\",\"prev\":")?;
        let (rest, key_id) = member(rest, b",\"keyId\":")?;
        let (rest, algorithm) = cut_last(rest, b':')?;
        let (_, tenant) = cut_last(rest.strip_suffix(b"\",\"algorithm\"")?, b'"')?;
        let (seq, _) = cut_first(text.strip_prefix(b"{\"seq\":")?, b',')?;
        Some(Self {
            seq,
            tenant,
            algorithm,
            key_id,
            prev,
            hash,
            mac,
            bytes,
        })
    }

    fn of_csv(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_suffix(b"\r\n")?;
        let (rest, bytes) = cut_last(rest, b',')?;
        let (rest, mac) = cut_last(rest, b',')?;
        let (rest, hash) = cut_last(rest, b',')?;
        let (rest, prev) = cut_last(rest, b',')?;
        let (rest, key_id) = cut_last(rest, b',')?;
        let (rest, algorithm) = cut_last(rest, b',')?;
        let (_, tenant) = cut_last(rest, b',')?;
        let (seq, _) = cut_first(text, b',')?;
        let bare = |cell: &'a [u8]| cell.strip_prefix(b"'").unwrap_or(cell);
        Some(Self {
            seq: bare(seq),
            tenant,
            algorithm: bare(algorithm),
            key_id: bare(key_id),
            prev,
            hash,
            mac,
            bytes,
        })
    }
}

/// Takes the text after the last quote off, and `name` before that quote.
fn member<'a>(text: &'a [u8], name: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (rest, value) = cut_last(text, b'"')?;
    Some((rest.strip_suffix(name)?, value))
}

fn cut_last(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = text.iter().rposition(|byte| *byte == at)?;
    Some((&text[..place], &text[place + 1..]))
}

fn cut_first(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = text.iter().position(|byte| *byte == at)?;
    Some((&text[..place], &text[place + 1..]))
}

fn number(text: &[u8]) -> Option<i64> {
    str::from_utf8(text).ok()?.parse().ok()
}

fn decode(encoding: &Encoding, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.resize(encoding.decode_len(text.len()).ok()?, 0);
    let length = encoding.decode_mut(text, out).ok()?;
    out.truncate(length);
    Some(())
}

#[cfg(test)]
mod tests;
