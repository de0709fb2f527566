use std::{collections::BTreeMap, fs};

use super::*;
use crate::{
    anchor,
    audit::verify::Verdict,
    proof::{Asked, ExportReport, exported::Exported, verify_export},
};

const NOW_US: i64 = 1_767_225_600_000_000;

/// The files of an archive, read as any reader of tar does.
pub(crate) fn unpacked(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut rest = archive;
    loop {
        let (header, after) = rest.split_at(512);
        if header.iter().all(|byte| *byte == 0) {
            assert_eq!(after, [0; 512], "two empty blocks end an archive");
            return files;
        }
        let text = |from: usize, to: usize| {
            let field = &header[from..to];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
            String::from_utf8(field[..end].to_vec()).unwrap()
        };
        let octal = |from, to| u64::from_str_radix(text(from, to).trim(), 8).unwrap();
        let mut blank = header.to_vec();
        blank[148..156].fill(b' ');
        let sum: u64 = blank.iter().map(|byte| u64::from(*byte)).sum();
        assert_eq!((octal(148, 156), text(257, 263)), (sum, "ustar".into()));
        let bytes = usize::try_from(octal(124, 136)).unwrap();
        let (content, padding) = after[..bytes.next_multiple_of(512)].split_at(bytes);
        assert!(padding.iter().all(|byte| *byte == 0));
        files.insert(text(0, 100), content.to_vec());
        rest = &after[bytes.next_multiple_of(512)..];
    }
}

async fn archived(
    exported: &Exported,
    format: Format,
    after: i64,
    through: i64,
) -> BTreeMap<String, Vec<u8>> {
    let folder = anchor::folder(exported.ledger.dir.path());
    fs::write(folder.join("2026-01-01.ndjson"), exported.evidence()).unwrap();
    let ledger = &exported.ledger;
    let export = Export::new(ledger.store.clone(), ledger.tenant.clone(), after, format);
    let mut archive = Archive::new(export, folder, &ledger.tenant, after..through, format, NOW_US);
    archive.segment_bytes = 2_000;
    let mut bytes = Vec::new();
    while let Some(chunk) = archive.next_chunk().await.unwrap() {
        bytes.extend_from_slice(&chunk);
    }
    unpacked(&bytes)
}

fn verified(exported: &Exported, files: &BTreeMap<String, Vec<u8>>) -> ExportReport {
    let dir = exported.ledger.dir.path().join("unpacked");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir(&dir).unwrap();
    for (path, content) in files {
        let (folder, name) = path.split_once('/').unwrap();
        assert_eq!(folder, format!("toolgate-audit-{}", exported.ledger.tenant));
        fs::write(dir.join(name), content).unwrap();
    }
    let asked = Asked {
        dir: &dir,
        keys: None,
        trust: None,
        progress: &|_| {},
    };
    verify_export(&asked).unwrap()
}

#[tokio::test]
async fn an_archive_unpacked_is_an_intact_export_in_both_formats() {
    for format in [Format::Ndjson, Format::Csv] {
        let exported = Exported::new(format).await;
        let files = archived(&exported, format, 0, 9).await;
        let report = verified(&exported, &files);
        let found = &report.verification;
        assert_eq!(
            (found.verdict, found.rows, found.checkpoints, found.covered),
            (Verdict::Intact, 9, 3, 9),
            "{}",
            found.message
        );
        assert!(
            report.manifest.segments().count() > 1,
            "rows are in files of a bounded size"
        );
        // What is signed is written as the command line writes it.
        let name = |name: &str| format!("toolgate-audit-{}/{name}", exported.ledger.tenant);
        for name_of in ["checkpoints.ndjson", "keys.ndjson"] {
            let other = fs::read(exported.dir.join(name_of)).unwrap();
            assert_eq!(files[&name(name_of)], other, "{name_of}");
        }
    }
}

#[tokio::test]
async fn an_archive_begins_after_a_place_and_ends_with_what_is_signed() {
    let exported = Exported::new(Format::Csv).await;
    let files = archived(&exported, Format::Csv, 2, 6).await;
    let report = verified(&exported, &files);
    let found = &report.verification;
    assert_eq!(
        (found.verdict, found.from, found.rows, found.covered),
        (Verdict::Intact, 3, 4, 6),
        "{}",
        found.message
    );
}

#[tokio::test]
async fn an_archive_whose_rows_are_gone_is_cut_and_not_ended() {
    let exported = Exported::new(Format::Ndjson).await;
    let folder = anchor::folder(exported.ledger.dir.path());
    fs::write(folder.join("2026-01-01.ndjson"), exported.evidence()).unwrap();
    let ledger = &exported.ledger;
    let export = Export::new(ledger.store.clone(), ledger.tenant.clone(), 9, Format::Ndjson);
    let mut archive = Archive::new(export, folder, &ledger.tenant, 9..12, Format::Ndjson, NOW_US);
    let failed = loop {
        match archive.next_chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("ended"),
            Err(error) => break error,
        }
    };
    assert!(failed.to_string().contains("not there"), "{failed}");
}

#[test]
fn files_of_any_length_fill_whole_blocks() {
    for bytes in [0, 1, 511, 512, 513, 1_048_577] {
        assert_eq!((bytes + tar::padding(bytes).len() as u64) % 512, 0, "{bytes}");
    }
    assert!(tar::padding(1_024).is_empty());
}
