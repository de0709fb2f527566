use std::sync::Arc;

use proptest::prelude::*;
use toolgate_contract::ids::TenantId;

use super::*;
use crate::{
    audit::{Event, Head, Sealer, row_bytes::tests::event},
    keys::Keyring,
};

const BOTH: [Format; 2] = [Format::Ndjson, Format::Csv];

fn written(format: Format, event: &Event) -> (TenantId, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let sealer = Sealer::new(Arc::new(Keyring::open(dir.path()).unwrap()));
    let tenant = TenantId::mint();
    let row = sealer.seal(&tenant, &Head::genesis(&tenant), event);
    let mut text = Vec::new();
    let stored = StoredRow {
        seq: row.seq,
        prev: &row.prev,
        bytes: &row.bytes,
        hash: &row.hash,
        mac: &row.mac,
        algorithm: row.algorithm,
        key_id: &row.key_id,
        columns_agree: true,
    };
    format.write(&mut text, tenant.as_str(), &stored);
    (tenant, text)
}

fn agrees(format: Format, tenant: &TenantId, text: &[u8]) -> Option<bool> {
    let mut line = Line::default();
    line.read(format, tenant.as_str(), text).ok()?;
    Some(line.row().columns_agree)
}

#[test]
fn a_line_is_read_back_as_it_was_written() {
    let mut hostile = event("=cmd|'/c calc'!A1");
    hostile.principal = "a\"b,c\n\u{1b}'".into();
    hostile.detail = r#"{"a":"\",\"bytes\":\"AQ==","b":[1,2]}"#.into();
    for format in BOTH {
        for event in [&event("a.b"), &hostile] {
            let (tenant, text) = written(format, event);
            assert_eq!(
                agrees(format, &tenant, &text),
                Some(true),
                "{}",
                text.escape_ascii()
            );
            assert_eq!(
                agrees(format, &TenantId::mint(), &text),
                Some(false),
                "another tenant's"
            );
        }
    }
}

#[test]
fn what_is_no_line_is_refused() {
    for text in [
        "",
        "{}",
        "{\"seq\":1}\n",
        "a,b,c\r\n",
        "\"}\n",
        ",,,,,,,\r\n",
        "\u{0}",
    ] {
        for format in BOTH {
            assert_eq!(agrees(format, &TenantId::mint(), text.as_bytes()), None, "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_changed_byte_of_a_line_goes_unseen(csv: bool, at in any::<prop::sample::Index>(), by in 1u8..) {
        let format = BOTH[usize::from(csv)];
        let (tenant, mut text) = written(format, &event("a.b"));
        let before = text.clone();
        let at = at.index(text.len());
        text[at] = text[at].wrapping_add(by);
        let mut line = Line::default();
        if line.read(format, tenant.as_str(), &text).is_ok() && line.row().columns_agree {
            // Only a member of the chain can change and leave a line; the chain then shows it.
            let mut sound = Line::default();
            sound.read(format, tenant.as_str(), &before).unwrap();
            let (read, sound) = (line.row(), sound.row());
            prop_assert!(
                read.seq != sound.seq || read.algorithm != sound.algorithm || read.key_id != sound.key_id
                    || read.prev != sound.prev || read.hash != sound.hash || read.mac != sound.mac
            );
        }
    }

    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text: Vec<u8>, csv: bool) {
        let format = BOTH[usize::from(csv)];
        let link = Link::of(format, &text);
        let mut line = Line::default();
        if line.read(format, "local", &text).is_ok() {
            let row = line.row();
            let mut again = Vec::new();
            format.write(&mut again, "local", &row);
            prop_assert_eq!(row.columns_agree, again == text);
            prop_assert!(link.is_err() || link.unwrap().seq == row.seq);
        }
    }
}
