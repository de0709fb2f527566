//! A row as a line of RFC 4180, for spreadsheets, and harmless in them.
//!
//! Callers choose some of the texts. A spreadsheet takes a cell that begins with `= + - @`, tab or carriage return for
//! a formula and runs it, so such a cell gets an apostrophe before it, which shows as text in every spreadsheet. The
//! cell `bytes` is what counts for a verifier, and it is never touched.

use data_encoding::{BASE64, Encoding, HEXLOWER};

use super::encoded;
use crate::{
    audit::{Event, StoredRow, decode, normal},
    rfc3339,
};

/// The line of names, with its end.
pub(super) const HEADER: &str = "seq,event,eventId,time,principal,role,facade,adapterType,targetId,capability,\
    paramsHash,result,reason,durationMs,correlationId,detail,tenantId,algorithm,keyId,prev,hash,mac,bytes\r\n";

/// Cells that tell the event.
const TOLD: usize = 15;

/// Adds the line of `row`, without its end.
pub(super) fn write(out: &mut Vec<u8>, tenant: &str, row: &StoredRow<'_>) {
    cell(out, &row.seq.to_string());
    match decode(row.bytes) {
        Ok(event) => told(out, &event),
        // A row that cannot be read is exported all the same: with what the chain says of it.
        Err(_) => out.extend_from_slice(&[b','; TOLD]),
    }
    next(out, tenant);
    next(out, &row.algorithm.to_string());
    next(out, &normal::text(row.key_id, normal::KEY_ID));
    for bytes in [row.prev, row.hash, row.mac] {
        plain(out, &HEXLOWER, bytes);
    }
    plain(out, &BASE64, row.bytes);
}

fn told(out: &mut Vec<u8>, event: &Event) {
    next(out, event.kind.as_str());
    next(out, &event.id.to_string());
    next(out, &rfc3339::format(event.time_us));
    next(out, &event.principal);
    next(out, &event.role);
    next(out, &event.facade);
    next(out, &event.adapter_type);
    next(out, &event.target_id.map(|id| id.to_string()).unwrap_or_default());
    next(out, &event.capability);
    let hash = event.params_hash.map(|hash| HEXLOWER.encode(&hash));
    next(out, &hash.unwrap_or_default());
    next(out, event.result.as_str());
    next(out, &event.reason);
    next(out, &event.duration_ms.to_string());
    let call = event.correlation_id.map(|id| id.to_string());
    next(out, &call.unwrap_or_default());
    next(out, &event.detail);
}

fn next(out: &mut Vec<u8>, text: &str) {
    out.push(b',');
    cell(out, text);
}

// Hexadecimal and base64 need no quotes; no sealed row's bytes make a formula.
fn plain(out: &mut Vec<u8>, encoding: &Encoding, bytes: &[u8]) {
    out.push(b',');
    encoded(out, encoding, bytes);
}

fn cell(out: &mut Vec<u8>, text: &str) {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let quoted = text.contains(['"', ',', '\r', '\n']);
    if quoted {
        out.push(b'"');
    }
    if formula {
        out.push(b'\'');
    }
    match quoted {
        true => out.extend_from_slice(text.replace('"', "\"\"").as_bytes()),
        false => out.extend_from_slice(text.as_bytes()),
    }
    if quoted {
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::audit::{encode, row_bytes::tests::event};

    /// The cells of one line, as RFC 4180 reads it; `None` where it is none.
    fn cells(line: &str) -> Option<Vec<String>> {
        let mut cells = Vec::new();
        let mut rest = line;
        loop {
            let (cell, after) = match rest.strip_prefix('"') {
                None => {
                    let end = rest.find([',', '\r', '\n', '"']).unwrap_or(rest.len());
                    (rest[..end].to_owned(), &rest[end..])
                }
                Some(quoted) => {
                    let (mut cell, mut quoted) = (String::new(), quoted);
                    loop {
                        let (text, after) = quoted.split_once('"')?;
                        cell.push_str(text);
                        match after.strip_prefix('"') {
                            Some(after) => {
                                cell.push('"');
                                quoted = after;
                            }
                            None => break (cell, after),
                        }
                    }
                }
            };
            cells.push(cell);
            match (after.strip_prefix(','), after.is_empty()) {
                (Some(after), _) => rest = after,
                (None, true) => return Some(cells),
                (None, false) => return None,
            }
        }
    }

    /// Texts that want to be formulas, or to end their cell.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof!["[=+@\t\r\n\",;'-]{1,4}", "[a-z0-9 ]{0,6}", "\\PC{0,4}"];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_one_cell_that_no_spreadsheet_runs(text in hostile()) {
            let mut out = Vec::new();
            cell(&mut out, &text);
            let read = cells(std::str::from_utf8(&out).unwrap()).expect("a line of cells");
            prop_assert_eq!(read.len(), 1);
            prop_assert!(!read[0].starts_with(['=', '+', '-', '@', '\t', '\r']), "{:?}", read);
            let shown = read[0].strip_prefix('\'').filter(|shown| *shown == text);
            prop_assert_eq!(shown.unwrap_or(&read[0]), &text);
        }

        #[test]
        fn any_row_is_as_many_cells_as_there_are_names(
            principal in hostile(), capability in hostile(), reason in hostile(), key_id in hostile()
        ) {
            let bytes = encode(&Event { principal, reason, ..event(&capability) });
            let row = StoredRow {
                seq: 7, prev: &[1], bytes: &bytes, hash: &[2], mac: &[3], algorithm: 1, key_id: &key_id,
                columns_agree: true,
            };
            let mut out = Vec::new();
            write(&mut out, "01TENANT", &row);
            let read = cells(std::str::from_utf8(&out).unwrap()).expect("a line of cells");
            prop_assert_eq!(read.len(), HEADER.split(',').count());
            prop_assert!(read.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])), "{:?}", read);
            prop_assert_eq!(BASE64.decode(read[22].as_bytes()).unwrap(), bytes);
        }
    }

    #[test]
    fn a_cell_is_no_formula_and_ends_where_it_should() {
        let check = |text: &str, expected: &str| {
            let mut out = Vec::new();
            cell(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check("", "");
        check("devon", "devon");
        check("a=b", "a=b");
        check("=1+1", "'=1+1");
        check("+1", "'+1");
        check("-5", "'-5");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\tx", "'\tx");
        check("\rx", "\"'\rx\"");
        check(
            "=HYPERLINK(\"http://x\",\"y\")",
            "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"",
        );
        check("a,b", "\"a,b\"");
        check("say \"hi\"", "\"say \"\"hi\"\"\"");
        check("two\nlines", "\"two\nlines\"");
        check("'=1", "'=1");
    }
}
